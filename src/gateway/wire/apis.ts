/** The APIs that the gateway reads. */
import type { WireApi } from "../gateway.ts";
import { anthropicMessages } from "./anthropic/anthropic.ts";
import { chatCompletions } from "./chat.ts";
import { geminiApi } from "./gemini.ts";
import { ollamaApi } from "./ollama.ts";
import { responsesApi } from "./responses/responses.ts";

/** Every API whose requests are read. */
export const wireApis: readonly WireApi[] = [anthropicMessages, chatCompletions, responsesApi, geminiApi, ollamaApi];

/** The API of a request's method and path; undefined for a request that passes unread. */
export function wireApiOf(method: string, path: string): WireApi | undefined {
  return wireApis.find((api) => api.matches(method, path));
}
