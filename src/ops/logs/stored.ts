/**
 * Log lines made from the records of a store: the lines of a live session, read afterwards.
 * Nothing is locked and nothing written; a session is read record by record.
 */
import type { ScopedOptions } from "../options.ts";
import { endedType } from "../../store/shared/state-count.ts";
import type { EditRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { outlineOf } from "../../window/epoch/record.ts";
import { logEntries } from "./logs.ts";
import type { Unreadable } from "../look/unreadable.ts";
import type { LogEntry, LogLevel, LoggedEvent } from "./logs.ts";
import { taskName } from "../look/title.ts";
import { orUndefined } from "../look/errors.ts";
import { Newest } from "../look/newest.ts";
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

const kinds = ["call", "usage", "summary", "edit"] as const;
/** Kinds of records that give entries only at the level `DEBUG`. */
const detailKinds = ["message", "tool"] as const;

/**
 * The log lines of one session, oldest first.
 *
 * @throws WindrowError `session-not-found`
 */
export async function* sessionLog(
  store: Store,
  scope: Scope,
  { metadata, state }: SessionInfo,
  level: LogLevel = "INFO",
): AsyncGenerator<LogEntry> {
  const { uuid: sessionId, createdAt } = metadata;
  const task = taskName(metadata.taskKey);
  const entries = (event: LoggedEvent, time: string): readonly LogEntry[] =>
    logEntries({ ...event, sessionId }, new Date(time), level);
  yield* entries({ type: "session-opened", ...{ task } }, createdAt);
  const read = level === "DEBUG" ? [...kinds, ...detailKinds] : kinds;
  const calls = { count: 0 };
  for await (const record of inOrder(read.map((kind) => store.read<RecordKind>(scope, sessionId, { kind })))) {
    for (const event of eventsOf(record, task, calls)) yield* entries(event, record.timestamp);
  }
  if (!isFinal(state.status)) return;
  const { status, error } = state;
  yield* entries({ type: "session-finished", ...{ status, error } }, state.completedAt ?? state.updatedAt);
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

/** The events of one record, as they were told when it was written. */
function* eventsOf(record: StoredRecord, task: string, calls: { count: number }): Generator<LoggedEvent> {
  const event = <F extends object>(type: string, fields: F): LoggedEvent => ({ type, ...fields });
  switch (record.kind) {
    case "message":
      yield event("message-appended", { seq: record.seq, tokens: record.tokenCount });
      break;
    case "call":
      yield event("tool-started", { toolName: record.toolName });
      break;
    case "tool":
      yield event("tool-finished", { callId: record.callId, durationMs: record.durationMs });
      break;
    case "usage": {
      const { purpose, usage, window } = record;
      const report = { tokens: window?.tokens ?? usage.input };
      if (purpose === "turn") yield event("window-composed", { call: (calls.count += 1), report });
      yield event("usage-recorded", { purpose, usage });
      break;
    }
    case "summary": {
      const { originalTokens, summaryTokens } = record;
      yield event("summary-committed", { originalTokens, summaryTokens });
      break;
    }
    case "edit":
      yield* editEvents(record, task);
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
