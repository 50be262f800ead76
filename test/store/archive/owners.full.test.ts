/** Objects of sessions of one id: of two owners in a store of an earlier version, and of archivings that were refused. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope } from "windrow";
import { createMask, folderArchive } from "windrow/store";
import { archivedStore, everybody, readAll, trashed } from "../../kit/inside/store.ts";
import { refused } from "../../kit/inside/store.ts";
import { over } from "../../kit/stores.ts";
import { runSql } from "../damaged.ts";
import { newFolder, objectsIn, storeKinds } from "./kinds.ts";
import { closing, finished, opened, point } from "../stage.ts";

const now = "2026-01-01T00:00:00.000Z";
const [ann, bob]: [Scope, Scope] = [{ user: "ann" }, { user: "bob" }];

/** Writes another owner into the session in the trash, as no call of a store does. */
async function disown(address: string, id: string, from: string, to: string): Promise<void> {
  if (!address.startsWith("postgres")) {
    const path = join(address, "trash", id, "metadata.json");
    return writeFileSync(path, readFileSync(path, "utf8").replace(`"${from}"`, `"${to}"`));
  }
  const change = `SET "user" = '${to}', metadata = replace(metadata, '"${from}"', '"${to}"')`;
  await runSql(address, `UPDATE SCHEMA.session ${change} WHERE id = '${id}' AND trashed_at IS NOT NULL`);
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`the objects of ${kind.name}`, () => {
    /** The session of one owner in the trash, and that of another in the store, both archived. */
    async function namesakes() {
      const [address, archive] = [await kind.address(), await newFolder()];
      const store = await opened(address, { archive });
      const id = await finished(store, ann);
      await store.archiving!.archive(ann, id);
      const [annsObject = ""] = objectsIn(archive);
      await store.upkeep!.trash(ann, [id], now);
      await disown(address, id, "ann", "bob");
      await finished(store, bob, id);
      await disown(address, id, "bob", "ann");
      await store.archiving!.archive(bob, id);
      const bobsObject = objectsIn(archive).find((name) => name !== annsObject) ?? "";
      return { store, id, archive, annsObject, bobsObject };
    }

    it.runIf(kind.name === "files")("stay where a session of the same id, which is another's, is erased", async () => {
      const { store, id, archive, annsObject, bobsObject } = await namesakes();
      await store.upkeep!.erase(ann, [id]);
      expect(objectsIn(archive)).toEqual([bobsObject]);
      expect(annsObject).not.toBe("");
      expect(await readAll(store, id, { kind: "message" }, bob)).toHaveLength(1);
      await store.upkeep!.erase(bob, [id]);
      expect(objectsIn(archive)).toEqual([]);
    });

    it.runIf(kind.name === "files")(
      "stay where their head cannot be read and a session of another names them; others go",
      async () => {
        const { store, id, archive, annsObject, bobsObject } = await namesakes();
        for (const object of [annsObject, bobsObject]) writeFileSync(join(archive, object), "damaged");
        await store.upkeep!.erase(bob, [id]);
        expect(objectsIn(archive)).toEqual([annsObject]);
        expect((await trashed(store.upkeep!, ann)).map(({ sessionId }) => sessionId)).toEqual([id]);
        await store.upkeep!.erase(ann, [id]);
        expect(objectsIn(archive)).toEqual([]);
      },
    );

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
      const [id, upkeep] = [await finished(other), other.upkeep!];
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
      const id = await finished(other, everybody);
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
        await other.upkeep!.keep(everybody, one, { keptAt: now });
      });
      await expect(slow.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "bad-option" });
      await other.upkeep!.unkeep(everybody, id);
      mayGoOn.reach();
      await late;
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
      expect(objectsIn(archive).length).toBeLessThan(2);
    });

    it("are looked for in the trash by the id alone where a session is brought back", async () => {
      const [address, archive] = [await kind.address(), await newFolder()];
      const behind = await opened(address);
      const asked: (string | undefined)[] = [];
      const upkeep = over(behind.upkeep!, {
        trashed(scope, id) {
          asked.push(id);
          return behind.upkeep!.trashed(scope, id);
        },
      });
      const watched = over(behind, { upkeep });
      const store = closing(archivedStore(watched, folderArchive(archive), { mask: createMask() }));
      const id = await finished(behind, everybody);
      await store.archiving!.archive(everybody, id);
      await store.archiving!.unarchive(everybody, id);
      expect(asked).toEqual([id]);
    });
  });
}
