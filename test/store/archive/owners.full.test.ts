/** Objects of archivings that were refused. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { folderArchive } from "windrow/store";
import { everybody, finishedSession, readAll, refused } from "../../kit/inside/store.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { opened, point } from "../stage.ts";

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
            const how = await bucket.put(key, body);
            await meanwhile?.(key.split("/")[0] ?? "");
            return how;
          },
        },
      });
      return { slow, other, archive, during: (work: typeof meanwhile) => void (meanwhile = work) };
    }

    it.each(["kept", "trashed"])("go where the session was %s meanwhile, and come once it is not", async (how) => {
      const { slow, other, archive, during } = await two();
      const [id, upkeep] = [await finishedSession(other), other.upkeep];
      during((one) =>
        how === "kept" ? upkeep.keep(everybody, one, { keptAt: now }) : upkeep.trash(everybody, [one], now),
      );
      const code = how === "kept" ? "bad-option" : "session-not-found";
      await refused(() => slow.archiving!.archive(everybody, id), code);
      expect(objectsIn(archive)).toEqual([]);
      await (how === "kept" ? upkeep.unkeep(everybody, id) : upkeep.untrash(everybody, id));
      during(undefined);
      await slow.archiving!.archive(everybody, id);
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
    });

    it("are named by nobody who found one there before it went", async () => {
      const { slow, other, archive, during } = await two();
      const id = await finishedSession(other, everybody);
      const [hasPut, mayGoOn] = [point(), point()];
      let late: Promise<unknown> = Promise.resolve();
      during(async (one) => {
        // The other has the same object by now, and lets go of the records later.
        during(async () => {
          hasPut.reach();
          await mayGoOn.reached;
        });
        late = slow.archiving!.archive(everybody, one).catch((error: unknown) => error);
        await hasPut.reached;
        await other.upkeep.keep(everybody, one, { keptAt: now });
      });
      await expect(slow.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "bad-option" });
      await other.upkeep.unkeep(everybody, id);
      mayGoOn.reach();
      await late;
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
      expect(objectsIn(archive).length).toBeLessThan(2);
    });

    it("stay while a session that was put aside names them", async () => {
      const { slow, other, archive, during } = await two();
      const id = await finishedSession(other);
      during(async (one) => {
        await other.archiving!.archive(everybody, one);
        await other.upkeep.putAside(everybody, one);
      });
      await refused(() => slow.archiving!.archive(everybody, id), "session-not-found");
      expect(objectsIn(archive)).toHaveLength(1);
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
