/** The cases about what was put aside. */
import assert from "node:assert/strict";
import { cases, time, everybody, newSession, finishedSession, trashed, refused } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Scope, Store } from "../store.ts";

const twoUsers: readonly [mine: Scope, yours: Scope] = [
  { tenant: "alpha", user: "me" },
  { tenant: "alpha", user: "you" },
];

const owners: readonly (readonly [mine: Scope, yours: Scope])[] = [
  [{ tenant: "alpha" }, { tenant: "beta" }],
  twoUsers,
  [{ user: "me" }, { user: "you" }],
  [{ tenant: 'al"pha', user: "{me}" }, everybody],
];

/** The cases of `upkeep` about what was put aside. */
export const asideCases: readonly StoreCase[] = cases("upkeep", {
  "what was put aside is its owner's, goes by the id, and is nobody else's to erase": async ({ upkeep, store }) => {
    for (const [mine, yours] of owners) {
      const id = await finishedSession(store, mine);
      await upkeep.putAside(mine, id);
      await refused(() => upkeep.erase(yours, [id]), "session-not-found");
      await finishedSession(store, mine, undefined, id);
      await upkeep.putAside(mine, id);
      await finishedSession(store, mine, undefined, id);
      assert.ok((await asideIn(store, mine, id)) > 0);
      await refused(() => upkeep.erase(mine, [id]), "session-not-found");
      assert.deepEqual(await upkeep.unerased(mine), []);
    }
  },
  "an erasure of what was put aside alone that failed elsewhere is known, and ended by the next": async ({
    upkeep,
    store,
  }) => {
    const mine: Scope = { tenant: "alpha", user: "me" };
    const id = await finishedSession(store, mine);
    await upkeep.putAside(mine, id);
    await assert.rejects(() => upkeep.erase(mine, [id], () => Promise.reject(new Error("no"))));
    assert.deepEqual(await upkeep.unerased(mine), [{ ...mine, sessionId: id }]);
    assert.equal((await upkeep.erase(mine, [id])).length, 1);
    assert.deepEqual(await upkeep.unerased(mine), []);
    await refused(() => upkeep.erase(mine, [id]), "session-not-found");
  },
  "the trash tells one session by its id, to its owner alone": async ({ upkeep, store }) => {
    const mine: Scope = { user: "me" };
    const [id, other, here] = [
      await finishedSession(store, mine),
      await finishedSession(store, mine),
      await finishedSession(store, mine),
    ];
    await upkeep.trash(mine, [id, other], time);
    const asked = async (scope: Scope, one: string): Promise<readonly string[]> =>
      (await trashed(store, scope, one)).map(({ sessionId }) => sessionId);
    assert.deepEqual([await asked(mine, id), await asked(mine, other), await asked(mine, here)], [[id], [other], []]);
    assert.deepEqual([await asked({ user: "you" }, id), (await trashed(store, mine)).length], [[], 2]);
    await refused(() => asked(mine, "../x"), "session-id-invalid");
    // Nor does the look change what is then found of other ids.
    const anew = newSession().uuid;
    for (const look of [async () => upkeep.untrash(mine, anew), async () => upkeep.erase(mine, [anew])]) {
      await asked(mine, id);
      await assert.rejects(look, { code: "session-not-found" });
    }
    await asked(mine, id);
    await finishedSession(store, { user: "you" }, undefined, anew);
    await asked(mine, id);
    await upkeep.trash(mine, [here], time);
  },
});

/** How much the receipt of an erasure says that was put aside. */
async function asideIn(store: Store, scope: Scope, id: string): Promise<number> {
  const [receipt] = await store.upkeep.erase(scope, [id]);
  const aside = receipt?.places.filter(({ kind }) => kind === "aside") ?? [];
  return aside.reduce((sum, { count }) => sum + count, 0);
}
