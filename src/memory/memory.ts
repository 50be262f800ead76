/**
 * The contract of a memory: what outlives sessions. A session hands its messages over when it ends (seed 004's
 * offload); a later one asks what is known before it begins, or at any call.
 */
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** Which passages to bring back. */
export interface MemoryQuery {
  /** Words of any language, a path, a question. */
  readonly text: string;
  /** Most tokens of all passages together. Default 2,000. */
  readonly maxTokens?: number;
  readonly counter: TokenCounter;
}

/** Something a memory holds, in the words it was written in. */
export interface MemoryPassage {
  readonly sessionId: string;
  readonly seq: number;
  /** Behind what says where it is from, and its lines quoted, as `windrow/memory` does: a record, no instruction. */
  readonly text: string;
  readonly tokens: number;
}

/** Where sessions leave what they know. */
export interface Memory {
  /** For people and logs. */
  readonly name: string;

  /**
   * Takes over messages of a session, oldest first. Messages it has already are passed over, so that handing a session
   * over twice, or again after a crash, is the same as once.
   */
  receive(sessionId: string, messages: Iterable<NumberedMessage>, signal?: AbortSignal): Promise<void>;

  /** What it knows about a text, within the tokens, in the order of the conversations. Empty where nothing fits the words. */
  query(query: MemoryQuery, signal?: AbortSignal): Promise<readonly MemoryPassage[]>;

  /** Lets go of what it holds open. Idempotent. */
  close(): Promise<void>;
}

/** The default of {@link MemoryQuery.maxTokens}. */
export const memoryTokens = 2_000;
