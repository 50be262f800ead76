/** Ollama's own chat API on the wire. */
import { asCount, asName, fieldsOf, objectsOf } from "../../message/json.ts";
import { ollamaShape } from "../../shape/ollama/ollama.ts";
import { ollama } from "../../window/provider/profile.ts";
import { wireApi } from "./api.ts";
import { definitionsOf } from "./chat.ts";

/** Ollama's `/api/chat`; an answer is streamed unless the request says that it is not. */
export const ollamaApi = wireApi({
  name: "ollama",
  shape: ollamaShape,
  profile: ollama,
  route: /^[^?]*\/api\/chat\/?(\?|$)/,
  facts: ({ fields, messages }) => ({
    hasSchema: (fields["format"] ?? "") !== "",
    model: asName(fields["model"]),
    maxOutput: asCount(fieldsOf(fields["options"])["num_predict"]) || undefined,
    tools: objectsOf(fields["tools"]).flatMap(definitionsOf),
    // A request without messages loads a model, or unloads it.
    fixed: messages.length === 0 ? "no messages" : undefined,
  }),
});
