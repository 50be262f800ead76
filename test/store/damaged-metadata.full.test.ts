/** Sessions whose metadata cannot be read: whose they are, and what can still be done with them. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { backup, cleanup, doctor, restore } from "windrow/ops";
import { finishedSession, newSession, readAll, refused } from "../kit/inside/store.ts";
import { newFolder } from "./archive/kinds.ts";
import { damageMetadata } from "./damaged.ts";
import { storeKinds } from "./archive/kinds.ts";
import { opened } from "./stage.ts";

const [alpha, beta]: [Scope, Scope] = [{ tenant: "alpha" }, { tenant: "beta" }];
const time = "2026-01-01T00:00:00.000Z";

const kinds = storeKinds().filter(({ isHere }) => isHere);

describe.each(kinds)("a session of $name whose metadata is damaged", (kind) => {
  /** A session of each tenant, whose id the other one had, or asked for. */
  const ways: Readonly<Record<string, (store: Store, owner: Scope, other: Scope) => Promise<string>>> = {
    "that another tenant asked for": async (store, owner, other) => {
      const id = await finishedSession(store, owner);
      await refused(() => store.create(other, newSession({ uuid: id })), "session-exists");
      return id;
    },
    "that another tenant would restore": async (store, owner, other) => {
      const id = await finishedSession(store, owner);
      const dump = await store.transfer.dump(owner, id);
      const theirs = { ...dump, metadata: { ...dump.metadata, ...other } };
      await refused(() => store.transfer.restore(other, theirs), "session-exists");
      return id;
    },
    "whose namesake of another tenant lies in the trash of a refused one": async (store, owner, other) => {
      const id = await finishedSession(store, owner);
      await store.upkeep.trash(owner, [id], time);
      await refused(() => store.create(other, newSession({ uuid: id })), "session-exists");
      await store.upkeep.untrash(owner, id);
      return id;
    },
  };
  it.each(Object.entries(ways))("%s is mended for nobody but its owner", async (_name, made) => {
    const address = await kind.address();
    const store = await opened(address);
    for (const [owner, other] of [[alpha, beta] as const, [beta, alpha] as const]) {
      const id = await made(store, owner, other);
      await damageMetadata(address, id);
      await doctor(store, { mend: true });
      await refused(() => store.info(other, id), "session-not-found");
      // A folder that the index does not name is no tenant's.
      const readers = kind.name === "files" ? [owner, {}] : [owner];
      const read = (scope: Scope): Promise<number> =>
        readAll(store, id, { kind: "message" }, scope).then(
          ({ length }) => length,
          () => 0,
        );
      expect((await Promise.all(readers.map(read))).filter(Boolean)).toEqual([1]);
    }
  });

  // A folder whose metadata is damaged is no tenant's.
  it.each(kind.name === "files" ? [{}, { user: "me" }] : [{}, { user: "me" }, { tenant: "alpha", user: "me" }])(
    "of %o is replaced by that of a backup",
    async (owner: Scope) => {
      const address = await kind.address();
      const store = await opened(address);
      const id = await finishedSession(store, owner);
      const folder = join(await newFolder(), "backup");
      const scope = owner.tenant === undefined ? {} : { tenant: owner.tenant };
      await backup(store, folder, { scope });
      await damageMetadata(address, id);
      expect(await restore(folder, store, { replace: true })).toMatchObject({ restored: 1, failed: 0 });
      expect(await readAll(store, id, { kind: "message" }, owner)).toHaveLength(1);
    },
  );
});

describe.each(kinds)("a damaged session of $name", (kind) => {
  it("stays kept where that of a backup takes its place", async () => {
    const address = await kind.address();
    const store = await opened(address);
    const id = await finishedSession(store, {});
    await store.upkeep.keep({}, id, { keptAt: time, reason: "a case" });
    const folder = join(await newFolder(), "backup");
    await backup(store, folder);
    await damageMetadata(address, id);
    expect(await restore(folder, store, { replace: true })).toMatchObject({ restored: 1 });
    expect(await store.upkeep.kept({}, id)).toMatchObject({ reason: "a case" });
  });
});

describe.each(kinds.filter(({ name }) => name !== "files"))("a damaged session in the trash of $name", (kind) => {
  it("stops no clean-up of the others, and goes with them in time", async () => {
    const address = await kind.address();
    const store = await opened(address);
    const [damaged, other] = [await finishedSession(store, {}), await finishedSession(store, {})];
    await store.upkeep.trash({}, [damaged, other], time);
    await damageMetadata(address, damaged);
    await refused(() => store.upkeep.erase(beta, [damaged]), "session-not-found");
    const { failures, erased } = await cleanup(store, { remove: true });
    expect([failures, new Set(erased.map(({ sessionId }) => sessionId))]).toEqual([[], new Set([damaged, other])]);
    for (const { places } of erased)
      expect(places.some(({ kind: of, count }) => of === "trash" && count > 0)).toBe(true);
    await refused(() => store.upkeep.erase({}, [damaged]), "session-not-found");
  });

  it("is given to nobody else", async () => {
    const address = await kind.address();
    const store = await opened(address);
    const [mine, yours] = [{ user: "me" }, { user: "you" }];
    const trashed = await finishedSession(store, mine);
    await store.upkeep.trash(mine, [trashed], time);
    await damageMetadata(address, trashed);
    const taking = store.create(yours, newSession({ uuid: trashed }));
    await expect(taking).rejects.toMatchObject({ code: "session-exists" });
  });
});
