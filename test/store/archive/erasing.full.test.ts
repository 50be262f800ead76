/** Erasures that were begun while the archive was out of reach. */
import { describe, expect, it } from "vitest";
import { cleanup, erase } from "windrow/ops";
import { folderArchive } from "windrow/store";
import { everybody, finishedSession } from "../../kit/inside/store.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { examine, opened } from "../stage.ts";

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an erasure in ${kind.name} whose archive was out of reach`, () => {
    async function begun() {
      const [address, folder] = [await kind.address(), await newFolder()];
      const objects = (): readonly string[] => objectsIn(folder);
      const bucket = folderArchive(folder);
      let isAway = true;
      const store = await opened(address, {
        archive: {
          ...bucket,
          list(prefix) {
            if (isAway) throw new Error("the archive cannot be reached");
            return bucket.list(prefix);
          },
        },
      });
      const bare = await opened(address);
      const [id, trashed] = [await finishedSession(store), await finishedSession(store)];
      for (const one of [id, trashed]) await store.archiving!.archive(everybody, one);
      await store.upkeep.trash(everybody, [trashed], new Date().toISOString());
      for (const one of [id, trashed]) await expect(erase(store, [one])).rejects.toThrow("cannot be reached");
      return { store, bare, ids: [id, trashed], objects, back: () => (isAway = false) };
    }

    it("is ended by none that does not name the archive", async () => {
      const { store, bare, ids, objects, back } = await begun();
      const other = await finishedSession(bare);
      expect((await erase(bare, [other])).map(({ sessionId }) => sessionId)).toEqual([other]);
      expect(await cleanup(bare)).toMatchObject({ erased: [], failures: [] });
      await bare.checkup.rebuildIndex();
      const mended = (await examine(bare, true)).flatMap(({ findings }) => findings);
      expect(mended.filter(({ severity }) => severity === "damage")).toEqual([]);
      const unerased = (await store.upkeep.unerased(everybody)).map(({ sessionId }) => sessionId);
      expect(unerased.toSorted()).toEqual(ids.toSorted());
      expect(objects()).toHaveLength(2);
      // Nor by who names it: its text is there still.
      for (const id of ids) await expect(erase(bare, [id])).rejects.toMatchObject({ code: "session-archived" });
      back();
      const { erased } = await cleanup(store);
      expect(erased.map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted());
      expect(erased.every(({ resumed }) => resumed)).toBe(true);
      expect([objects(), await store.upkeep.unerased(everybody)]).toEqual([[], []]);
      for (const id of ids) await expect(erase(bare, [id])).rejects.toMatchObject({ code: "session-not-found" });
    });

    it("takes what was put aside of a session, once the archive is back", async () => {
      const { store, bare, objects, back } = await begun();
      const id = await finishedSession(store);
      await store.archiving!.archive(everybody, id);
      await store.upkeep.putAside(everybody, id);
      const before = objects().length;
      await expect(bare.upkeep.erase(everybody, [id])).rejects.toMatchObject({ code: "session-archived" });
      await expect(erase(store, [id])).rejects.toThrow("cannot be reached");
      expect((await bare.upkeep.unerased(everybody)).map(({ sessionId }) => sessionId)).not.toContain(id);
      await expect(bare.upkeep.erase(everybody, [id])).rejects.toMatchObject({ code: "session-archived" });
      expect(objects().length).toBe(before);
      back();
      await erase(store, [id]);
      expect([objects(), await store.upkeep.unerased(everybody)]).toEqual([[], []]);
    });
  });
}
