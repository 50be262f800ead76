/** Sessions that cannot be described take nobody's place in a list, in every kind of store that can be damaged. */
import { describe, expect, it } from "vitest";
import type { Scope } from "windrow";
import { inScope, listAll, newSession } from "../kit/inside/store.ts";
import { damageMetadata } from "./damaged.ts";
import { storeKinds } from "./archive/kinds.ts";
import { opened } from "./stage.ts";

describe.each(storeKinds().filter(({ isHere }) => isHere))("a list of $name", (kind) => {
  it("counts in its limit what is told, and tells the others as unreadable", async () => {
    const address = await kind.address();
    const store = await opened(address);
    const ids: string[] = [];
    for (let second = 10; second < 18; second++) {
      const lock = await store.create({}, newSession({ createdAt: `2024-01-15T10:30:${second}.000Z` }));
      await lock.release();
      ids.unshift(lock.id);
    }
    for (const id of ids.slice(0, 5)) await damageMetadata(address, id);
    let told: string[] = [];
    for (const limit of [1, 2, 3, 20]) {
      told = [];
      const listed = await listAll(store, {}, { limit, unreadable: (id: string) => void told.push(id) });
      expect(listed.map(({ metadata }) => metadata.uuid)).toEqual(ids.slice(5, 5 + limit));
    }
    expect(told.toSorted()).toEqual(ids.slice(0, 5).toSorted());
  });

  it("does not tell as unreadable what another user has", async () => {
    const address = await kind.address();
    const store = await opened(address);
    const own: Scope = { user: "ann" };
    for (const user of ["ann", "bob", "bob"]) {
      const lock = await store.create({ user }, newSession());
      await lock.release();
      if (user === "bob") await damageMetadata(address, lock.id);
    }
    const told: string[] = [];
    const listed = await listAll(store, own, { limit: 5, unreadable: (id: string) => void told.push(id) });
    expect([listed.map(({ metadata }) => inScope(own, metadata)), told]).toEqual([[true], []]);
  });
});
