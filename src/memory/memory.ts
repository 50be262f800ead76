/**
 * The contract of a memory: knowledge that outlives sessions. A session hands its messages over when it ends. A later
 * session asks before it begins, or at any call.
 */
import type { NumberedMessage } from "../message/step.ts";
import type { FinalStatus } from "../store/store.ts";
import type { TokenCounter } from "../tokens/counter.ts";

/** The sessions and messages that a query asks about. All conditions hold together. */
export interface MemoryFilter {
  /** This session alone, or these. Of a list, no other session's words have an influence on what ranks before what. */
  readonly sessionId?: string | readonly string[];
  /** Sessions that ended so, or have not ended. */
  readonly status?: FinalStatus | "unfinished";
  /** Sessions whose task's key names this project: as `project`, `project_id`, `repo` or `owner/repo`, `app_name`, `cwd`. */
  readonly project?: string;
  /** Messages written at this time or later. */
  readonly since?: Date;
  /** Messages written before this time. */
  readonly until?: Date;
  /** Messages that call this tool or hold a result that names it. */
  readonly tool?: string;
}

/** A request for passages. */
export interface MemoryQuery {
  /** The query: words of any language, a path, a question. */
  readonly text: string;
  /** Most tokens of all passages together. Default 2,000. */
  readonly maxTokens?: number;
  readonly counter: TokenCounter;
  /** The session that asks: none of its own messages is an answer. */
  readonly asking?: string;
  /** Conditions of an answer, for a memory that can tell; others take no notice. Default: none. */
  readonly where?: MemoryFilter;
}

/** The reason a passage was found: it holds words of the query, or it means something like it. */
export type MemorySignal = "words" | "meaning";

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
  /** The signals by which the query was answered; absent where the memory does not say. */
  readonly signals?: readonly MemorySignal[];
}

/** A memory that sessions hand their messages to. */
export interface Memory {
  /** The name for people and logs. */
  readonly name: string;

  /** Set for one that reads the sessions of the store itself: no session is handed over. */
  readonly readsStore?: boolean;

  /**
   * Receives messages of a session, oldest first. Known messages are skipped, so receiving a session again, for example
   * after a crash, changes nothing.
   */
  receive(sessionId: string, messages: Iterable<NumberedMessage>, signal?: AbortSignal): Promise<void>;

  /** Passages about a text within the token limit, in the order of the conversations. Empty when nothing matches. */
  query(query: MemoryQuery, signal?: AbortSignal): Promise<readonly MemoryPassage[]>;

  /**
   * A text about earlier tasks like this one, for a session that begins: how they ended, what was done, which errors came
   * and what mended them. A labelled record within the tokens; empty where there is none. Absent: it knows no tasks.
   */
  earlierTasks?(query: MemoryQuery, signal?: AbortSignal): Promise<string>;

  /** Releases open resources. Idempotent. */
  close(): Promise<void>;
}

/** The default of {@link MemoryQuery.maxTokens}. */
export const memoryTokens = 2_000;
