/** A doctor of a store with an archive: the objects are examined, and a backup helps where one is damaged. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WindrowError } from "windrow";
import type { Scope } from "windrow";
import { backup, doctor, restore } from "windrow/ops";
import { folderArchive } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { finishedSession, readAll } from "../../kit/inside/store.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { opened } from "../stage.ts";

const owners: readonly Scope[] = [{}, { user: "me" }, { tenant: "alpha", user: "me" }];

const objectOf = (archive: string, id: string): string =>
  join(archive, objectsIn(archive).find((name) => name.includes(id)) ?? "none");

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`a doctor of ${kind.name} with an archive`, () => {
    it.each(owners)("names the damaged and the missing object of %o, and a backup helps", async (owner) => {
      const [address, archive, backups] = [await kind.address(), await newFolder(), await newFolder()];
      const store = await opened(address, { archive });
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) {
        const id = await finishedSession(store, owner);
        await store.archiving!.archive(owner, id);
        ids.push(id);
      }
      const scope = owner.tenant === undefined ? {} : { tenant: owner.tenant };
      await backup(store, backups, { scope });
      expect((await doctor(store)).findings).toEqual([]);
      const [damaged = "", gone = ""] = ids;
      writeFileSync(objectOf(archive, damaged), "damaged");
      rmSync(objectOf(archive, gone));
      const found = await doctor(store);
      const about = { problem: "object-damaged", severity: "damage", remedy: "backup", mended: false };
      expect(found.findings).toHaveLength(2);
      for (const sessionId of [damaged, gone])
        expect(found.findings).toContainEqual(expect.objectContaining({ ...about, sessionId }));
      expect(found.restore.toSorted()).toEqual([damaged, gone].toSorted());
      const plain = await opened(address);
      expect((await doctor(plain)).findings).toEqual([]);
      expect(await restore(backups, store, { ids: [damaged, gone], replace: true })).toMatchObject({ restored: 2 });
      expect((await doctor(store)).findings).toEqual([]);
      for (const id of ids) expect(await readAll(store, id, { kind: "message" }, owner)).toHaveLength(1);
    });

    it("asks for three objects of an archive that is away, examines all else, and calls nothing healthy", async () => {
      const { store, ids, fail, asked } = await withObjects(5);
      for (const id of ids) fail.add(id);
      const { findings, before, open } = await doctor(store);
      const unreachable = { problem: "object-unreachable", severity: "damage", remedy: "hand", mended: false };
      expect(findings).toMatchObject([unreachable, unreachable, unreachable]);
      expect([before.sessions, open, asked()]).toEqual([5, 3, 3]);
    });

    it("goes on behind an object that the archive does not give", async () => {
      const { store, ids, fail } = await withObjects(3);
      for (const id of ids.slice(0, 2)) fail.add(id);
      const { findings } = await doctor(store);
      expect(new Set(findings.map(({ sessionId }) => sessionId))).toEqual(fail);
    });

    /** Archived sessions, in a bucket that fails for some of them. */
    async function withObjects(count: number) {
      const [address, bucket] = [await kind.address(), folderArchive(await newFolder())];
      const [fail, ids] = [new Set<string>(), [] as string[]];
      let asked = 0;
      const get: ArchiveBucket["get"] = async (key) => {
        if (ids.length === count) asked++;
        if ([...fail].some((id) => key.includes(id))) throw new WindrowError("store-unavailable", "away", {});
        return bucket.get(key);
      };
      const store = await opened(address, { archive: { ...bucket, get } });
      while (ids.length < count) {
        const id = await finishedSession(store);
        await store.archiving!.archive({}, id);
        ids.push(id);
      }
      return { store, ids, fail, asked: () => asked };
    }
  });
}
