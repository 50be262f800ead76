/**
 * Log lines made from the records of a store: the lines of a live session, read afterwards or while it is written.
 * Nothing is locked and nothing written; a session is read record by record.
 */
import type { ScopedOptions } from "../options.ts";
import { endedType } from "../../store/shared/state-count.ts";
import { isWindrowError } from "../../errors.ts";
import type { EditRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import { isAboutRecords, isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { outlineOf } from "../../window/epoch/record.ts";
import { logEntries } from "./logs.ts";
import type { Unreadable } from "../look/unreadable.ts";
import type { LogEntry, LogLevel, LoggedEvent } from "./logs.ts";
import { taskName } from "../look/title.ts";
import { orUndefined } from "../look/errors.ts";
import { Newest } from "../look/newest.ts";
import { pause } from "../look/pause.ts";
import { conversations } from "../../store/memory-logs.ts";

/** Which lines to read. */
export interface StoredLogOptions extends ScopedOptions {
  /** Only this session. Default: every session of the scope. */
  readonly sessionId?: string;
  /** The lowest level of the entries. Default `INFO`. */
  readonly level?: LogLevel;
  /** Called for sessions that cannot be read, or only in part. Without it such a session ends the reading. */
  readonly unreadable?: Unreadable;
}

/** How to wait for new lines. */
export interface FollowOptions extends StoredLogOptions {
  /** Lines that are there already, the newest of all followed sessions. Default 10; `Infinity` for all. */
  readonly last?: number;
  /** Milliseconds between two looks. Default 1,000. */
  readonly interval?: number;
  /** Waits between two looks. Default: a timer. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

const kinds = ["call", "usage", "summary", "edit"] as const;
/** Kinds of records that give entries only at the level `DEBUG`. */
const detailKinds = ["message", "tool"] as const;

/**
 * The log lines of one session, oldest first.
 *
 * @throws WindrowError `session-not-found`
 */
export function sessionLog(store: Store, scope: Scope, info: SessionInfo, level?: LogLevel): AsyncGenerator<LogEntry> {
  return new LogReader(store, scope, info, level).entries(info);
}

/**
 * The newest log lines of a store, oldest first. About twice as many are held at most; a session that ended before all
 * of them is not read.
 *
 * @param last - how many lines
 */
export async function newestLog(
  store: Store,
  { scope = {}, sessionId, level, unreadable }: StoredLogOptions,
  last: number,
): Promise<readonly LogEntry[]> {
  const newest = new Newest<LogEntry>(last, byTime);
  const query = unreadable ? { unreadable: unreadable.note } : {};
  const sessions = sessionId === undefined ? conversations(store, scope, query) : [await store.info(scope, sessionId)];
  for await (const info of sessions) {
    const { status, updatedAt } = info.state;
    const held = isFinal(status) ? newest.items() : [];
    // It ended before all that are held.
    if (held.length > 0 && held.length === last && updatedAt < held[0]!.time) continue;
    const read = async (): Promise<void> => {
      for await (const entry of sessionLog(store, scope, info, level)) newest.add(entry);
    };
    const { uuid: id } = info.metadata;
    // One that went meanwhile has no lines.
    await orUndefined(
      async () => (unreadable ? unreadable.attempt(store, scope, id, read) : read()),
      "session-not-found",
    );
  }
  return newest.items();
}

/**
 * Lines as they are written: of every session that is not finished and of those begun since, until the signal fires; with
 * `sessionId` of that one, until it has ended.
 */
export async function* followLog(
  store: Store,
  options: FollowOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<LogEntry> {
  const { scope = {}, sessionId, level, last = 10, interval = 1_000, sleep = pause, unreadable } = options;
  const followed = new Map<string, LogReader>();
  const follow = (info: SessionInfo): void => {
    const { uuid: id } = info.metadata;
    if (!followed.has(id)) followed.set(id, new LogReader(store, scope, info, level));
  };
  let begun = "";
  if (sessionId !== undefined) follow(await store.info(scope, sessionId));
  else {
    for await (const info of conversations(store, scope, { limit: 1 })) {
      begun = info.metadata.createdAt;
      follow(info);
      for (const reader of followed.values()) reader.ended = isFinal(info.state.status);
    }
    for await (const info of conversations(store, scope, { unfinished: true }))
      if (!isFinal(info.state.status)) follow(info);
  }
  let first = Number.isFinite(last) ? new Newest<LogEntry>(last, byTime) : undefined;
  for (;;) {
    for (const reader of followed.values()) {
      for await (const entry of reader.newEntries(unreadable)) {
        if (first) first.add(entry);
        else yield entry;
      }
    }
    yield* first?.items() ?? [];
    first = undefined;
    if (sessionId !== undefined && followed.get(sessionId)?.ended) return;
    if (signal?.aborted) return;
    await sleep(interval, signal);
    if (signal?.aborted) return;
    if (sessionId !== undefined) continue;
    // Those begun since the last look; those that ended are forgotten.
    const before = begun;
    for await (const info of conversations(store, scope)) {
      const { createdAt } = info.metadata;
      if (createdAt > begun) begun = createdAt;
      if (createdAt < before) break;
      follow(info);
    }
    for (const [id, { ended, createdAt }] of followed) if (ended && createdAt < begun) followed.delete(id);
  }
}

/** Reads the entries of a session, each once. */
class LogReader {
  readonly createdAt: string;
  /** Whether nothing more is to come. */
  ended = false;
  readonly #store: Store;
  readonly #scope: Scope;
  readonly #id: string;
  readonly #task: string;
  readonly #level: LogLevel;
  /** The next record of each kind; absent if none was read. */
  readonly #next = new Map<RecordKind, number>();
  /** Model calls so far. */
  #calls = 0;
  #opened = false;

  constructor(store: Store, scope: Scope, { metadata }: SessionInfo, level: LogLevel = "INFO") {
    this.createdAt = metadata.createdAt;
    this.#store = store;
    this.#scope = scope;
    this.#id = metadata.uuid;
    this.#task = taskName(metadata.taskKey);
    this.#level = level;
  }

  /** The entries that were written since; those of a session that went or cannot be read end. */
  async *newEntries(unreadable: Unreadable | undefined): AsyncGenerator<LogEntry> {
    if (this.ended) return;
    try {
      yield* this.entries(await this.#store.info(this.#scope, this.#id));
    } catch (error) {
      if (isAboutRecords(error) && unreadable) unreadable.note(this.#id, error);
      else if (!isWindrowError(error, "session-not-found")) throw error;
      this.ended = true;
    }
  }

  /** The entries that were not read yet. */
  async *entries({ state }: SessionInfo): AsyncGenerator<LogEntry> {
    const entries = (event: LoggedEvent, time: string): readonly LogEntry[] =>
      logEntries({ ...event, sessionId: this.#id }, new Date(time), this.#level);
    if (!this.#opened) yield* entries({ type: "session-opened", ...{ task: this.#task } }, this.createdAt);
    this.#opened = true;
    const read = this.#level === "DEBUG" ? [...kinds, ...detailKinds] : kinds;
    const logs = read.map((kind) => {
      return this.#store.read<RecordKind>(this.#scope, this.#id, { kind, from: this.#next.get(kind) ?? 1 });
    });
    for await (const record of inOrder(logs)) {
      this.#next.set(record.kind, record.seq + 1);
      for (const event of this.#eventsOf(record)) yield* entries(event, record.timestamp);
    }
    if (!isFinal(state.status) || this.ended) return;
    this.ended = true;
    const { status, error } = state;
    yield* entries({ type: "session-finished", ...{ status, error } }, state.completedAt ?? state.updatedAt);
  }

  /** The events that were told when a record was written. */
  #eventsOf(record: StoredRecord): readonly LoggedEvent[] {
    const event = <F extends object>(type: string, fields: F): readonly LoggedEvent[] => [{ type, ...fields }];
    switch (record.kind) {
      case "message":
        return event("message-appended", { seq: record.seq, tokens: record.tokenCount });
      case "call":
        return event("tool-started", { toolName: record.toolName });
      case "tool":
        return event("tool-finished", { callId: record.callId, durationMs: record.durationMs });
      case "usage": {
        const { purpose, usage, window } = record;
        const recorded = event("usage-recorded", { purpose, usage });
        if (purpose !== "turn") return recorded;
        const report = { tokens: window?.tokens ?? usage.input };
        return [...event("window-composed", { call: (this.#calls += 1), report }), ...recorded];
      }
      case "summary": {
        const { originalTokens, summaryTokens } = record;
        return event("summary-committed", { originalTokens, summaryTokens });
      }
      case "edit":
        return editEvents(record, this.#task);
      default:
        return [];
    }
  }
}

function editEvents({ type, data }: EditRecord, task: string): readonly LoggedEvent[] {
  if (type === "resumed") return [{ type: "session-opened", ...{ resumed: true, task } }];
  // The state tells of the end.
  if (type === endedType) return [];
  if (type === "summary-failed") return [{ ...data, type }];
  if (type === "unlocked") return [{ ...data, type: "session-unlocked" }];
  if (type !== "epoch") return [{ type }];
  const epoch = outlineOf(data)?.state.epoch;
  // The line of epoch 0 records the first window: nothing was rewritten.
  if (epoch === undefined || epoch === 0) return [];
  const { reason, tokens_before: tokensBefore, tokens_after: tokensAfter } = data;
  // The summaries of such an epoch have lines of their own.
  if (reason === "summary") return data["summaries"] === 0 ? [{ type: "summary-committed", ...{ epoch } }] : [];
  if (reason === "undo") return [{ type: "epoch-undone", ...{ undone: epoch - 1 } }];
  return [{ type: "epoch-opened", ...{ report: { opened: { reason, tokensBefore, tokensAfter } } } }];
}

/** Records of several kinds in the order they were written; of each kind one is held. */
async function* inOrder(logs: readonly AsyncIterable<StoredRecord>[]): AsyncGenerator<StoredRecord> {
  const readers = logs.map((log) => log[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    const open = heads.flatMap((head, place) => (head.done ? [] : [{ place, record: head.value }]));
    const [next] = open.toSorted((one, other) => one.record.pos - other.record.pos);
    if (!next) return;
    yield next.record;
    heads[next.place] = await readers[next.place]!.next();
  }
}

const byTime = (one: LogEntry, other: LogEntry): number => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0);
