/** Objects of archivings that were refused. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { folderArchive } from "windrow/store";
import { everybody, finishedSession, readAll } from "../../kit/inside/store.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { opened } from "../stage.ts";

const now = "2026-01-01T00:00:00.000Z";

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`the objects of ${kind.name}`, () => {
    /** Two that archive one session: the first is slow between its object and the end. */
    async function two() {
      const [address, archive] = [await kind.address(), await newFolder()];
      const other = await opened(address, { archive });
      const bucket = folderArchive(archive);
      let meanwhile: ((id: string) => Promise<unknown>) | undefined;
      const slow = await opened(address, {
        archive: {
          ...bucket,
          async put(key, body) {
            await bucket.put(key, body);
            await meanwhile?.(key.split("/")[0] ?? "");
          },
        },
      });
      return { slow, other, archive, during: (work: typeof meanwhile) => void (meanwhile = work) };
    }

    it("go with an archiving that was refused because the session was kept meanwhile", async () => {
      const { slow, other, archive, during } = await two();
      const id = await finishedSession(other);
      during((one) => other.upkeep.keep(everybody, one, { keptAt: now }));
      // A store of files notes it beside the archiving.
      const [outcome] = await Promise.allSettled([slow.archiving!.archive(everybody, id)]);
      expect(objectsIn(archive)).toHaveLength(outcome.status === "fulfilled" ? 1 : 0);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
    });

    it("take no record away that another brings back just then", async () => {
      const { slow, other, archive, during } = await two();
      during(undefined);
      for (let round = 0; round < 12; round++) {
        const id = await finishedSession(other);
        const archiving = slow.archiving!.archive(everybody, id);
        for (let tries = 0; tries < 200 && !(await other.info(everybody, id)).state.archived; tries++) await nextTurn();
        await Promise.allSettled([archiving, other.archiving!.unarchive(everybody, id)]);
        expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
      }
      expect(objectsIn(archive).length).toBeLessThanOrEqual(12);
    });
  });
}
