/** The cases about ids that are in the trash, and are given out or erased. A store without upkeep passes them as it is. */
import assert from "node:assert/strict";
import { everybody, listAll, messageRecord, newSession, refused, stateOf, texts, wholeDump } from "./kit.ts";
import type { StoreCase } from "./kit.ts";
import { trashed, withUpkeep } from "./upkeep.ts";
import type { Scope, SessionDump, Store } from "../store.ts";

const group = "upkeep";
const time = "2024-03-01T00:00:00.000Z";

/** The cases of `upkeep` about ids in the trash. */
export const trashCases: readonly StoreCase[] = [
  {
    group,
    name: "an id in the trash is given out to nobody else, whose erasure does not reach the session there",
    run: withUpkeep(async (upkeep, store) => {
      const mine: Scope = { tenant: "alpha", user: "me" };
      const others: readonly Scope[] = [everybody, { tenant: "alpha" }, { tenant: "alpha", user: "you" }];
      const id = await finished(store, mine);
      const dump = store.transfer && (await wholeDump(store.transfer, mine, id));
      await upkeep.trash(mine, [id], time);
      for (const scope of [...others, { tenant: "beta", user: "me" }]) {
        await refused(() => store.create(scope, newSession({ uuid: id })), "session-exists");
        const theirs = dump && { ...dump, metadata: ownedBy(scope, dump) };
        if (theirs) await refused(() => store.transfer!.restore(scope, theirs), "session-exists");
        if (scope.user !== undefined || scope.tenant === undefined)
          await refused(() => upkeep.erase(scope, [id]), "session-not-found");
      }
      assert.deepEqual([await listAll(store), (await trashed(upkeep, mine)).length], [[], 1]);
      await upkeep.erase(mine, [id]);
      assert.deepEqual(await trashed(upkeep, mine), []);
      await (await store.create(everybody, newSession({ uuid: id }))).release();
    }),
  },
  {
    group,
    name: "a session in the trash is not put aside, and comes back from there",
    run: withUpkeep(async (upkeep, store) => {
      if (!upkeep.putAside) return;
      const id = await finished(store);
      await upkeep.trash(everybody, [id], time);
      await refused(() => upkeep.putAside!(everybody, id), "session-not-found");
      await refused(() => upkeep.kept(everybody, id), "session-not-found");
      await upkeep.untrash(everybody, id);
      assert.deepEqual(await texts(store, id), ["one"]);
    }),
  },
  {
    group,
    name: "of calls that take a mark away at once one says that there was one",
    run: withUpkeep(async (upkeep, store) => {
      const id = await finished(store);
      for (let round = 0; round < 3; round++) {
        await upkeep.keep(everybody, id, { keptAt: time });
        const said = await Promise.all(Array.from({ length: 3 }, () => upkeep.unkeep(everybody, id)));
        assert.equal(said.filter(Boolean).length, 1);
      }
    }),
  },
  {
    group,
    name: "of sessions in the trash alone, one that came back is not erased, nor another beside it",
    run: withUpkeep(async (upkeep, store) => {
      const [id, other] = [await finished(store), await finished(store)];
      await upkeep.trash(everybody, [id, other], time);
      await upkeep.untrash(everybody, id);
      const erase = (...ids: readonly string[]): Promise<unknown> =>
        upkeep.erase(everybody, ids, async () => [], { trashAlone: true });
      await refused(() => erase(other, id), "session-exists");
      assert.deepEqual([(await trashed(upkeep)).length, await texts(store, id)], [1, ["one"]]);
      await erase(other);
      assert.deepEqual(await trashed(upkeep), []);
      await upkeep.erase(everybody, [id]);
      assert.deepEqual([await trashed(upkeep), await listAll(store)], [[], []]);
    }),
  },
];

async function finished(store: Store, scope: Scope = everybody): Promise<string> {
  const lock = await store.create(scope, newSession());
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

function ownedBy({ tenant, user }: Scope, { metadata }: SessionDump): SessionDump["metadata"] {
  const { tenant: _tenant, user: _user, ...rest } = metadata;
  return { ...rest, ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}
