/**
 * Models and embedders behind the APIs of providers. A provider is a row: its server, its key, what it is asked. Answers
 * are read by the provider's shape.
 */
import { WindrowError } from "../errors.ts";
import { fieldsOf } from "../message/json.ts";
import type { JsonObject, Message } from "../message/message.ts";
import { toolCalls } from "../message/message.ts";
import { anthropicShape } from "../shape/anthropic/anthropic.ts";
import { geminiShape } from "../shape/gemini/gemini.ts";
import { ollamaShape } from "../shape/ollama/ollama.ts";
import { chatShape } from "../shape/openai-chat/openai-chat.ts";
import type { Answer, AnswerBuilder } from "../shape/shape.ts";
import { countMessage } from "../tokens/counter.ts";
import { estimate } from "../tokens/estimate.ts";
import { findModel } from "../tokens/models.ts";
import { checkedVectors, finishOf } from "./answer.ts";
import { baseOf, keyOf, postJson } from "./http.ts";
import type { Embedder, Model, ModelRequest } from "./model.ts";
import { modelFailed } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";

/** Options of every client over HTTP. */
export interface ClientOptions extends RetryOptions {
  /** The model's id as the server knows it. */
  readonly model: string;
  /**
   * The key. Default: from the environment, by the names in the client's documentation. It is never logged and never in
   * an error.
   */
  readonly apiKey?: string;
  /**
   * The server's address. Default: the provider's own. A user and password in it are sent as basic authorization,
   * without a key.
   */
  readonly baseUrl?: string;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of every model over HTTP. */
export interface ModelOptions extends ClientOptions {
  /**
   * The model's capacity in tokens. Default: the table's (src/tokens/models.ts). Ollama allocates it as `num_ctx`, by
   * default 8,192.
   */
  readonly contextWindow?: number;
  /** Most tokens of an answer if the request names none. Default: the server's own; 4,096 for Anthropic, which requires a number. */
  readonly maxOutput?: number;
}

/** A request to a model with the facts that its body needs. */
interface Asked extends ModelRequest {
  readonly model: string;
  readonly contextWindow: number | undefined;
  /** Whether the server is the provider's own. */
  readonly isOwn: boolean;
}

interface Sent {
  readonly path: string;
  readonly body: object;
}

interface Provider {
  readonly shape: {
    answer(): AnswerBuilder;
    decode(messages: readonly never[]): readonly Message[];
  };
  /** The address of the server, given or not. */
  readonly server: (given?: string) => string;
  /** Environment variables of the key; none if no key is needed. */
  readonly keys: readonly string[];
  /** Whether many servers speak this API. Another server than the provider's needs no key, and none of the environment goes there. */
  readonly isCommon?: boolean;
  readonly keyHeader: { readonly header: string; readonly prefix?: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** The capacity in tokens of a model without `contextWindow`. Default: the table's. */
  readonly contextWindow?: number;
  /** Whether a server may cut a long prompt without a word. */
  readonly mayCut?: boolean;
  readonly ask: (asked: Asked) => Sent;
  /** Whether an answer says, elsewhere than in the reason of its end, that a filter or the model declined. */
  readonly isDeclined?: (body: JsonObject, message: JsonObject) => boolean;
}

const bearer = { header: "authorization", prefix: "Bearer " };

function chatMessages({ system, prompt }: ModelRequest): readonly object[] {
  return [...(system === undefined ? [] : [{ role: "system", content: system }]), { role: "user", content: prompt }];
}

const openai: Provider = {
  shape: chatShape,
  server: (given = "https://api.openai.com/v1") => given,
  keys: ["OPENAI_API_KEY"],
  isCommon: true,
  keyHeader: bearer,
  ask: ({ model, maxOutput, isOwn, ...request }) => ({
    path: "chat/completions",
    body: {
      model,
      messages: chatMessages(request),
      // OpenAI's reasoning models refuse `max_tokens`; other servers know only that.
      [isOwn ? "max_completion_tokens" : "max_tokens"]: maxOutput,
    },
  }),
  isDeclined: (_, message) => (message["refusal"] ?? "") !== "",
};

const anthropic: Provider = {
  shape: anthropicShape,
  server: (given = process.env["ANTHROPIC_BASE_URL"] ?? "https://api.anthropic.com") => given,
  keys: ["ANTHROPIC_API_KEY"],
  keyHeader: { header: "x-api-key" },
  headers: { "anthropic-version": "2023-06-01" },
  ask: ({ model, system, prompt, maxOutput = 4_096 }) => ({
    path: "v1/messages",
    body: { model, max_tokens: maxOutput, system, messages: [{ role: "user", content: prompt }] },
  }),
};

const gemini: Provider = {
  shape: geminiShape,
  server: (given = "https://generativelanguage.googleapis.com") => given,
  keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  keyHeader: { header: "x-goog-api-key" },
  ask: ({ model, system, prompt, maxOutput }) => ({
    path: geminiPath(model, "generateContent"),
    body: {
      ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      ...(maxOutput !== undefined && { generationConfig: { maxOutputTokens: maxOutput } }),
    },
  }),
  isDeclined: (body) => fieldsOf(body["promptFeedback"])["blockReason"] !== undefined,
};

function geminiName(model: string): string {
  return model.includes("/") ? model : `models/${model}`;
}

function geminiPath(model: string, verb: string): string {
  return `v1beta/${encodeURI(geminiName(model))}:${verb}`;
}

/** Ollama's own API: its OpenAI-compatible one takes no `num_ctx` and silently cuts a long prompt. */
const ollama: Provider = {
  shape: ollamaShape,
  server: (given = process.env["OLLAMA_HOST"] ?? "127.0.0.1:11434") =>
    given.includes("://") ? given : `http://${given}`,
  keys: [],
  keyHeader: bearer,
  contextWindow: 8_192,
  mayCut: true,
  ask: ({ model, maxOutput, contextWindow, ...request }) => ({
    path: "api/chat",
    body: {
      model,
      messages: chatMessages(request),
      stream: false,
      truncate: false,
      options: { num_ctx: contextWindow, num_predict: maxOutput },
    },
  }),
};

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
export function openaiModel(options: ModelOptions): Model {
  return httpModel(openai, options);
}

/**
 * A model of Anthropic. The key comes from `ANTHROPIC_API_KEY`, the server from `ANTHROPIC_BASE_URL` where it is set.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function anthropicModel(options: ModelOptions): Model {
  return httpModel(anthropic, options);
}

/**
 * A model of Google. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY` and travels in a header, never in the URL.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function geminiModel(options: ModelOptions): Model {
  return httpModel(gemini, options);
}

/**
 * A model that Ollama runs, on the server of `OLLAMA_HOST` or on this machine. Every request carries `num_ctx` and
 * `truncate: false`. A server that cuts the prompt anyway is detected by the tokens it reports.
 *
 * @throws WindrowError its calls throw `aborted`, and `model-failed`, also if the prompt was cut: `data.evaluated`
 */
export function ollamaModel(options: ModelOptions): Model {
  return httpModel(ollama, options);
}

/**
 * An embedder behind an `/embeddings` API; the key as for {@link openaiModel}. Ollama, vLLM and LM Studio have one too.
 *
 * @throws WindrowError `bad-option` without a key for OpenAI; its calls throw `aborted` and `model-failed`
 */
export function openaiEmbedder(options: ClientOptions): Embedder {
  return httpEmbedder(openai, options, "embeddings", (input) => ({
    ...{ model: options.model, input },
    encoding_format: "float",
  }));
}

/**
 * An embedder of Google; the key as for {@link geminiModel}. The API reports no usage.
 *
 * @throws WindrowError `bad-option` without a key; its calls throw `aborted` and `model-failed`
 */
export function geminiEmbedder(options: ClientOptions): Embedder {
  const model = geminiName(options.model);
  return httpEmbedder(gemini, options, geminiPath(model, "batchEmbedContents"), (texts) => ({
    requests: texts.map((text) => ({ model, content: { parts: [{ text }] } })),
  }));
}

/**
 * An embedder that Ollama runs; the server as for {@link ollamaModel}.
 *
 * @throws WindrowError its calls throw `aborted` and `model-failed`, also for a text longer than the model takes
 */
export function ollamaEmbedder(options: ClientOptions): Embedder {
  return httpEmbedder(ollama, options, "api/embed", (input) => ({ model: options.model, input, truncate: false }));
}

function httpModel(provider: Provider, options: ModelOptions): Model {
  const post = poster(provider, options);
  const { model } = options;
  const contextWindow = options.contextWindow ?? provider.contextWindow ?? findModel(model)?.contextWindow;
  const isOwn = options.baseUrl === undefined;
  const ask: Model = async ({ maxOutput = options.maxOutput, ...given }, signal) => {
    const request = { ...given, ...(maxOutput !== undefined && { maxOutput }) };
    const body = await post(provider.ask({ ...request, model, contextWindow, isOwn }), signal);
    const { message, stop, usage = {} } = answerIn(provider, body);
    if (provider.mayCut) checkWhole(model, request, usage.input, contextWindow ?? 0);
    const parts = message ? provider.shape.decode([message as never]).flatMap((decoded) => decoded.parts) : [];
    if (provider.isDeclined?.(body, message ?? {})) return { text: "", usage, finish: "refused" };
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    return { text, usage, finish: toolCalls({ parts }).length > 0 ? "tool-calls" : finishOf(stop) };
  };
  return Object.assign(ask, { id: model, ...(contextWindow !== undefined && { contextWindow }) });
}

function httpEmbedder(
  provider: Provider,
  options: ClientOptions,
  path: string,
  bodyOf: (texts: readonly string[]) => object,
): Embedder {
  const post = poster(provider, options);
  const id = options.model;
  const embed: Embedder = async (texts, signal) => {
    const body = await post({ path, body: bodyOf(texts) }, signal);
    return { vectors: checkedVectors(body, texts.length, id), usage: answerIn(provider, body).usage ?? {} };
  };
  return Object.assign(embed, { id });
}

/** Posts to a provider's server, with its key. */
function poster(
  { server, keys, isCommon, keyHeader, headers: own }: Provider,
  options: ClientOptions,
): (sent: Sent, signal?: AbortSignal) => Promise<JsonObject> {
  const { model, apiKey, baseUrl } = (options as ClientOptions | undefined) ?? {};
  if (typeof model !== "string" || model === "") {
    throw new WindrowError("bad-option", `A model over HTTP takes { model: "the model's id" }.`, { option: "model" });
  }
  const value = keyOf(apiKey, isCommon && baseUrl !== undefined ? [] : keys);
  const base = baseOf(server(baseUrl));
  const headers = { ...own, ...options.headers };
  const key = value === undefined ? {} : { key: { ...keyHeader, value } };
  return ({ path, body }, signal) =>
    postJson(model, { url: `${base}/${path}`, headers, body, ...key }, options, signal);
}

function answerIn({ shape }: Provider, body: JsonObject): Answer {
  const builder = shape.answer();
  builder.body(body);
  return builder.answer();
}

/**
 * Detects a cut prompt. Vocabularies differ by less than half on one text, and by less still on a prompt that exceeds
 * the context, so a server that reports less has dropped the front.
 */
function checkWhole(model: string, { system = "", prompt }: ModelRequest, evaluated = 0, contextWindow: number): void {
  const expected = countMessage(estimate, { parts: [{ type: "text", text: system + prompt }] });
  const least = expected * (expected > contextWindow ? 0.9 : 0.5);
  if (evaluated === 0 || evaluated >= least) return;
  const message = `it read ${evaluated} of about ${expected} tokens; give a contextWindow above ${contextWindow}`;
  throw modelFailed(model, { message, mayPass: false, evaluated });
}
