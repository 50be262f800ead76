/** The shared parts of the cases of a store: a fixture, sample records, and the check of a refusal. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../../conformance.ts";
import { errorCodes, isWindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import type { Part } from "../../message/message.ts";
import type { MessageRecord, NewRecord, RecordKind, StoredRecordOf } from "../../message/record.ts";
import type { DumpedLine, Lock, NewSession, ReadQuery, Scope, SessionDump } from "../store.ts";
import type { SessionInfo, SessionState, Store, StoreCapabilities, StoreTransfer } from "../store.ts";
import type { TrashedSession } from "../upkeep.ts";
import { logKinds } from "../format/logs.ts";

/** A store to be tested, empty, and its end. */
export interface StoreFixture {
  readonly store: Store;
  /** A second handle on the same data, as another process would have. Only asked for where `capabilities.shared`. */
  readonly reopen: () => Promise<Store>;
  /** Closes every handle and removes the data. */
  readonly close: () => Promise<void>;
}

/** A store under test, with its facets. */
export interface Stage extends Omit<StoreFixture, "close">, Pick<Store, "holding" | "transfer" | "upkeep"> {}

/** A case before it has its fixture. `needs`: only for stores that can do this. */
export interface StoreCase extends Pick<ConformanceCase, "group" | "name"> {
  readonly needs: keyof StoreCapabilities | undefined;
  readonly run: (stage: Stage) => Promise<void>;
}

/** Cases of one group, by name. */
export function cases(
  group: string,
  runs: Readonly<Record<string, StoreCase["run"]>>,
  needs?: keyof StoreCapabilities,
): readonly StoreCase[] {
  return Object.entries(runs).map(([name, run]) => ({ group, name, needs, run }));
}

/** A secret that the mask knows; built at run time, so that no scanner takes the source for a leak. */
export const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");

/** When sessions are kept and trashed. */
export const time = "2024-03-01T00:00:00.000Z";

/** The scope of most cases: no tenant, no user. */
export const everybody: Scope = {};

/** A new session, of its own id. */
export function newSession(changes: Partial<NewSession> = {}): NewSession {
  return {
    uuid: randomUUID(),
    taskKey: { task_source: "github", owner: "someone", repo: "something", task_type: "issue", task_id: "27" },
    createdAt: "2024-01-15T10:30:00.123Z",
    config: { model: "a-model", context_length: 128_000, anyKey: { nestedKey: [1, null, "x"] } },
    ...changes,
  };
}

/** A message of one text part. */
export function messageRecord(text: string, changes: Partial<MessageRecord["message"]> = {}): MessageRecord {
  const timestamp = "2024-01-15T10:30:01.123Z";
  const parts: readonly Part[] = [{ type: "text", text }];
  return {
    kind: "message",
    message: { id: `m-${text.slice(0, 40)}`, role: "user", parts, timestamp, ...changes },
    tokenCount: text.length,
    timestamp,
  };
}

/** Every kind of record, in the order of writing. */
export const everyRecordKind: readonly RecordKind[] = Object.values(logKinds);

/** One record of each kind, with every field. */
export function everyKind(): readonly NewRecord[] {
  const timestamp = "2024-01-15T10:30:20.123Z";
  const call = { callId: "call-1", toolName: "read_file", arguments: { path: "a.ts", camelCase: { inner_Key: 1 } } };
  return [
    messageRecord("hello"),
    { kind: "call", ...call, timestamp },
    { kind: "tool", ...call, result: { text: "ok" }, messageSeq: 1, status: "success", durationMs: 234, timestamp },
    { kind: "tool", ...call, status: "error", error: "not found", durationMs: 1, timestamp },
    { kind: "edit", type: "epoch", data: { epoch: 1, edits: [{ tokensBefore: 3 }] }, timestamp },
    {
      kind: "usage",
      purpose: "turn",
      model: "a-model",
      usage: { input: 10, output: 2, cacheRead: 4, cacheWrite: 1, cacheWriteHour: 1, reasoning: 1 },
      answerId: "msg_1",
      requestId: "req_1",
      toolCalls: 2,
      timestamp,
    },
    {
      kind: "summary",
      startSeq: 1,
      endSeq: 2,
      summary: "Said hello.",
      originalTokens: 1_200,
      summaryTokens: 80,
      data: { level: 1, children: [1], text_hash: "a1" },
      timestamp,
    },
    { kind: "snapshot", data: { goal: "fix it", phase: { camelCase: 1 } }, timestamp },
  ];
}

/** What a model saw: a system prompt and tool definitions, kept as edits, and the window that usage names. */
export function sentRecords(text: string): readonly NewRecord[] {
  const timestamp = "2024-01-15T10:30:21.123Z";
  const definitions = [{ name: "read", description: text, inputSchema: { type: "object" } }];
  const window = { epoch: 1, last: 7, tokens: 1_200, cached: 900, hash: "01af" };
  return [
    { kind: "edit", type: "system", data: { hash: "0a", text }, timestamp },
    { kind: "edit", type: "tools", data: { hash: "0b", definitions }, timestamp },
    { kind: "usage", purpose: "turn", usage: { input: 10 }, window, timestamp },
  ];
}

/** A state with this status. */
export function stateOf<S extends SessionState["status"]>(
  status: S,
  llmCallCount = 1,
): SessionState & { readonly status: S } {
  const over = status === "completed" || status === "failed" || status === "timeout";
  return {
    status,
    startedAt: "2024-01-15T10:30:01.000Z",
    updatedAt: "2024-01-15T10:35:22.456Z",
    completedAt: over ? "2024-01-15T10:35:22.456Z" : null,
    llmCallCount,
    toolCallCount: 2,
    totalTokensUsed: 3,
    currentContextTokens: 4,
    compressionCount: 5,
    epochCount: 7,
    lastActivity: "llm_call",
    error: status === "failed" ? "it broke" : null,
  };
}

/** Every record a query gives. */
export async function readAll<K extends RecordKind>(
  store: Store,
  id: string,
  query: ReadQuery<K>,
  scope: Scope = everybody,
): Promise<readonly StoredRecordOf<K>[]> {
  const records: StoredRecordOf<K>[] = [];
  for await (const record of store.read(scope, id, query)) records.push(record);
  return records;
}

/** The texts of the messages a query gives. */
export async function texts(
  store: Store,
  id: string,
  query: Omit<ReadQuery<"message">, "kind"> = {},
): Promise<readonly string[]> {
  const records = await readAll(store, id, { kind: "message", ...query });
  return records.map(({ message }) => (message.parts[0]?.type === "text" ? message.parts[0].text : ""));
}

/** Every session a store lists. */
export async function listAll(store: Store, scope: Scope = everybody, query = {}): Promise<readonly SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  for await (const session of store.list(scope, query)) sessions.push(session);
  return sessions;
}

/** The ids of the sessions a store lists. */
export async function listedIds(store: Store, scope: Scope = everybody, query = {}): Promise<readonly string[]> {
  return (await listAll(store, scope, query)).map(({ metadata }) => metadata.uuid);
}

/** A new session with these records, or with so many messages `1`, `2` and so on; locked. */
export async function sessionWith(
  store: Store,
  given: number | readonly NewRecord[],
  scope: Scope = everybody,
  changes: Partial<NewSession> = {},
): Promise<Lock> {
  const lock = await store.create(scope, newSession(changes));
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => messageRecord(String(index + 1)));
  await store.append(lock, typeof given === "number" ? numbered(given) : given);
  return lock;
}

/** A session that is completed. @returns its id */
export async function finishedSession(
  store: Store,
  scope: Scope = everybody,
  records: readonly NewRecord[] = [messageRecord("one")],
  uuid: string = randomUUID(),
): Promise<string> {
  await store.finish(await sessionWith(store, records, scope, { uuid }), stateOf("completed"));
  return uuid;
}

/** All that a store has of a session: its documents, its records of every kind, and what is wrong with them. */
export async function contents(store: Store, id: string): Promise<readonly unknown[]> {
  const { metadata, state } = await store.info(everybody, id);
  const records: unknown[] = [];
  for (const kind of everyRecordKind) records.push(await readAll(store, id, { kind }));
  return [metadata, state, records, await store.recovery(everybody, id)];
}

/** The sessions of a scope in the trash. */
export async function trashed(
  { upkeep }: Pick<Store, "upkeep">,
  scope: Scope = everybody,
  id?: string,
): Promise<readonly TrashedSession[]> {
  const found: TrashedSession[] = [];
  for await (const one of upkeep.trashed(scope, id)) found.push(one);
  return found;
}

/** A dump that reads on when its session is gone. */
export async function wholeDump(transfer: StoreTransfer, scope: Scope, id: string): Promise<SessionDump> {
  const dump = await transfer.dump(scope, id);
  const lines: DumpedLine[] = [];
  for await (const line of dump.lines()) lines.push(line);
  return {
    ...dump,
    async *lines() {
      yield* lines;
    },
  };
}

/** Asserts that a call is refused with one of these codes, by a WindrowError whose message says something. */
export async function refused(call: () => Promise<unknown>, ...codes: readonly ErrorCode[]): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(isWindrowError(error), `a WindrowError was expected, not ${String(error)}`);
    assert.ok(error.code in errorCodes, `"${error.code}" is no code of the table`);
    assert.ok(codes.includes(error.code), `${codes.join(" or ")} was expected, not ${error.code}: ${error.message}`);
    assert.ok(error.message.length > 10);
    return true;
  });
}

/** Asserts that every call which names a session is refused, as if the session were not there. */
export async function refusedByAll(
  store: Store,
  scope: Scope,
  id: string,
  code: ErrorCode = "session-not-found",
): Promise<void> {
  const { holding, transfer, upkeep } = store;
  const calls: readonly (() => Promise<unknown>)[] = [
    () => store.info(scope, id),
    () => store.lock(scope, id),
    () => readAll(store, id, { kind: "message" }, scope),
    () => store.recovery(scope, id),
    () => holding.holder(scope, id),
    () => holding.unlock(scope, id, { force: true, reason: "it hangs" }),
    () => transfer.dump(scope, id),
    () => upkeep.size(scope, id),
    () => upkeep.keep(scope, id, { keptAt: time }),
    () => upkeep.kept(scope, id),
    () => upkeep.unkeep(scope, id),
    () => upkeep.trash(scope, [id], time),
    () => upkeep.untrash(scope, id),
    () => upkeep.putAside(scope, id),
    () => upkeep.erase(scope, [id]),
  ];
  for (const call of calls) await refused(call, code);
}

/** Asserts that a lock writes nothing any more. */
export async function writesNothing(store: Store, lock: Lock, ...codes: readonly ErrorCode[]): Promise<void> {
  await refused(() => store.append(lock, [messageRecord("late")]), ...codes);
  await refused(() => store.setState(lock, stateOf("processing", 99)), ...codes);
  await refused(() => store.finish(lock, stateOf("failed")), ...codes);
}
