/** Models and embedders behind Google's Gemini API. */
import { fieldsOf } from "../message/json.ts";
import type { Usage } from "../message/message.ts";
import { findModel } from "../tokens/models.ts";
import { checkedVectors } from "./answer.ts";
import { baseOf, keyOf, listOf, postJson, reported, sumOf, textOf, withModel } from "./http.ts";
import type { HttpOptions, JsonRequest } from "./http.ts";
import type { Embedder, Model, ModelFinish } from "./model.ts";

/** Options of {@link geminiModel}. */
export interface GeminiModelOptions extends HttpOptions {
  /** The model's capacity in tokens. Default: the table's (src/tokens/models.ts). */
  readonly contextWindow?: number;
}

/**
 * A model of Google. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY` and travels in a header, never in the URL.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function geminiModel(options: GeminiModelOptions): Model {
  const { model, contextWindow = findModel(model)?.contextWindow } = withModel("geminiModel", options);
  const request = requestsOf(options, "generateContent");
  const ask: Model = async ({ system, prompt, maxOutput }, signal) => {
    const body = {
      ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      ...(maxOutput !== undefined && { generationConfig: { maxOutputTokens: maxOutput } }),
    };
    const answer = await postJson(model, request(body), options, signal);
    const candidate = listOf(answer["candidates"])[0] ?? {};
    const parts = listOf(fieldsOf(candidate["content"])["parts"]);
    const text = parts.map((part) => (part["thought"] === true ? "" : textOf(part["text"]))).join("");
    const blocked = fieldsOf(answer["promptFeedback"])["blockReason"] !== undefined;
    const called = parts.some((part) => part["functionCall"] !== undefined);
    const finish = blocked ? "refused" : called ? "tool-calls" : finishOf(candidate["finishReason"]);
    return { text, usage: usageOf(answer["usageMetadata"]), finish };
  };
  return Object.assign(ask, { id: model, ...(contextWindow !== undefined && { contextWindow }) });
}

/**
 * An embedder of Google; the key as for {@link geminiModel}. The API reports no usage.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function geminiEmbedder(options: HttpOptions): Embedder {
  const { model } = options;
  const request = requestsOf(options, "batchEmbedContents");
  const embed: Embedder = async (texts, signal) => {
    const requests = texts.map((text) => ({ model: pathOf(model), content: { parts: [{ text }] } }));
    const answer = await postJson(model, request({ requests }), options, signal);
    return { vectors: checkedVectors(answer, texts.length, model), usage: {} };
  };
  return Object.assign(embed, { id: model });
}

function requestsOf({ model, apiKey, baseUrl, headers }: HttpOptions, verb: string): (body: object) => JsonRequest {
  const value = keyOf(apiKey, ["GEMINI_API_KEY", "GOOGLE_API_KEY"], true) ?? "";
  const base = baseOf(baseUrl, "https://generativelanguage.googleapis.com");
  const url = `${base}/v1beta/${encodeURI(pathOf(model))}:${verb}`;
  return (body) => ({ url, key: { header: "x-goog-api-key", value }, body, ...(headers && { headers }) });
}

function pathOf(model: string): string {
  return model.includes("/") ? model : `models/${model}`;
}

function finishOf(reason: unknown): ModelFinish {
  switch (reason) {
    case "STOP":
      return "stop";
    case "MAX_TOKENS":
      return "length";
    case "SAFETY":
    case "RECITATION":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
      return "refused";
    default:
      return "other";
  }
}

/** Thoughts are output that Google counts beside the answer. */
function usageOf(value: unknown): Usage {
  const usage = fieldsOf(value);
  return reported({
    input: sumOf(usage["promptTokenCount"]),
    output: sumOf(usage["candidatesTokenCount"], usage["thoughtsTokenCount"]),
    cacheRead: sumOf(usage["cachedContentTokenCount"]),
    reasoning: sumOf(usage["thoughtsTokenCount"]),
  });
}
