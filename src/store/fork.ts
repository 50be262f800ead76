/** Forking: a new session that begins with the records of another one. */
import { WindrowError } from "../errors.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../message/record.ts";
import type { Lock, NewSession, Scope, Store } from "./store.ts";
import { logKinds } from "./format/logs.ts";
import { StateCount } from "./shared/state-count.ts";

/** The place of a fork, and the new session. */
export interface ForkOptions {
  /** The last message (`seq`) that both share; 0 for none. */
  readonly at: number;
  /** The new session's id, a UUID that no session has. */
  readonly uuid: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Default: the other session's. */
  readonly config?: NewSession["config"];
}

/** The kinds of record that are copied: usage belongs to the other session, and is counted there. */
const kinds: readonly RecordKind[] = Object.values(logKinds).filter((kind) => kind !== "usage");

/** Records written at once. */
const batchRecords = 64;

/**
 * Copies the beginning of a session into a new one, whose metadata says where it comes from: every record that was
 * written before message `at + 1`, but for what model calls used. The other session is only read, also while a process writes it.
 *
 * @returns the new session, locked for the caller
 * @throws WindrowError `not-found` when there is no message `at`; `session-exists`, `session-not-found` and what the store
 *   throws
 */
export async function forkSession(store: Store, scope: Scope, id: string, options: ForkOptions): Promise<Lock> {
  const { at, uuid, createdAt } = options;
  const { metadata } = await store.info(scope, id);
  const end = await endOfFork(store, scope, id, at);
  const lock = await store.create(scope, {
    uuid,
    createdAt,
    taskKey: metadata.taskKey,
    config: options.config ?? metadata.config,
    forkedFrom: { uuid: id, at },
  });
  try {
    let batch: NewRecord[] = [];
    const count = new StateCount(createdAt);
    for await (const record of inOrder(store, scope, id, end)) {
      // A store writes one append kind after kind: a kind that comes before the last one begins a new append.
      const isBack = kinds.indexOf(record.kind) < kinds.indexOf(batch.at(-1)?.kind ?? "message");
      if (isBack || batch.length === batchRecords) {
        await store.append(lock, batch);
        batch = [];
      }
      batch.push(record);
      if (record.kind === "edit" || record.kind === "tool") count.take(record);
    }
    await store.append(lock, batch);
    const { state } = await store.info(scope, uuid);
    await store.setState(lock, { ...state, ...count.numbers, updatedAt: state.updatedAt });
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The `pos` of the first record that does not belong to the fork. */
async function endOfFork(store: Store, scope: Scope, id: string, at: number): Promise<number> {
  let last = 0;
  for await (const record of store.read(scope, id, { kind: "message", from: Math.max(at, 1), to: at + 1 })) {
    if (record.seq > at) return record.pos;
    last = record.seq;
  }
  if (last === at) return Number.POSITIVE_INFINITY;
  throw new WindrowError("not-found", `Session ${id} has no message ${at}; fork it at one it has.`, { id, at });
}

/** Records of all kinds before a place, in the order they were written. */
async function* inOrder(store: Store, scope: Scope, id: string, end: number): AsyncGenerator<StoredRecord> {
  const readers = kinds.map((kind) => store.read(scope, id, { kind })[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(readers.map((reader) => reader.next()));
    for (;;) {
      let first = -1;
      for (const [index, head] of heads.entries()) {
        const other = heads[first];
        if (head.done !== true && (other === undefined || other.done === true || head.value.pos < other.value.pos)) {
          first = index;
        }
      }
      const head = heads[first];
      if (head === undefined || head.done === true || head.value.pos >= end) return;
      yield head.value;
      heads[first] = await readers[first]!.next();
    }
  } finally {
    for (const reader of readers) await reader.return?.();
  }
}
