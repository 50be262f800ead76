/** The cases about what was put aside. A store that puts nothing aside passes them as it is. */
import assert from "node:assert/strict";
import { everybody, messageRecord, newSession, refused, stateOf } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { trashed, withUpkeep } from "./upkeep.ts";
import type { Scope, Store } from "../store.ts";

const group = "upkeep";
const time = "2024-03-01T00:00:00.000Z";

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
export const asideCases: readonly StoreCase[] = [
  {
    group,
    name: "what was put aside is its owner's, goes by the id, and is nobody else's to erase",
    run: withUpkeep(async (upkeep, store) => {
      if (!upkeep.putAside) return;
      for (const [mine, yours] of owners) {
        const id = await finished(store, mine);
        await upkeep.putAside(mine, id);
        await refused(() => upkeep.erase(yours, [id]), "session-not-found");
        await finished(store, mine, id);
        await upkeep.putAside(mine, id);
        await finished(store, mine, id);
        assert.ok((await asideIn(store, mine, id)) > 0);
        await refused(() => upkeep.erase(mine, [id]), "session-not-found");
        assert.deepEqual(await upkeep.unerased(mine), []);
      }
    }),
  },
  {
    group,
    name: "an erasure of what was put aside alone that failed elsewhere is known, and ended by the next",
    run: withUpkeep(async (upkeep, store) => {
      if (!upkeep.putAside) return;
      const mine: Scope = { tenant: "alpha", user: "me" };
      const id = await finished(store, mine);
      await upkeep.putAside(mine, id);
      await assert.rejects(() => upkeep.erase(mine, [id], () => Promise.reject(new Error("no"))));
      assert.deepEqual(await upkeep.unerased(mine), [{ ...mine, sessionId: id }]);
      assert.equal((await upkeep.erase(mine, [id])).length, 1);
      assert.deepEqual(await upkeep.unerased(mine), []);
      await refused(() => upkeep.erase(mine, [id]), "session-not-found");
    }),
  },
  {
    group,
    name: "an erasure that names no user means sessions of no user",
    run: withUpkeep(async (upkeep, store) => {
      const [mine, nobodys] = [{ user: "me" }, {}];
      const [id, alone] = [await finished(store, mine), await finished(store, mine)];
      const limits = { users: new Map([id, alone].map((one) => [one, [undefined]] as const)) };
      const nothing = async (): Promise<readonly []> => [];
      await refused(() => upkeep.erase(nobodys, [alone], nothing, limits), "session-not-found");
      await upkeep.trash(mine, [alone], time);
      await refused(
        () => upkeep.erase(nobodys, [alone], nothing, { ...limits, trashAlone: true }),
        "session-not-found",
      );
      assert.equal((await trashed(upkeep, mine)).length, 1);
    }),
  },
  {
    group,
    name: "the trash tells one session by its id, to its owner alone",
    run: withUpkeep(async (upkeep, store) => {
      const mine: Scope = { user: "me" };
      const [id, other, here] = [await finished(store, mine), await finished(store, mine), await finished(store, mine)];
      await upkeep.trash(mine, [id, other], time);
      const asked = async (scope: Scope, one: string): Promise<readonly string[]> => {
        const found: string[] = [];
        for await (const { sessionId } of upkeep.trashed(scope, one)) found.push(sessionId);
        return found;
      };
      assert.deepEqual([await asked(mine, id), await asked(mine, other), await asked(mine, here)], [[id], [other], []]);
      assert.deepEqual([await asked({ user: "you" }, id), (await trashed(upkeep, mine)).length], [[], 2]);
      await refused(() => asked(mine, "../x"), "session-id-invalid");
      // Nor does the look change what is then found of other ids.
      const anew = newSession().uuid;
      for (const look of [async () => upkeep.untrash(mine, anew), async () => upkeep.erase(mine, [anew])]) {
        await asked(mine, id);
        await assert.rejects(look, { code: "session-not-found" });
      }
      await asked(mine, id);
      await finished(store, { user: "you" }, anew);
      await asked(mine, id);
      await upkeep.trash(mine, [here], time);
    }),
  },
];

async function finished(store: Store, scope: Scope, uuid: string = newSession().uuid): Promise<string> {
  const lock = await store.create(scope, newSession({ uuid }));
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return uuid;
}

/** How much the receipt of an erasure says that was put aside. */
async function asideIn(store: Store, scope: Scope, id: string): Promise<number> {
  const [receipt] = (await store.upkeep?.erase(scope, [id])) ?? [];
  const aside = receipt?.places.filter(({ kind }) => kind === "aside") ?? [];
  return aside.reduce((sum, { count }) => sum + count, 0);
}
