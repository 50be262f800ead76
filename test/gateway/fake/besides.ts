/** Answers to what is no conversation: models, counts, greetings. */
import { tokensOf } from "./json.ts";
import type { Json } from "./json.ts";

export function besides(
  method: string,
  path: string,
  json: Json | undefined,
): { readonly status: number; readonly value: Json } {
  const found = (value: Json): { readonly status: number; readonly value: Json } => ({ status: 200, value });
  const tokens = tokensOf(Buffer.byteLength(JSON.stringify(json ?? {})));
  if (path.endsWith("/count_tokens")) return found({ input_tokens: tokens });
  if (path.endsWith(":countTokens")) return found({ totalTokens: tokens });
  if (path.endsWith("/api/show")) {
    return found({ model_info: { "fake.context_length": 32_768 }, capabilities: ["completion", "tools"] });
  }
  if (path.endsWith("/api/version")) return found({ version: "0.30.0" });
  if (path.endsWith("/api/tags")) return found({ models: [{ name: "fake:latest", model: "fake:latest" }] });
  if (method === "HEAD") return found({});
  if (method === "GET" && path.includes("/models")) {
    return found({ object: "list", data: [{ id: "fake", object: "model", created: 1, owned_by: "fake" }], models: [] });
  }
  return { status: 404, value: { error: { message: `not found: ${path}`, type: "not_found_error" } } };
}
