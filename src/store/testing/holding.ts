/** The cases about the holder of a session. */
import assert from "node:assert/strict";
import {
  cases,
  everybody,
  newSession,
  messageRecord,
  everyKind,
  stateOf,
  readAll,
  texts,
  sessionWith,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";

/** The cases of `holding`. */
export const holdingCases: readonly StoreCase[] = cases("holding", {
  "tells whether a session is held, and by whom": async ({ holding, store }) => {
    const lock = await store.create(everybody, newSession());
    const { state, owner } = await holding.holder(everybody, lock.id);
    assert.deepEqual([state, owner?.processId], ["held", lock.owner.processId]);
    await lock.release();
    assert.equal((await holding.holder(everybody, lock.id)).state, "none");
    await refused(() => holding.holder({ tenant: "a" }, lock.id), "session-not-found");
  },
  "a live holder is passed over by force alone, with a reason that the log keeps": async ({ holding, store }) => {
    const lock = await sessionWith(store, 2);
    await refused(() => holding.unlock(everybody, lock.id), "session-busy");
    await refused(() => holding.unlock(everybody, lock.id, { force: true, reason: " " }), "bad-option");
    await refused(() => holding.unlock({ tenant: "a" }, lock.id, { force: true, reason: "x" }), "session-not-found");
    await store.append(lock, [messageRecord("3")]);
    const found = await holding.unlock(everybody, lock.id, { force: true, reason: "it hangs" });
    assert.deepEqual([found.state, found.owner?.generation], ["held", lock.owner.generation]);
    const edits = await readAll(store, lock.id, { kind: "edit" });
    assert.deepEqual(
      edits.map(({ type, data }) => [type, (data as { readonly reason?: unknown }).reason]),
      [["unlocked", "it hangs"]],
    );
    await refused(() => store.append(lock, [messageRecord("late")]), "fenced");
    await refused(() => store.finish(lock, stateOf("completed")), "fenced");
    await lock.release();
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3"]);
    const next = await store.lock(everybody, lock.id);
    await lock.release();
    await store.append(next, [messageRecord("4")]);
    assert.ok(next.owner.generation > lock.owner.generation);
    assert.deepEqual(await texts(store, lock.id), ["1", "2", "3", "4"]);
  },
  "a holder that is passed over is fenced, also where its session is gone since, or is another": async ({
    holding,
    store,
  }) => {
    for (const isAnew of [false, true]) {
      const lock = await sessionWith(store, 1);
      await holding.unlock(everybody, lock.id, { force: true, reason: "it hangs" });
      await store.upkeep.erase(everybody, [lock.id]);
      if (isAnew) await (await store.create({ user: "you" }, newSession({ uuid: lock.id }))).release();
      await refused(() => store.setState(lock, stateOf("processing")), "fenced");
      await refused(() => store.append(lock, [messageRecord("late")]), "fenced");
    }
  },
  "what a holder that is passed over wrote last counts, whether or not it wrote its state": async ({
    holding,
    store,
  }) => {
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("1"), ...everyKind().filter(({ kind }) => kind === "usage")]);
    await holding.unlock(everybody, lock.id, { force: true, reason: "it hangs" });
    assert.equal((await holding.holder(everybody, lock.id)).state, "none");
    const next = await store.lock(everybody, lock.id);
    const { llmCallCount, totalTokensUsed } = (await store.info(everybody, lock.id)).state;
    assert.deepEqual([llmCallCount, totalTokensUsed > 0], [1, true]);
    await next.release();
  },
  "a holder that is passed over adds nothing beside its successor and other sessions, and holds up none of them":
    async ({ holding, store }) => {
      const [old, other] = [await sessionWith(store, 1), await sessionWith(store, 1)];
      await holding.unlock(everybody, old.id, { force: true, reason: "it hangs" });
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
      assert.deepEqual((await readAll(store, next.id, { kind: "call" })).length, calls.length);
      assert.deepEqual(await texts(store, other.id), ["1", "2", "3"]);
    },
  "a finished session cannot be taken from anybody": async ({ holding, store }) => {
    const lock = await store.create(everybody, newSession());
    await store.finish(lock, stateOf("completed"));
    await refused(() => holding.unlock(everybody, lock.id, { force: true, reason: "x" }), "read-only");
  },
});
