/** A clean-up that ends another owner's erasure, where a session of the same id belongs to somebody else. */
import { describe, expect, it } from "vitest";
import type { Scope } from "windrow";
import { cleanup } from "windrow/ops";
import { newSession, refused } from "../../kit/inside/store.ts";
import { finished, opened } from "../../store/stage.ts";
import { storeKinds } from "../../store/archive/kinds.ts";

const elsewhere = () => Promise.reject(new Error("The index is away."));
const time = "2026-01-01T00:00:00.000Z";

const owners: readonly (readonly [Scope, Scope, Scope])[] = [
  [{ tenant: "alpha", user: "me" }, { tenant: "alpha", user: "you" }, { tenant: "alpha" }],
  [{ user: "me" }, { user: "you" }, {}],
  [{ user: "me" }, {}, {}],
  [{ tenant: "alpha", user: "me" }, { tenant: "alpha" }, { tenant: "alpha" }],
];

// Over the session store an id names one session for good.
const kinds = storeKinds().filter(({ name, isHere }) => isHere && name === "files");

describe.each(kinds)("an erasure in $name that was begun", (kind) => {
  it.each(owners)("of %o is ended by a clean-up, which takes nothing of %o", async (mine, yours, operator) => {
    const store = await opened(await kind.address());
    const upkeep = store.upkeep!;
    for (const isKept of [true, false]) {
      const id = newSession().uuid;
      await finished(store, mine, id);
      await upkeep.putAside!(mine, id);
      await finished(store, yours, id);
      await (isKept ? upkeep.keep(yours, id, { keptAt: time }) : upkeep.trash(yours, [id], time));
      await expect(upkeep.erase(mine, [id], elsewhere)).rejects.toThrow("away");
      const report = await cleanup(store, { scope: operator });
      expect(report.failures).toEqual([]);
      expect(report.erased.map(({ sessionId, resumed }) => [sessionId, resumed])).toEqual([[id, true]]);
      expect(await upkeep.unerased(operator)).toEqual([]);
      await refused(() => upkeep.erase(mine, [id]), "session-not-found");
      if (!isKept) await upkeep.untrash(yours, id);
      expect((await store.info(yours, id)).state.status).toBe("completed");
    }
  });

  it.each(owners)("of %o is ended by a clean-up, and so is its trash; what %o put aside stays", async (...scopes) => {
    const store = await opened(await kind.address());
    const upkeep = store.upkeep!;
    for (const [mine, yours] of [scopes, [scopes[1], scopes[0]] as const]) {
      for (const isBegun of [true, false]) {
        const id = newSession().uuid;
        await finished(store, yours, id);
        await upkeep.putAside!(yours, id);
        await finished(store, mine, id);
        const begin = () =>
          upkeep.erase(mine, [id], elsewhere, { users: new Map([[id, [mine.user]]]) }).catch(() => undefined);
        await (isBegun ? begin() : upkeep.trash(mine, [id], time));
        const report = await cleanup(store, { scope: scopes[2], remove: true });
        expect([report.failures, report.erased.map(({ sessionId }) => sessionId)]).toEqual([[], [id]]);
        const [receipt] = await upkeep.erase(yours, [id]);
        expect(receipt?.places.some(({ kind: of, count }) => of === "aside" && count > 0)).toBe(true);
        await refused(() => upkeep.erase(scopes[2], [id]), "session-not-found");
      }
    }
  });
});
