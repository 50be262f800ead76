/** The cases about the one writer of a session: who holds it, and what becomes of a holder that lost it. */
import assert from "node:assert/strict";
import { cases, everybody, everyKind, finishedSession, messageRecord, readAll, refused } from "./kit.ts";
import { sessionWith, stateOf, texts, time, wholeDump, writesNothing } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Lock, Store } from "../store.ts";

const force = { force: true, reason: "it hangs" } as const;

const locking: readonly StoreCase[] = cases("lock", {
  "one owner at a time: a second is refused, and the refusal names the holder": async ({ store, holding }) => {
    const lock = await sessionWith(store, 0);
    await assert.rejects(
      store.lock(everybody, lock.id),
      (error: { code?: string; data?: { owner?: { processId?: number } } }) => {
        assert.deepEqual([error.code, error.data?.owner?.processId], ["session-busy", process.pid]);
        return true;
      },
    );
    assert.equal(lock.owner.processId, process.pid);
    assert.ok(lock.owner.generation >= 1);
    const { state, owner } = await holding.holder(everybody, lock.id);
    assert.deepEqual([state, owner?.processId], ["held", process.pid]);
    await lock.release();
    assert.equal((await holding.holder(everybody, lock.id)).state, "none");
  },
  "released, it goes to exactly one of two rivals, the generation rises, and the old owner writes nothing more":
    async ({ store }) => {
      const first = await sessionWith(store, 1);
      await first.release();
      await writesNothing(store, first, "closed", "fenced");
      const rivals = await Promise.allSettled([store.lock(everybody, first.id), store.lock(everybody, first.id)]);
      const [winner, ...others] = rivals.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      assert.deepEqual(others, []);
      assert.ok(winner!.owner.generation > first.owner.generation);
      await writesNothing(store, first, "closed", "fenced");
      await first.release();
      await store.append(winner!, [messageRecord("2")]);
      assert.deepEqual(await texts(store, first.id), ["1", "2"]);
    },
});

const handles: readonly StoreCase[] = cases(
  "lock",
  {
    "two handles: the second is busy while the first holds, and goes on where it left off": async ({
      store,
      reopen,
    }) => {
      const other = await reopen();
      const lock = await sessionWith(store, 2);
      await refused(() => other.lock(everybody, lock.id), "session-busy");
      assert.deepEqual(await texts(other, lock.id), ["1", "2"]);
      await store.append(lock, [messageRecord("3")]);
      assert.deepEqual(await texts(other, lock.id, { last: 1 }), ["3"]);
      await lock.release();
      const taken = await other.lock(everybody, lock.id);
      const [stored] = await other.append(taken, [messageRecord("4")]);
      assert.deepEqual([stored?.seq, stored?.pos], [4, 4]);
      assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
      assert.deepEqual(taken.recovery, []);
    },
    "two handles write two sessions at the same time": async ({ store, reopen }) => {
      const other = await reopen();
      const [one, two] = [await sessionWith(store, 0), await sessionWith(other, 0)];
      const numbers = Array.from({ length: 20 }, (_, index) => String(index));
      const both = (text: string) => [
        store.append(one, [messageRecord(text)]),
        other.append(two, [messageRecord(text)]),
      ];
      await Promise.all(numbers.flatMap(both));
      assert.deepEqual([await texts(other, one.id), await texts(store, two.id)], [numbers, numbers]);
    },
  },
  "shared",
);

const unlocking: readonly StoreCase[] = cases("holding", {
  "a live holder is passed over by force alone, with a reason that the log keeps": async ({ holding, store }) => {
    const lock = await sessionWith(store, 2);
    await refused(() => holding.unlock(everybody, lock.id), "session-busy");
    await refused(() => holding.unlock(everybody, lock.id, { force: true, reason: " " }), "bad-option");
    await store.append(lock, [messageRecord("3")]);
    const found = await holding.unlock(everybody, lock.id, force);
    assert.deepEqual([found.state, found.owner?.generation], ["held", lock.owner.generation]);
    const edits = await readAll(store, lock.id, { kind: "edit" });
    assert.deepEqual(
      edits.map(({ type, data }) => [type, (data as { readonly reason?: unknown }).reason]),
      [["unlocked", "it hangs"]],
    );
  },
  "who moves lines out of an archive is passed over, too, and the log, which is not here, says nothing of it": async ({
    holding,
    store,
    transfer,
  }) => {
    const lock = await sessionWith(store, 2);
    const { id } = lock;
    await store.setState(lock, stateOf("closed"));
    await lock.release();
    const dump = await wholeDump(transfer, everybody, id);
    const mark = { key: "k", hash: "h", lines: 2, bytes: 1, objectBytes: 1, archivedAt: time, lastRecordAt: time };
    const { detaching } = store;
    if (!detaching) return;
    await detaching.detach(everybody, id, async () => mark);
    async function* lines() {
      const found = await holding.unlock(everybody, id, force);
      assert.equal(found.state, "held");
      yield* dump.lines();
    }
    await refused(() => detaching.attach(everybody, { ...dump, lines }, mark), "fenced");
    await detaching.attach(everybody, dump, mark);
    assert.deepEqual(await texts(store, id), ["1", "2"]);
    assert.deepEqual(await readAll(store, id, { kind: "edit" }), []);
  },
  "what a holder that is passed over wrote last counts, whether or not it wrote its state": async ({
    holding,
    store,
  }) => {
    const lock = await sessionWith(store, [messageRecord("1"), ...everyKind().filter(({ kind }) => kind === "usage")]);
    await holding.unlock(everybody, lock.id, force);
    const next = await store.lock(everybody, lock.id);
    const { llmCallCount, totalTokensUsed } = (await store.info(everybody, lock.id)).state;
    assert.deepEqual([llmCallCount, totalTokensUsed > 0], [1, true]);
    await next.release();
  },
  "a holder that is passed over adds nothing beside its successor and other sessions, and holds up none of them":
    async ({ holding, store }) => {
      const [old, other] = [await sessionWith(store, 1), await sessionWith(store, 1)];
      await holding.unlock(everybody, old.id, force);
      const next = await store.lock(everybody, old.id);
      const calls = everyKind().filter(({ kind }) => kind === "call");
      const ends = await Promise.allSettled([
        store.append(old, calls),
        store.append(next, [messageRecord("2")]),
        store.append(other, [messageRecord("2")]),
      ]);
      assert.deepEqual(
        ends.map(({ status }) => status),
        ["rejected", "fulfilled", "fulfilled"],
      );
      await Promise.all([store.append(next, calls), store.append(other, [messageRecord("3")])]);
      assert.deepEqual(await texts(store, next.id), ["1", "2"]);
      assert.equal((await readAll(store, next.id, { kind: "call" })).length, calls.length);
      assert.deepEqual(await texts(store, other.id), ["1", "2", "3"]);
    },
});

/** What becomes of a session whose holder was passed over, by name; gives who holds it then. */
const fates: Readonly<Record<string, (store: Store, id: string) => Promise<Lock | void>>> = {
  "is held by nobody": async () => undefined,
  "is held by another": (store, id) => store.lock(everybody, id),
  "has ended": finish,
  "is in the trash": async (store, id) => {
    await finish(store, id);
    await store.upkeep.trash(everybody, [id], time);
  },
  "came back from the trash": async (store, id) => {
    await finish(store, id);
    await store.upkeep.trash(everybody, [id], time);
    await store.upkeep.untrash(everybody, id);
  },
  "was put aside": async (store, id) => void (await store.upkeep.putAside(everybody, id)),
  "is erased": async (store, id) => void (await store.upkeep.erase(everybody, [id])),
  "is erased, and its id is another session's": async (store, id) => {
    await store.upkeep.erase(everybody, [id]);
    return sessionWith(store, 1, everybody, { uuid: id });
  },
  "is erased, and its id is another user's": async (store, id) => {
    await store.upkeep.erase(everybody, [id]);
    await finishedSession(store, { user: "you" }, undefined, id);
  },
  "was erased and restored": async (store, id) => {
    const dump = await wholeDump(store.transfer, everybody, id);
    await store.upkeep.erase(everybody, [id]);
    await store.transfer.restore(everybody, dump);
    return store.lock(everybody, id);
  },
};

const passedOver: readonly StoreCase[] = Object.entries(fates).flatMap(([fate, befall]) =>
  cases("holding", {
    [`a holder whose session was taken from it, and ${fate}, is fenced and lets go of nothing`]: async ({
      store,
      reopen,
    }) => {
      for (const other of store.capabilities.shared ? [store, await reopen()] : [store]) {
        const old = await sessionWith(store, 1);
        await other.holding.unlock(everybody, old.id, force);
        const next = await befall(other, old.id);
        await writesNothing(store, old, "fenced");
        await old.release();
        if (!next) continue;
        assert.equal((await other.holding.holder(everybody, next.id)).state, "held");
        await other.append(next, [messageRecord("more")]);
        assert.deepEqual(await texts(other, next.id), ["1", "more"]);
        await other.finish(next, stateOf("completed"));
      }
    },
  }),
);

async function finish(store: Store, id: string): Promise<void> {
  await store.finish(await store.lock(everybody, id), stateOf("completed"));
}

/** Held, let go of, passed over. */
export const holdingCases: readonly StoreCase[] = [...locking, ...handles, ...unlocking, ...passedOver];
