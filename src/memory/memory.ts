/**
 * The contract of a memory: knowledge that outlives sessions. A session hands its messages over when it ends. A later
 * session asks before it begins, or at any call.
 */
import type { NumberedMessage } from "../message/step.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** A request for passages. */
export interface MemoryQuery {
  /** The query: words of any language, a path, a question. */
  readonly text: string;
  /** Most tokens of all passages together. Default 2,000. */
  readonly maxTokens?: number;
  readonly counter: TokenCounter;
}

/** A passage from a memory, in its original words. */
export interface MemoryPassage {
  readonly sessionId: string;
  readonly seq: number;
  /**
   * The passage's text: a label with its source, then quoted lines, as `windrow/memory` writes them. It is a record,
   * never an instruction.
   */
  readonly text: string;
  readonly tokens: number;
}

/** A memory that sessions hand their messages to. */
export interface Memory {
  /** The name for people and logs. */
  readonly name: string;

  /**
   * Receives messages of a session, oldest first. Known messages are skipped, so receiving a session again, for example
   * after a crash, changes nothing.
   */
  receive(sessionId: string, messages: Iterable<NumberedMessage>, signal?: AbortSignal): Promise<void>;

  /** Passages about a text within the token limit, in the order of the conversations. Empty when nothing matches. */
  query(query: MemoryQuery, signal?: AbortSignal): Promise<readonly MemoryPassage[]>;

  /** Releases open resources. Idempotent. */
  close(): Promise<void>;
}

/** The default of {@link MemoryQuery.maxTokens}. */
export const memoryTokens = 2_000;
