/**
 * Read-only sessions: a session that another process writes, or that is finished, opened without writing to the store.
 */
import { WindrowError } from "../errors.ts";
import type { NewRecord } from "../message/record.ts";
import { admitting, inFrontOf, storeShape } from "../store/shared/shape.ts";
import type { Lock, Scope, Store } from "../store/store.ts";
import { sentTypes } from "../window/sent.ts";

/**
 * A store that is only read. An epoch that a reader's own window opens, and what it recalls, is not written, and its state is not set. Other
 * methods that write, and those about all sessions, throw `read-only`.
 */
export function readOnlyStore(store: Store): Store {
  const refuse = (): never => {
    throw new WindrowError(
      "read-only",
      "This session was opened for reading. Resume it without `readOnly` to write it, or fork it.",
    );
  };
  const ownTypes: readonly string[] = ["epoch", "window", "insert", "recall", ...sentTypes];
  const isOwn = (record: NewRecord): boolean => record.kind === "edit" && ownTypes.includes(record.type);
  const front = inFrontOf(store, storeShape, (_name, method, call) =>
    method.changes === true || method.of === "all" ? admitting(method, call, refuse) : call,
  );
  return {
    ...front,
    append: async (_lock, records) => (records.every(isOwn) ? [] : refuse()),
    setState: async () => undefined,
    close: async () => undefined,
  };
}

/** Stands where the lock of a session is expected that is only read. */
export function noLock(scope: Scope, id: string, recovery: Lock["recovery"] = []): Lock {
  const owner = { processId: 0, hostname: "", acquiredAt: "", heartbeatAt: "", generation: 0 };
  return { id, scope, owner, recovery, release: async () => undefined };
}
