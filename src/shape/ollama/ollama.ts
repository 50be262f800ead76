/** Ollama's own chat API: the messages of chat completions, calls without ids, and answers as lines of JSON. */
import { wireForms } from "../../message/wire-form.ts";
import type { ChatMessage } from "../openai-chat/openai-chat.ts";
import { chatShape } from "../openai-chat/openai-chat.ts";
import type { Shape } from "../shape.ts";
import { OllamaAnswer, ollamaUsage } from "./answer.ts";

/** The shape of Ollama's API. */
export const ollamaShape: Shape<ChatMessage> = {
  ...chatShape,
  name: "ollama",
  form: wireForms.any,
  answer: () => new OllamaAnswer(),
  usage: ollamaUsage,
  isPrefixFault: () => false,
  fault: (_status, message) => ({ error: message }),
};
