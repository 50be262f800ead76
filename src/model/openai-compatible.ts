/** Models and embedders of any server with OpenAI's API: OpenAI, OpenRouter, vLLM, LM Studio, DeepSeek, Kimi … */
import { fieldsOf } from "../message/json.ts";
import type { Usage } from "../message/message.ts";
import { findModel } from "../tokens/models.ts";
import { checkedVectors } from "./answer.ts";
import { baseOf, keyOf, listOf, postJson, reported, sumOf, textOf, withModel } from "./http.ts";
import type { HttpOptions, JsonRequest } from "./http.ts";
import type { Embedder, Model, ModelFinish } from "./model.ts";

/** Options of {@link openaiModel}. */
export interface OpenaiModelOptions extends HttpOptions {
  /** The model's capacity in tokens. Default: the table's (src/tokens/models.ts). */
  readonly contextWindow?: number;
}

const openai = "https://api.openai.com/v1";

/**
 * A model behind a chat-completions API. The key comes from `OPENAI_API_KEY`. With another `baseUrl` than OpenAI's,
 * only `apiKey` gives a key, so that no foreign server receives one.
 *
 * @example
 * const summarizer = openaiModel({ model: "gpt-5-mini" });
 * const local = openaiModel({ model: "qwen3", baseUrl: "http://127.0.0.1:8000/v1" });
 *
 * @throws WindrowError `bad-option` without a key for OpenAI; its calls throw `aborted` and `model-failed`
 */
export function openaiModel(options: OpenaiModelOptions): Model {
  const { model, contextWindow = findModel(model)?.contextWindow } = withModel("openaiModel", options);
  const request = requestsOf(options, "chat/completions");
  const own = options.baseUrl === undefined;
  const ask: Model = async ({ system, prompt, maxOutput }, signal) => {
    const body = {
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: "system", content: system }]),
        { role: "user", content: prompt },
      ],
      // OpenAI's reasoning models refuse `max_tokens`; other servers know only that.
      ...(maxOutput !== undefined && { [own ? "max_completion_tokens" : "max_tokens"]: maxOutput }),
    };
    const answer = await postJson(model, request(body), options, signal);
    const choice = listOf(answer["choices"])[0] ?? {};
    const message = fieldsOf(choice["message"]);
    const content = message["content"];
    const text = Array.isArray(content)
      ? listOf(content)
          .map((part) => textOf(part["text"]))
          .join("")
      : textOf(content);
    const refused = textOf(message["refusal"]) !== "";
    return { text, usage: usageOf(answer["usage"]), finish: refused ? "refused" : finishOf(choice["finish_reason"]) };
  };
  return Object.assign(ask, { id: model, ...(contextWindow !== undefined && { contextWindow }) });
}

/**
 * An embedder behind an `/embeddings` API; the key as for {@link openaiModel}. Ollama, vLLM and LM Studio have one too.
 *
 * @throws WindrowError `bad-option` without a key for OpenAI; its calls throw `aborted` and `model-failed`
 */
export function openaiEmbedder(options: HttpOptions): Embedder {
  const { model } = options;
  const request = requestsOf(options, "embeddings");
  const embed: Embedder = async (texts, signal) => {
    const body = { model, input: texts, encoding_format: "float" };
    const answer = await postJson(model, request(body), options, signal);
    const vectors = checkedVectors(answer, texts.length, model);
    return { vectors, usage: reported({ input: sumOf(fieldsOf(answer["usage"])["prompt_tokens"]) }) };
  };
  return Object.assign(embed, { id: model });
}

function requestsOf({ apiKey, baseUrl, headers }: HttpOptions, path: string): (body: object) => JsonRequest {
  const value = keyOf(apiKey, baseUrl === undefined ? ["OPENAI_API_KEY"] : [], baseUrl === undefined);
  const url = `${baseOf(baseUrl, openai)}/${path}`;
  return (body) => ({
    url,
    body,
    ...(headers && { headers }),
    ...(value !== undefined && { key: { header: "authorization", prefix: "Bearer ", value } }),
  });
}

function finishOf(reason: unknown): ModelFinish {
  switch (reason) {
    case "stop":
    case "length":
      return reason;
    case "content_filter":
      return "refused";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    default:
      return "other";
  }
}

/** `prompt_tokens` is the whole input, cached tokens included. */
function usageOf(value: unknown): Usage {
  const usage = fieldsOf(value);
  return reported({
    input: sumOf(usage["prompt_tokens"]),
    output: sumOf(usage["completion_tokens"]),
    cacheRead: sumOf(fieldsOf(usage["prompt_tokens_details"])["cached_tokens"]),
    reasoning: sumOf(fieldsOf(usage["completion_tokens_details"])["reasoning_tokens"]),
  });
}
