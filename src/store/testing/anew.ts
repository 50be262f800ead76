/** The cases about a holder that was passed over, and whose session was made anew, or came back from the trash, since. */
import assert from "node:assert/strict";
import {
  cases,
  time,
  everybody,
  newSession,
  messageRecord,
  stateOf,
  texts,
  listAll,
  sessionWith,
  wholeDump,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Lock, Store } from "../store.ts";

/** The cases of `holding` about sessions that were made anew. */
export const anewCases: readonly StoreCase[] = cases("holding", {
  "who held a session that was erased and made anew under its id writes nothing of it, and does not let go of it":
    besideOther(async (store, other) => {
      const old = await passedOver(store, other);
      await other.upkeep.erase(everybody, [old.id]);
      const anew = await other.create(everybody, newSession({ uuid: old.id }));
      await other.append(anew, [messageRecord("anew")]);
      await writesNothing(store, old);
      await old.release().catch(() => undefined);
      assert.equal((await other.holding.holder(everybody, anew.id)).state, "held");
      await other.append(anew, [messageRecord("more")]);
      assert.deepEqual(await texts(other, anew.id), ["anew", "more"]);
      await other.finish(anew, stateOf("completed"));
    }),
  "who held a session that was erased and restored since writes nothing of it": besideOther(async (store, other) => {
    const old = await passedOver(store, other);
    const dump = await wholeDump(other.transfer, everybody, old.id);
    await other.upkeep.erase(everybody, [old.id]);
    await other.transfer.restore(everybody, dump);
    await writesNothing(store, old);
    const lock = await other.lock(everybody, old.id);
    await writesNothing(store, old);
    await other.append(lock, [messageRecord("more")]);
    assert.deepEqual(await texts(other, old.id), ["1", "more"]);
    await lock.release();
  }),
  "who held a session that ended and came back from the trash since writes nothing of it": besideOther(
    async (store, other) => {
      const old = await passedOver(store, other);
      await other.finish(await other.lock(everybody, old.id), stateOf("completed"));
      await writesNothing(store, old);
      await other.upkeep.trash(everybody, [old.id], time);
      await writesNothing(store, old);
      await other.upkeep.untrash(everybody, old.id);
      await writesNothing(store, old);
      assert.deepEqual(await texts(other, old.id), ["1"]);
      const found = await listAll(other);
      assert.ok(found.some(({ metadata, state }) => metadata.uuid === old.id && state.status === "completed"));
    },
  ),
});

/** A case beside the same handle, and beside another one if the store is shared. */
function besideOther(run: (store: Store, other: Store) => Promise<void>): StoreCase["run"] {
  return async ({ store, reopen }) => {
    for (const other of store.capabilities.shared ? [store, await reopen()] : [store]) await run(store, other);
  };
}

/** The lock of a session that was taken from its holder since. */
async function passedOver(store: Store, other: Store): Promise<Lock> {
  const lock = await sessionWith(store, 1);
  await other.holding.unlock(everybody, lock.id, { force: true, reason: "it hangs" });
  return lock;
}

async function writesNothing(store: Store, lock: Lock): Promise<void> {
  const codes = ["fenced", "closed", "session-not-found", "read-only"] as const;
  await refused(() => store.append(lock, [messageRecord("late")]), ...codes);
  await refused(() => store.setState(lock, stateOf("processing", 99)), ...codes);
  await refused(() => store.finish(lock, stateOf("failed")), ...codes);
}
