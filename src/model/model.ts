/**
 * The contract of models, which write summaries, extract facts and embed texts. A model is a function that the user
 * brings; this room has clients. `compose` never asks a model.
 */
import type { Usage } from "../message/message.ts";

/** A request to a model. */
export interface ModelRequest {
  /** Instructions, apart from the material. */
  readonly system?: string;
  /** The material and the task. */
  readonly prompt: string;
  /** Most tokens of the answer. Default: the client's own. */
  readonly maxOutput?: number;
}

/**
 * The reason an answer ended: `stop` (whole), `length` (cut off at the token limit), `refused` (by a filter or the
 * model), `tool-calls` (it asked for a tool it was not given), or `other`.
 */
export type ModelFinish = "stop" | "length" | "refused" | "tool-calls" | "other";

/** The answer of a model. */
export interface ModelAnswer {
  /** The answer's text, without reasoning. May be empty. */
  readonly text: string;
  /** The usage that the provider reported. A count it did not report is absent, not 0. */
  readonly usage: Usage;
  readonly finish: ModelFinish;
}

/**
 * A model: one function. It settles soon after the signal fires, and rejects rather than answer something else. A plain
 * function is a model; the properties are optional.
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
  /** The capacity in tokens. No larger request is made. */
  readonly contextWindow?: number;
}

/** A function that is taken for a model. It answers a text, or an object with one, at once or later. */
export interface ModelLike extends Pick<Model, "id" | "contextWindow"> {
  (request: ModelRequest, signal?: AbortSignal): Reply | Promise<Reply>;
}

type Reply = string | (Pick<ModelAnswer, "text"> & Partial<ModelAnswer>);

/** The answer of an embedder. */
export interface Embeddings {
  /** One vector for each text, in order, all of one length. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage: Usage;
}

/** A function that is taken for an embedder: it answers its vectors in any of these shapes, at once or later. */
export interface EmbedderLike extends Pick<Embedder, "id"> {
  (texts: readonly string[], signal?: AbortSignal): Vectors | Promise<Vectors>;
}

type Rows = readonly (ArrayLike<number> | { readonly embedding: ArrayLike<number> })[];
type Vectors = Rows | { readonly vectors: Rows } | { readonly embeddings: Rows } | { readonly data: Rows };

/** An embedder: one function from texts to vectors, under the same rules as a {@link Model}. */
export interface Embedder {
  (texts: readonly string[], signal?: AbortSignal): Promise<Embeddings>;
  /** The model's id. Vectors of two models do not compare. */
  readonly id?: string;
}
