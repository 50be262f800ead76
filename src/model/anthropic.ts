/** A model behind Anthropic's Messages API. */
import { hourWrites } from "../message/foreign-usage.ts";
import { fieldsOf } from "../message/json.ts";
import type { Usage } from "../message/message.ts";
import { findModel } from "../tokens/models.ts";
import { baseOf, keyOf, listOf, postJson, reported, sumOf, textOf, withModel } from "./http.ts";
import type { HttpOptions } from "./http.ts";
import type { Model, ModelFinish } from "./model.ts";

/** Options of {@link anthropicModel}. */
export interface AnthropicModelOptions extends HttpOptions {
  /** The model's capacity in tokens. Default: the table's (src/tokens/models.ts). */
  readonly contextWindow?: number;
  /** Most tokens of an answer when the request names none, because the API requires a number. Default 4,096. */
  readonly maxOutput?: number;
}

/**
 * A model of Anthropic. The key comes from `ANTHROPIC_API_KEY`, the server from `ANTHROPIC_BASE_URL` where it is set.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function anthropicModel(options: AnthropicModelOptions): Model {
  const { model, headers, contextWindow = findModel(model)?.contextWindow } = withModel("anthropicModel", options);
  const value = keyOf(options.apiKey, ["ANTHROPIC_API_KEY"], true) ?? "";
  const base = baseOf(options.baseUrl ?? process.env["ANTHROPIC_BASE_URL"], "https://api.anthropic.com");
  const ask: Model = async ({ system, prompt, maxOutput = options.maxOutput ?? 4_096 }, signal) => {
    const request = {
      url: `${base}/v1/messages`,
      key: { header: "x-api-key", value },
      headers: { "anthropic-version": "2023-06-01", ...headers },
      body: {
        model,
        max_tokens: maxOutput,
        ...(system !== undefined && { system }),
        messages: [{ role: "user", content: prompt }],
      },
    };
    const answer = await postJson(model, request, options, signal);
    const texts = listOf(answer["content"]).map((block) => (block["type"] === "text" ? textOf(block["text"]) : ""));
    return { text: texts.join(""), usage: usageOf(answer["usage"]), finish: finishOf(answer["stop_reason"]) };
  };
  return Object.assign(ask, { id: model, ...(contextWindow !== undefined && { contextWindow }) });
}

function finishOf(reason: unknown): ModelFinish {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "refused";
    case "tool_use":
      return "tool-calls";
    default:
      return "other";
  }
}

/** Anthropic counts cached tokens beside the input; here they are part of it. */
function usageOf(value: unknown): Usage {
  const usage = fieldsOf(value);
  const { input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  return reported({
    input: sumOf(plain, read, written),
    output: sumOf(usage["output_tokens"]),
    cacheRead: sumOf(read),
    cacheWrite: sumOf(written),
    cacheWriteHour: hourWrites(usage),
  });
}
