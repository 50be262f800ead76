/** A session that somebody else writes, or that is finished, opened for reading: nothing it does reaches the store. */
import { WindrowError } from "../errors.ts";
import type { NewRecord } from "../message/record.ts";
import type { Lock, Scope, Store } from "../store/store.ts";

/**
 * A store that is only read. An epoch that a reader's own window opens is not written down, and its state is nobody's;
 * all else that would write is refused with `read-only`.
 */
export function readOnlyStore(store: Store): Store {
  const refuse = async (): Promise<never> => {
    throw new WindrowError(
      "read-only",
      "This session was opened for reading. Resume it without `readOnly` to write it, or fork it.",
    );
  };
  const isOwnEpoch = (record: NewRecord): boolean => {
    return record.kind === "edit" && (record.type === "epoch" || record.type === "insert");
  };
  return {
    name: store.name,
    capabilities: store.capabilities,
    create: refuse,
    lock: refuse,
    finish: refuse,
    info: (scope, id) => store.info(scope, id),
    list: (scope, query) => store.list(scope, query),
    read: (scope, id, query) => store.read(scope, id, query),
    recovery: (scope, id) => store.recovery(scope, id),
    append: (_lock, records) => (records.every(isOwnEpoch) ? Promise.resolve([]) : refuse()),
    setState: async () => undefined,
    close: async () => undefined,
  };
}

/** Stands where the lock of a session is expected that is only read. */
export function noLock(scope: Scope, id: string, recovery: Lock["recovery"] = []): Lock {
  const owner = { processId: 0, hostname: "", acquiredAt: "", heartbeatAt: "", generation: 0 };
  return { id, scope, owner, recovery, release: async () => undefined };
}
