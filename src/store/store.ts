/**
 * The contract of a store: where sessions persist. Ten methods, each with its law; `conformance.ts` beside this file
 * is the contract as runnable cases.
 */
import type { JsonObject } from "../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";

/**
 * On whose behalf a call is made. A store shows and writes only what belongs to the scope: a session created under
 * `{ tenant: "a" }` does not exist for `{ tenant: "b" }`. An absent `user` sees every user of its tenant.
 */
export interface Scope {
  readonly tenant?: string;
  readonly user?: string;
}

/** What a store can do; shared code asks these, never the store's name. */
export interface StoreCapabilities {
  /** An acknowledged record survives the death of the process. */
  readonly durable: boolean;
  /** Two processes can open the same store at once. */
  readonly shared: boolean;
}

/** Where a session is in its life (seed 001 §3.2). */
export type SessionStatus =
  | "initializing"
  | "processing"
  | "compressing"
  | "completing"
  | "completed"
  | "failed"
  | "timeout";

/** A status a session can end with. */
export type FinalStatus = Extract<SessionStatus, "completed" | "failed" | "timeout">;

/** What a session is, written once at its creation (`metadata.json`, seed 001 §3.1). */
export interface SessionMetadata {
  /** UUID v4. */
  readonly uuid: string;
  readonly taskKey: JsonObject;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly processId: number;
  readonly hostname: string;
  /** Run-time settings; Windrow writes llm_provider, model, context_length, compression_threshold, strategy, profile, counter. */
  readonly config: JsonObject;
  readonly user?: string;
  readonly tenant?: string;
  /** The version of the disk format, an integer. */
  readonly format: number;
}

/** What a caller gives to `create`; the store fills in the rest. */
export type NewSession = Pick<SessionMetadata, "uuid" | "taskKey" | "config" | "createdAt">;

/** How a session is doing (`state.json`, seed 001 §3.2). Counters never fall. */
export interface SessionState {
  readonly status: SessionStatus;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
  readonly llmCallCount: number;
  readonly toolCallCount: number;
  readonly totalTokensUsed: number;
  readonly currentContextTokens: number;
  readonly compressionCount: number;
  readonly lastActivity: string;
  readonly error: string | null;
}

/** A session as `list` and `info` show it. */
export interface SessionInfo {
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  /** Where people find it: a folder, or a URL. */
  readonly location: string;
  /** Newer format versions, and finished sessions, are read-only. */
  readonly readOnly: boolean;
}

/** Who holds a session's lock (`.lock`, seed 001 §3.6, with a fence). */
export interface LockOwner {
  readonly processId: number;
  readonly hostname: string;
  readonly acquiredAt: string;
  readonly heartbeatAt: string;
  /** Goes up by one with every acquisition; a holder whose number is not the newest is fenced. */
  readonly generation: number;
}

/** The right to write one session. Valid until `release`, or until somebody else took it over. */
export interface Lock {
  readonly id: string;
  readonly scope: Scope;
  readonly owner: LockOwner;
  /** What was mended when the lock was taken; empty for a clean session. */
  readonly recovery: readonly Recovered[];
  /** Idempotent. */
  release(): Promise<void>;
}

/** A span of a file that could not be read as a record. The bytes are kept in a side file, never thrown away. */
export interface Recovered {
  readonly file: string;
  /** Byte offset in the file as it was found. */
  readonly offset: number;
  readonly length: number;
  /** `torn-tail`: an unfinished last write, cut off; `damaged`: a bad span in the middle, skipped. */
  readonly problem: "torn-tail" | "damaged";
  readonly quarantine: string;
}

/** Which records to read. All conditions hold together. */
export interface ReadQuery<K extends RecordKind = RecordKind> {
  readonly kind: K;
  /** `seq` at least this. */
  readonly from?: number;
  /** `seq` at most this. */
  readonly to?: number;
  /** Only the newest N (still given oldest first). Cannot be combined with `limit`. */
  readonly last?: number;
  /** Only the first N. */
  readonly limit?: number;
}

/** Which sessions to list, newest first. */
export interface ListQuery {
  readonly status?: SessionStatus;
  readonly limit?: number;
}

/** Where sessions persist. */
export interface Store {
  /** For people and logs: `ram`, `files`. */
  readonly name: string;
  readonly capabilities: StoreCapabilities;

  /**
   * Makes a session in state `initializing`, locked for the caller. Never overwrites: an id that exists, in any scope,
   * is refused with `session-exists`; an id that is no UUID with `session-id-invalid`.
   */
  create(scope: Scope, session: NewSession): Promise<Lock>;

  /** One session, or `session-not-found`. */
  info(scope: Scope, id: string): Promise<SessionInfo>;

  /** Sessions of the scope, newest creation first. Streams: the bodies of sessions are not read. */
  list(scope: Scope, query?: ListQuery): AsyncIterable<SessionInfo>;

  /**
   * Takes the right to write. One owner at a time: `session-busy` with the owner in `data.owner` while another holds
   * it. A finished session is `read-only`, one of a newer format `format-newer`. Mends what a crash left
   * (`lock.recovery`).
   */
  lock(scope: Scope, id: string): Promise<Lock>;

  /**
   * Adds records at the end and numbers them. All of one kind are visible together or not at all; when it resolves they
   * are as durable as the store promises. `fenced` when the lock was taken over, `not-durable` when the system refused
   * to write (nothing is visible then, and the next append may succeed). Concurrent calls keep their order.
   */
  append(lock: Lock, records: readonly NewRecord[]): Promise<readonly StoredRecord[]>;

  /** Records of one kind, oldest first. Reads only what the query needs. A damaged line is skipped and told by `recovery`. */
  read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncIterable<StoredRecordOf<K>>;

  /** Replaces the state; newest wins. Coalesced: only a change of status is synced at once. */
  setState(lock: Lock, state: SessionState): Promise<void>;

  /** Ends the session: everything synced, state written, moved where finished sessions are, lock released. Idempotent. */
  finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void>;

  /** Damaged spans seen in this session so far, by this handle. */
  recovery(scope: Scope, id: string): Promise<readonly Recovered[]>;

  /** Releases everything. Idempotent; calls after it are refused with `closed`. */
  close(): Promise<void>;
}
