/**
 * The contract of models: what a summary, an extraction or a search asks for help. Both are functions that the user
 * brings; the clients in this room are some. A window is never made with them: `compose` asks no model.
 */
import type { Usage } from "../message/message.ts";

/** What a model is asked. */
export interface ModelRequest {
  /** Instructions, apart from the material. */
  readonly system?: string;
  /** The material and what to do with it. */
  readonly prompt: string;
  /** Most tokens of the answer. Absent: the client's own. */
  readonly maxOutput?: number;
}

/**
 * Why an answer ended: `stop` (it is whole), `length` (cut off at the most tokens), `refused` (a filter or the model
 * declined), `tool-calls` (it asked for a tool that it was not given), or `other`.
 */
export type ModelFinish = "stop" | "length" | "refused" | "tool-calls" | "other";

/** What a model answers. */
export interface ModelAnswer {
  /** Without reasoning; may be empty. */
  readonly text: string;
  /** As the provider reported it; what it did not report is absent, not 0. */
  readonly usage: Usage;
  readonly finish: ModelFinish;
}

/**
 * A model: one function. It settles soon after the signal fires, and rejects rather than answer with what it was not
 * asked for. A plain function is one; the properties help where they are known.
 *
 * @example
 * const model: Model = async ({ system, prompt }, signal) => {
 *   const { text } = await generate({ system, prompt, abortSignal: signal });
 *   return { text, usage: {}, finish: "stop" };
 * };
 */
export interface Model {
  (request: ModelRequest, signal?: AbortSignal): Promise<ModelAnswer>;
  /** The model's id, for the usage ledger. */
  readonly id?: string;
  /** Its capacity in tokens: no request is made that is larger. */
  readonly contextWindow?: number;
}

/** What an embedder answers. */
export interface Embeddings {
  /** One vector for each text, in their order, all of one length. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage;
}

/** An embedder: one function from texts to vectors, under the same rules as a {@link Model}. */
export interface Embedder {
  (texts: readonly string[], signal?: AbortSignal): Promise<Embeddings>;
  /** The model's id: vectors of two models do not compare. */
  readonly id?: string;
}
