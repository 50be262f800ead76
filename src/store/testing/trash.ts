/** The cases about ids that are in the trash, and are given out or erased. */
import assert from "node:assert/strict";
import {
  cases,
  time,
  everybody,
  newSession,
  texts,
  listAll,
  finishedSession,
  trashed,
  wholeDump,
  refused,
} from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import type { Scope, SessionDump } from "../store.ts";

/** The cases of `upkeep` about ids in the trash. */
export const trashCases: readonly StoreCase[] = cases("upkeep", {
  "an id in the trash is given out to nobody else, whose erasure does not reach the session there": async ({
    upkeep,
    store,
  }) => {
    const mine: Scope = { tenant: "alpha", user: "me" };
    const others: readonly Scope[] = [everybody, { tenant: "alpha" }, { tenant: "alpha", user: "you" }];
    const id = await finishedSession(store, mine);
    const dump = await wholeDump(store.transfer, mine, id);
    await upkeep.trash(mine, [id], time);
    for (const scope of [...others, { tenant: "beta", user: "me" }]) {
      await refused(() => store.create(scope, newSession({ uuid: id })), "session-exists");
      const theirs = { ...dump, metadata: ownedBy(scope, dump) };
      await refused(() => store.transfer.restore(scope, theirs), "session-exists");
      if (scope.user !== undefined || scope.tenant === undefined)
        await refused(() => upkeep.erase(scope, [id]), "session-not-found");
    }
    assert.deepEqual([await listAll(store), (await trashed(store, mine)).length], [[], 1]);
    await upkeep.erase(mine, [id]);
    assert.deepEqual(await trashed(store, mine), []);
    await (await store.create(everybody, newSession({ uuid: id }))).release();
  },
  "a session in the trash is not put aside, and comes back from there": async ({ upkeep, store }) => {
    const id = await finishedSession(store);
    await upkeep.trash(everybody, [id], time);
    await refused(() => upkeep.putAside(everybody, id), "session-not-found");
    await refused(() => upkeep.kept(everybody, id), "session-not-found");
    await upkeep.untrash(everybody, id);
    assert.deepEqual(await texts(store, id), ["one"]);
  },
  "of calls that take a mark away at once one says that there was one": async ({ upkeep, store }) => {
    const id = await finishedSession(store);
    for (let round = 0; round < 3; round++) {
      await upkeep.keep(everybody, id, { keptAt: time });
      const said = await Promise.all(Array.from({ length: 3 }, () => upkeep.unkeep(everybody, id)));
      assert.equal(said.filter(Boolean).length, 1);
    }
  },
  "of sessions in the trash alone, one that came back is not erased, nor another beside it": async ({
    upkeep,
    store,
  }) => {
    const [id, other] = [await finishedSession(store), await finishedSession(store)];
    await upkeep.trash(everybody, [id, other], time);
    await upkeep.untrash(everybody, id);
    const erase = (...ids: readonly string[]): Promise<unknown> =>
      upkeep.erase(everybody, ids, async () => [], { trashAlone: true });
    await refused(() => erase(other, id), "session-exists");
    assert.deepEqual([(await trashed(store)).length, await texts(store, id)], [1, ["one"]]);
    await erase(other);
    assert.deepEqual(await trashed(store), []);
    await upkeep.erase(everybody, [id]);
    assert.deepEqual([await trashed(store), await listAll(store)], [[], []]);
  },
});

function ownedBy({ tenant, user }: Scope, { metadata }: SessionDump): SessionDump["metadata"] {
  const { tenant: _tenant, user: _user, ...rest } = metadata;
  return { ...rest, ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}
