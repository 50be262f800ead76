/** An embedder of `@huggingface/transformers`, which the user brings: the model runs in this process. */
import { checkedVectors } from "./answer.ts";
import type { Embedder } from "./model.ts";

/** The extractor of features that `pipeline("feature-extraction", model)` gives, as far as it is needed. */
export type FeatureExtractor = (
  texts: string[],
  options: { pooling: "mean"; normalize: boolean },
) => Promise<{ tolist(): unknown }>;

/** Options of {@link transformersEmbedder}. */
export interface TransformersEmbedderOptions {
  /** The result of `await pipeline("feature-extraction", model)`. */
  readonly pipeline: FeatureExtractor;
  /** The model's name; vectors of two models do not compare. */
  readonly id: string;
}

/**
 * An embedder over a pipeline of `@huggingface/transformers`: the mean of a text's tokens, normalised.
 *
 * @example
 * const model = "Xenova/all-MiniLM-L6-v2";
 * const embedder = transformersEmbedder({ pipeline: await pipeline("feature-extraction", model), id: model });
 * @throws WindrowError its calls throw `model-failed` where the pipeline answers something else than vectors
 */
export function transformersEmbedder({ pipeline, id }: TransformersEmbedderOptions): Embedder {
  const embed: Embedder = async (texts) => {
    const rows = (await pipeline([...texts], { pooling: "mean", normalize: true })).tolist();
    return { vectors: checkedVectors(rows, texts.length, id), usage: {} };
  };
  return Object.assign(embed, { id });
}
