/**
 * The contract of a store: where sessions persist. Each promise stands in the comment above its method. `testing/conformance.ts` is the contract as runnable cases.
 */
import type { WindrowError } from "../errors.ts";
import type { SecretRules } from "../mask/text.ts";
import type { JsonObject } from "../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord, StoredRecordOf } from "../message/record.ts";
import type { Scope } from "./scope.ts";
import type { Upkeep } from "./upkeep.ts";

export type { Scope } from "./scope.ts";

/** The capabilities of a store; shared code asks these, never the store's name. */
export interface StoreCapabilities {
  /** An acknowledged record survives the death of the process. */
  readonly durable: boolean;
  /** Two processes can open the same store at once. */
  readonly shared: boolean;
  /** Its mask asks that the live window shows what is kept, masked, in place of what the host gave. */
  readonly liveMask?: boolean;
  /**
   * The rules by which it masks what it keeps. Sessions apply them to texts before they cut them, and to events. Default:
   * the rules for secrets of a known form.
   */
  readonly mask?: SecretRules;
  /**
   * `append` and `setState` of one session take effect in the order in which they are called, also where nobody waits for
   * the one before, and those called at once mostly go to the store together.
   */
  readonly inOrder?: boolean;
}

/**
 * The stage of a session's life (docs/format.md). A `closed` one was put to rest after nobody wrote it for long: it can be
 * resumed, and is then `processing` again.
 */
export type SessionStatus =
  | "initializing"
  | "processing"
  | "compressing"
  | "closed"
  | "completing"
  | "completed"
  | "failed"
  | "timeout";

/** A status a session can end with. */
export type FinalStatus = Extract<SessionStatus, "completed" | "failed" | "timeout">;

/** The identity of a session, written once at its creation (`metadata.json`). */
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
  /** The session whose beginning this one took over, up to and with message `at` (its `seq`). */
  readonly forkedFrom?: { readonly uuid: string; readonly at: number };
  /** The version of the disk format, an integer. */
  readonly format: number;
}

/** The fields that a caller gives to `create`; the store fills in the rest. */
export type NewSession = Pick<SessionMetadata, "uuid" | "taskKey" | "config" | "createdAt" | "forkedFrom">;

/** The progress of a session (`state.json`). Counters never fall. */
export interface SessionState {
  readonly status: SessionStatus;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly completedAt: string | null;
  readonly llmCallCount: number;
  readonly toolCallCount: number;
  readonly totalTokensUsed: number;
  readonly currentContextTokens: number;
  /** Summaries that took the place of messages. */
  readonly compressionCount: number;
  readonly lastActivity: string;
  readonly error: string | null;
  /** Epochs that opened, of every reason. */
  readonly epochCount: number;
  /** The place of the records in an archive. Absent: they lie in the store. */
  readonly archived?: ArchiveMark;
}

/** The object of an archive that holds a session's records. */
export interface ArchiveMark {
  /** The object's name in the archive. */
  readonly key: string;
  /** SHA-256, in hexadecimal, of the session's documents and lines: that of a copy of it. */
  readonly hash: string;
  /** Lines, of all logs. */
  readonly lines: number;
  /** Bytes of the lines. */
  readonly bytes: number;
  /** Bytes of the object. */
  readonly objectBytes: number;
  /** When the session was archived: ISO 8601, UTC. */
  readonly archivedAt: string;
  /** The time of its last record: ISO 8601, UTC. */
  readonly lastRecordAt: string;
}

/** A session as `list` and `info` show it. */
export interface SessionInfo {
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  /** The place where people find it: a folder, or a URL. */
  readonly location: string;
  /** Newer format versions, and finished sessions, are read-only. */
  readonly readOnly: boolean;
}

/** The holder of a session's lock. */
export interface LockOwner {
  readonly processId: number;
  readonly hostname: string;
  readonly acquiredAt: string;
  readonly heartbeatAt: string;
  /** Goes up by one with every acquisition; a holder whose number is not the newest is fenced. */
  readonly generation: number;
}

/** Whether a process writes a session, asked without taking its lock. */
export interface Holding {
  /**
   * `held`: a live process has the lock. `gone`: the process that had it died without letting go. `none`: nobody has
   * it; the last holder let go in order, as after `Session.close`.
   */
  readonly state: "held" | "gone" | "none";
  /** The process that has it, or had it last, where the store can tell. */
  readonly owner?: LockOwner;
}

/** How {@link StoreHolding.unlock} frees a session. */
export interface UnlockOptions {
  /** Take it from a live process too. Default false. */
  readonly force?: boolean;
  /** Why, for who reads the log later. Needed with `force` where a live process holds the session. */
  readonly reason?: string;
}

/** The right to write one session. Valid until `release`, or until another process takes it over. */
export interface Lock {
  readonly id: string;
  readonly scope: Scope;
  readonly owner: LockOwner;
  /** The damage that was mended when the lock was taken; empty for a clean session. */
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
  /**
   * `torn-tail`: an unfinished last write, cut off; `damaged`: a bad span in the middle, skipped; `missing`: records that
   * were acknowledged and are gone, from the end of the file.
   */
  readonly problem: "torn-tail" | "damaged" | "missing";
  /** A copy of the bytes; empty where there is none, as of a compressed log that keeps them. */
  readonly quarantine: string;
  /** How many records are missing. */
  readonly records?: number;
  /** The member of a compressed log (`messages.jsonl.gz`) that cannot be unpacked, from 1. */
  readonly member?: number;
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
  /**
   * With `last`: records older than the newest for which this is true need not be told. A store may leave them out without
   * a look, and may give them all the same. It is given records as they are kept.
   */
  enough?(record: StoredRecord): boolean;
  /** Records as they came, where the store's mask sealed what it took out and has the key. Default: as they are kept. */
  readonly originals?: boolean;
}

/** Which sessions to list, newest first. */
export interface ListQuery {
  readonly status?: SessionStatus;
  readonly limit?: number;
  /** Finished sessions are not asked for: a store leaves out those it knows of without a look, and may give the others. */
  readonly unfinished?: boolean;
  /** Finished sessions that need not be told: a store may leave them out without a look, and may give them all the same. */
  readonly without?: (id: string) => boolean;
  /**
   * Told of each session that is there and cannot be described, as its metadata is damaged; and, by its path and with
   * `store-unavailable`, of a user's folder that cannot be read. The list goes on. Absent: that folder's error ends the list,
   * behind all that it can give.
   */
  readonly unreadable?: (id: string, error: WindrowError) => void;
}

/** The options of {@link StoreCheckup.examine}. */
export interface ExamineOptions {
  /** Mend what can be mended. Default false: nothing is changed. */
  readonly mend?: boolean;
}

/** One fault of a session or a store, of a kind that the doctor knows. */
export interface Finding {
  /** The kind of fault, for programs: `torn-tail`, `damaged`, `bad-mode` … (docs/operations.md lists them). */
  readonly problem: string;
  /** `damage` should be mended; a `notice` is odd but harmless, and stays as it is. */
  readonly severity: "damage" | "notice";
  readonly sessionId?: string;
  /** The file, relative to the store's folder. */
  readonly file?: string;
  /** Bytes from the start of the file. */
  readonly offset?: number;
  /** Bytes. */
  readonly length?: number;
  /** The fault and its mending, in words for people. */
  readonly message: string;
  /** Whether it was mended. */
  readonly mended: boolean;
  /**
   * The help against damage: `mend`, which the doctor does; `backup`, the session restored; `hand`, what the message
   * says. Absent: `mend`.
   */
  readonly remedy?: "mend" | "backup" | "hand";
  /** How many records are lost, where that is known. */
  readonly records?: number;
  /** The copy that was put aside, relative to the store's folder. */
  readonly keptAs?: string;
}

/** One session, examined; the last report of a store may be about no session but the store itself. */
export interface Examined {
  readonly sessionId?: string;
  /** Records that can be read, of all kinds. */
  readonly records: number;
  /** Bytes of the logs that hold records. */
  readonly goodBytes: number;
  /** Bytes of the logs that hold none: torn, damaged, blank. */
  readonly badBytes: number;
  readonly findings: readonly Finding[];
  /** The place of its records in an archive, and its owner; absent where the store has them. */
  readonly archived?: { readonly mark: ArchiveMark; readonly owner: Scope };
}

/** A log of a session: the name of its file (docs/format.md) without the ending. */
export type LogName = "messages" | "calls" | "tools" | "usage" | "summaries" | "snapshot" | "edits";

/** A line on its way from one store to another. */
export interface DumpedLine {
  readonly log: LogName;
  /** As docs/format.md has it, without its line end, and with every large value in the line itself. */
  readonly line: string;
}

/** A session on its way from one store to another, in the words of docs/format.md. */
export interface SessionDump {
  readonly id: string;
  /** The fields of `metadata.json`, also those this version does not know. */
  readonly metadata: JsonObject;
  /** The fields of `state.json`, also those this version does not know. */
  readonly state: JsonObject;
  /**
   * Every line that is a record: log by log in the order of {@link LogName}, within a log by `seq`. Read as it is asked for;
   * `session-not-found` where the session goes before all of it is read.
   */
  lines(): AsyncIterable<DumpedLine>;
}

/** The outcome of a restore. */
export interface Restored {
  /** `same`: the session was there already, exactly as it would have been written; nothing was changed. */
  readonly outcome: "written" | "same";
  /** How many of its lines and documents hold something that the store's mask took out on the way. */
  readonly masked: number;
  /** SHA-256, in hexadecimal, of the session as it is kept; the dump of it gives the same. */
  readonly hash: string;
}

/** A place where sessions persist. */
export interface Store {
  /** For people and logs: `ram`, `files`. */
  readonly name: string;
  readonly capabilities: StoreCapabilities;

  /**
   * Makes a session in state `initializing`, locked for the caller. Never overwrites: an id that exists, in any scope,
   * is refused with `session-exists`; an id that is no UUID with `session-id-invalid`; one whose erasure was begun and has
   * not ended with `session-busy`.
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

  /**
   * Records of one kind, oldest first. Reads only what the query needs. A damaged line is skipped and told by `recovery`.
   * `session-not-found` also in the middle, where the session goes before all of it is read.
   */
  read<K extends RecordKind>(scope: Scope, id: string, query: ReadQuery<K>): AsyncIterable<StoredRecordOf<K>>;

  /** Replaces the state; newest wins. Coalesced: only a change of status is synced at once. */
  setState(lock: Lock, state: SessionState): Promise<void>;

  /** Ends the session: everything synced, state written, moved where finished sessions are, lock released. Idempotent. */
  finish(lock: Lock, state: SessionState & { readonly status: FinalStatus }): Promise<void>;

  /** Damaged spans seen in this session so far, by this handle. */
  recovery(scope: Scope, id: string): Promise<readonly Recovered[]>;

  /** Releases everything. Idempotent; calls after it are refused with `closed`. */
  close(): Promise<void>;

  /**
   * Says that `close` follows as soon as sessions are closed: from now on a server that is asked and answers nothing for
   * five seconds is given up, and so is what waits for it.
   */
  prepareClose(): Promise<void>;

  readonly holding: StoreHolding;
  readonly checkup: StoreCheckup;
  readonly transfer: StoreTransfer;
  readonly upkeep: Upkeep;

  /** Absent if what the store keeps does not outlive its process. */
  readonly detaching?: StoreDetaching;

  /** Absent: the store was opened without an archive. */
  readonly archiving?: StoreArchiving;
}

/**
 * A store that can let go of the records of a session, while an archive holds them. Reading such a session, dumping it and
 * locking it is refused with `session-archived`, whose `data.mark` is its {@link ArchiveMark}, also in the middle of a
 * stream whose records went away meanwhile.
 */
export interface StoreDetaching {
  /**
   * Holds a session, so that nobody else changes it, until its records are elsewhere; then removes them, and notes where they
   * are. In one step, or so that a crash leaves the session as it was or archived, and the next call removes what is left.
   *
   * @param put - brings the records elsewhere, and says where; not called for a session that is archived. Its argument
   *   is the making of the session and a number that no other detaching of it has
   * @returns the note
   * @throws WindrowError `bad-option` for a session that has not ended and is not `closed`, or that is kept;
   *   `session-busy` while a process has it; `fenced` where another took it meanwhile, as it may from a process that was
   *   silent for long; what `put` throws
   */
  detach(scope: Scope, id: string, put: (taking: string) => Promise<ArchiveMark>): Promise<ArchiveMark>;

  /** Whether a session of this id names an object, in the trash or put aside, too. */
  names(id: string, key: string): Promise<boolean>;

  /**
   * Writes the records back as they were, and takes the note away. Until all of it is there the session is archived.
   *
   * @param mark - the note by which the records were found; a session whose note is another by now has newer records
   * @throws WindrowError `session-busy` while another process does it, and where the note is another
   */
  attach(scope: Scope, dump: SessionDump, mark: ArchiveMark, signal?: AbortSignal): Promise<void>;
}

/** The outcome of archiving one session. */
export interface ArchivedSession {
  readonly sessionId: string;
  /** `same`: it was archived before, or its object was there already. */
  readonly outcome: "archived" | "same";
  readonly mark: ArchiveMark;
}

/** A store with an archive beside it. */
export interface StoreArchiving {
  /**
   * Writes a session that ended, or is `closed`, into one object of the archive, reads it back and compares it, and only
   * then removes its records from the store. Everything reads it on as before. Killed at any point, nothing is lost, and
   * the next call ends it.
   *
   * @throws WindrowError `bad-option` for a session that is neither, or that is kept; `session-busy`; `store-corrupt` for
   *   one that lacks records; `archive-conflict` where its object does not hold what was written
   */
  archive(scope: Scope, id: string): Promise<ArchivedSession>;

  /** Brings the records back into the store, and removes the object. As before for one that is not archived. */
  unarchive(scope: Scope, id: string, signal?: AbortSignal): Promise<void>;
}

/** A store that can tell who writes a session, and take it from them. */
export interface StoreHolding {
  /** Whether a process writes the session. Changes nothing. */
  holder(scope: Scope, id: string): Promise<Holding>;

  /**
   * Frees a session whose holder died, and with `force` one whose holder lives: that one is fenced, loses nothing it
   * acknowledged, and the reason goes into the log as an edit of type `unlocked`, unless an archive has the log. Refused:
   * `session-busy` for a live holder without `force`, `bad-option` without a reason, `read-only` for a finished session.
   *
   * @returns how the session was found
   */
  unlock(scope: Scope, id: string, options?: UnlockOptions): Promise<Holding>;
}

/** A store that can look for damage in itself. */
export interface StoreCheckup {
  /**
   * Reads everything, whoever owns it, and reports damage session by session. With `mend` it mends what it can and
   * moves aside what it takes out; it never deletes. What a live process writes is left alone.
   */
  examine(options?: ExamineOptions, signal?: AbortSignal): AsyncIterable<Examined>;

  /**
   * Builds the index of all sessions anew. Answers are right without it; it makes them fast.
   *
   * @returns how many sessions there are
   */
  rebuildIndex(): Promise<number>;
}

/** A store whose sessions can be copied to and from other stores. */
export interface StoreTransfer {
  /** The whole session, lines as they are kept, to hand to another store's {@link StoreTransfer.restore}. */
  dump(scope: Scope, id: string): Promise<SessionDump>;

  /**
   * Writes a session of another store with its numbers, times, metadata and state as they are, through the mask. It is
   * there whole or not at all, also after a crash; a finished one is finished. Refused: with `session-exists` where a
   * session with this id differs, with `format-newer` where its format is newer, with `bad-message` where a line is no
   * record, with `bad-option` where it does not belong to the scope.
   */
  restore(scope: Scope, dump: SessionDump, signal?: AbortSignal): Promise<Restored>;
}
