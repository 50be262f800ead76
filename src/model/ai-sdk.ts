/** Models of the AI SDK, majors 5, 6 and 7. The user brings the package; a model of the right shape is enough. */
import { WindrowError } from "../errors.ts";
import { asCount, asName, asString, defined, fieldsOf, objectsOf } from "../message/json.ts";
import type { Usage } from "../message/message.ts";
import { countsOf, hourWrites } from "../message/parts.ts";
import { checkedVectors, finishOf } from "./answer.ts";
import type { Embedder, Model } from "./model.ts";
import { mayPass, pauseOf, withRetries } from "./retry.ts";
import type { Failure, RetryOptions } from "./retry.ts";

/** The members that are used of an AI SDK language model: `LanguageModelV2`, `V3` and `V4` fit. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  /** Asks once, without retries. */
  doGenerate(options: {
    prompt: ({ role: "system"; content: string } | { role: "user"; content: { type: "text"; text: string }[] })[];
    maxOutputTokens?: number;
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly content: unknown; readonly finishReason: unknown; readonly usage: unknown }>;
}

/** The members that are used of an AI SDK embedding model: `EmbeddingModelV2`, `V3` and `V4` fit. */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined;
  /** Embeds as many values as one call takes. */
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly embeddings: unknown; readonly usage?: unknown }>;
}

/** Options of {@link aiSdkModel}. */
export interface AiSdkOptions extends RetryOptions {
  /** The model's capacity in tokens. */
  readonly contextWindow?: number;
}

/**
 * Makes a Model from a language model of the AI SDK.
 *
 * @example
 * const summarizer = aiSdkModel(openai("gpt-5-mini"), { contextWindow: 400_000 });
 *
 * @throws WindrowError `bad-option` for what is no model of majors 5 to 7 (a gateway's name as text, for example); its
 * calls throw `aborted` and `model-failed`
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkOptions = {}): Model {
  const id = checked(model, "doGenerate");
  const ask: Model = async ({ system, prompt, maxOutput }, signal) => {
    const answer = await withRetries(
      id,
      options,
      async (abortSignal) =>
        model.doGenerate({
          prompt: [
            ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
            { role: "user", content: [{ type: "text", text: prompt }] },
          ],
          ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
          abortSignal,
        }),
      failureOf,
      signal,
    );
    const texts = objectsOf(answer.content).flatMap(({ type, text }) =>
      type === "text" ? (asString(text) ?? []) : [],
    );
    // The reason is a word in major 5, and the unified word with the provider's own in 6 and 7.
    const { unified = answer.finishReason } = fieldsOf(answer.finishReason);
    return { text: texts.join(""), usage: usageOf(answer.usage), finish: finishOf(unified) };
  };
  const { contextWindow } = options;
  return Object.assign(ask, { id, ...(contextWindow !== undefined && { contextWindow }) });
}

/**
 * Makes an Embedder from an embedding model of the AI SDK. It makes as many calls as the model's own limit asks for.
 *
 * @throws WindrowError as {@link aiSdkModel}
 */
export function aiSdkEmbedder(model: AiSdkEmbeddingModel, options: RetryOptions = {}): Embedder {
  const id = checked(model, "doEmbed");
  const embed: Embedder = async (texts, signal) => {
    const most = Math.max(1, (await model.maxEmbeddingsPerCall) ?? texts.length);
    const vectors: (readonly number[])[] = [];
    let input: number | undefined;
    for (let from = 0; from < texts.length; from += most) {
      const values = texts.slice(from, from + most);
      const answer = await withRetries(
        id,
        options,
        async (abortSignal) => model.doEmbed({ values: [...values], abortSignal }),
        failureOf,
        signal,
      );
      vectors.push(...checkedVectors(answer, values.length, id));
      const tokens = asCount(fieldsOf(answer.usage)["tokens"]);
      if (tokens !== undefined) input = (input ?? 0) + tokens;
    }
    return { vectors, usage: defined({ input }) };
  };
  return Object.assign(embed, { id });
}

function checked(model: AiSdkLanguageModel | AiSdkEmbeddingModel, method: string): string {
  const { specificationVersion: version, modelId, [method]: called } = fieldsOf(model);
  if (typeof called === "function" && typeof modelId === "string" && version !== "v1") return modelId;
  const what = typeof model === "string" ? "a model's name" : version === "v1" ? "a model of AI SDK 4" : typeof model;
  throw new WindrowError("bad-option", `Give a model object of the AI SDK 5, 6 or 7 (it has ${method}), not ${what}.`, {
    method,
  });
}

/**
 * The SDK's own errors say whether a retry may help. Any other error of a provider's package counts as a broken
 * connection.
 */
function failureOf(error: unknown, now: number): Failure {
  const { statusCode, isRetryable, responseHeaders, message } = fieldsOf(error);
  const status = asCount(statusCode);
  const headers = new Headers(fieldsOf(responseHeaders) as Record<string, string>);
  return {
    message: asName(message) ?? String(error),
    mayPass: typeof isRetryable === "boolean" ? isRetryable : status !== undefined && mayPass(status),
    ...(status !== undefined && { status }),
    ...pauseOf(headers, now),
    cause: error,
  };
}

/** Reads usage: numbers in major 5, totals with their parts in 6 and 7. */
function usageOf(value: unknown): Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, raw } = fieldsOf(value);
  const input = fieldsOf(inputTokens);
  const output = fieldsOf(outputTokens);
  return countsOf({
    input: input["total"] ?? inputTokens,
    output: output["total"] ?? outputTokens,
    cacheRead: input["cacheRead"] ?? cachedInputTokens,
    cacheWrite: input["cacheWrite"],
    cacheWriteHour: hourWrites(raw),
    reasoning: output["reasoning"] ?? reasoningTokens,
  });
}
