/** Erasures that were begun while the archive was out of reach. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/access/open.ts";
import { cleanup } from "../../../src/ops/cleanup/cleanup.ts";
import { erase } from "../../../src/ops/cleanup/erase.ts";
import { folderArchive } from "../../../src/store/shared/archive/bucket.ts";
import { everybody, messageRecord, newSession, stateOf } from "../../../src/store/testing/kit.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFolder, storeKinds } from "./kinds.ts";

async function finished(store: Store): Promise<string> {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an erasure in ${kind.name} whose archive was out of reach`, () => {
    async function begun() {
      const [address, folder] = [await kind.address(), await newFolder()];
      const objects = (): readonly string[] =>
        (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith(".gz"));
      const bucket = folderArchive(folder);
      let isAway = true;
      const store = await openStore(address, {
        archive: {
          ...bucket,
          list(prefix) {
            if (isAway) throw new Error("the archive cannot be reached");
            return bucket.list(prefix);
          },
        },
      });
      const bare = await openStore(address);
      const [id, trashed] = [await finished(store), await finished(store)];
      for (const one of [id, trashed]) await store.archiving!.archive(everybody, one);
      await store.upkeep!.trash(everybody, [trashed], new Date().toISOString());
      for (const one of [id, trashed]) await expect(erase(store, [one])).rejects.toThrow("cannot be reached");
      return { store, bare, ids: [id, trashed], objects, back: () => (isAway = false) };
    }

    it("is ended by none that does not name the archive, unless it names the session", async () => {
      const { store, bare, ids, objects, back } = await begun();
      const other = await finished(bare);
      expect((await erase(bare, [other])).map(({ sessionId }) => sessionId)).toEqual([other]);
      expect(await cleanup(bare)).toMatchObject({ erased: [], failures: [] });
      await bare.checkup!.rebuildIndex();
      const mended = [];
      for await (const { findings } of bare.checkup!.examine({ mend: true })) mended.push(...findings);
      expect(mended.filter(({ severity }) => severity === "damage")).toEqual([]);
      const unerased = (await store.upkeep!.unerased(everybody)).map(({ sessionId }) => sessionId);
      expect(unerased.toSorted()).toEqual(ids.toSorted());
      expect(objects()).toHaveLength(2);
      back();
      const { erased } = await cleanup(store);
      expect(erased.map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted());
      expect(erased.every(({ resumed }) => resumed)).toBe(true);
      expect([objects(), await store.upkeep!.unerased(everybody)]).toEqual([[], []]);
      for (const one of [store, bare]) await one.close();
    });

    it("is ended in the store where the session is named without it", async () => {
      const { store, bare, ids, objects } = await begun();
      expect((await erase(bare, ids)).map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted());
      expect(await store.upkeep!.unerased(everybody)).toEqual([]);
      for (const id of ids) await expect(erase(bare, [id])).rejects.toMatchObject({ code: "session-not-found" });
      expect(objects()).toHaveLength(2);
      for (const one of [store, bare]) await one.close();
    });
  });
}
