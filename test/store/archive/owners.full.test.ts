/** Objects of sessions of one id: of two owners in a store of an earlier version, and of archivings that were refused. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { createMask, folderArchive, openStore } from "windrow/store";
import {
  archivedStore,
  everybody,
  inFrontOf,
  messageRecord,
  newSession,
  readAll,
  stateOf,
  storeShape,
  trashed,
} from "../../kit/inside/store.ts";
import { PgPool } from "../../kit/pg-pool.ts";
import { newFolder, storeKinds } from "./kinds.ts";

const now = "2026-01-01T00:00:00.000Z";
const [ann, bob]: [Scope, Scope] = [{ user: "ann" }, { user: "bob" }];

const objectsIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"))
    : [];

async function finished(store: Store, scope: Scope, uuid: string = newSession().uuid): Promise<string> {
  const lock = await store.create(scope, newSession({ uuid }));
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return uuid;
}

/** A point that work reaches. */
function point(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach };
}

/** Writes another owner into the session in the trash, as no call of a store does. */
async function disown(address: string, id: string, from: string, to: string): Promise<void> {
  if (!address.startsWith("postgres")) {
    const path = join(address, "trash", id, "metadata.json");
    return writeFileSync(path, readFileSync(path, "utf8").replace(`"${from}"`, `"${to}"`));
  }
  const url = new URL(address);
  const pool = new PgPool({ connectionString: address.split("?")[0]!, max: 1 });
  const sql = `UPDATE "${url.searchParams.get("schema")}".session SET "user" = $3, metadata = replace(metadata, $2, $4) WHERE id = $1 AND trashed_at IS NOT NULL`;
  await pool.query(sql, [id, `"${from}"`, to, `"${to}"`]);
  await pool.end();
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`the objects of ${kind.name}`, () => {
    /** The session of one owner in the trash, and that of another in the store, both archived. */
    async function namesakes() {
      const [address, archive] = [await kind.address(), await newFolder()];
      const store = await openStore(address, { archive });
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

    it("stay where a session of the same id, which is another's, is erased", async () => {
      const { store, id, archive, annsObject, bobsObject } = await namesakes();
      await store.upkeep!.erase(ann, [id]);
      expect(objectsIn(archive)).toEqual([bobsObject]);
      expect(annsObject).not.toBe("");
      expect(await readAll(store, id, { kind: "message" }, bob)).toHaveLength(1);
      await store.upkeep!.erase(bob, [id]);
      expect(objectsIn(archive)).toEqual([]);
      await store.close();
    });

    it("stay where their head cannot be read and a session of another names them; others go", async () => {
      const { store, id, archive, annsObject, bobsObject } = await namesakes();
      for (const object of [annsObject, bobsObject]) writeFileSync(join(archive, object), "damaged");
      await store.upkeep!.erase(bob, [id]);
      expect(objectsIn(archive)).toEqual([annsObject]);
      expect((await trashed(store.upkeep!, ann)).map(({ sessionId }) => sessionId)).toEqual([id]);
      await store.upkeep!.erase(ann, [id]);
      expect(objectsIn(archive)).toEqual([]);
      await store.close();
    });

    /** Two that archive one session: the first is slow between its object and the end. */
    async function two() {
      const [address, archive] = [await kind.address(), await newFolder()];
      const other = await openStore(address, { archive });
      const bucket = folderArchive(archive);
      let meanwhile: ((id: string) => Promise<unknown>) | undefined;
      const slow = await openStore(address, {
        archive: {
          ...bucket,
          async put(key, body) {
            const how = await bucket.put(key, body);
            await meanwhile?.(key.split("/")[0] ?? "");
            return how;
          },
        },
      });
      const close = async (): Promise<void> => void (await Promise.all([slow.close(), other.close()]));
      return { slow, other, archive, close, during: (work: typeof meanwhile) => void (meanwhile = work) };
    }

    it("go where the session was kept meanwhile, and it is archived once it is kept no more", async () => {
      const { slow, other, archive, close, during } = await two();
      const id = await finished(other, everybody);
      during((one) => other.upkeep!.keep(everybody, one, { keptAt: now }));
      await expect(slow.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "bad-option" });
      expect(objectsIn(archive)).toEqual([]);
      await other.upkeep!.unkeep(everybody, id);
      during(undefined);
      await slow.archiving!.archive(everybody, id);
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
      await close();
    });

    it("go where the session went into the trash meanwhile", async () => {
      const { slow, other, archive, close, during } = await two();
      const id = await finished(other, everybody);
      during((one) => other.upkeep!.trash(everybody, [one], now));
      await expect(slow.archiving!.archive(everybody, id)).rejects.toMatchObject({ code: "session-not-found" });
      expect(objectsIn(archive)).toEqual([]);
      await other.upkeep!.untrash(everybody, id);
      during(undefined);
      await slow.archiving!.archive(everybody, id);
      expect(await readAll(other, id, { kind: "message" })).toHaveLength(1);
      await close();
    });

    it("are named by nobody who found one there before it went", async () => {
      const { slow, other, archive, close, during } = await two();
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
      await close();
    });

    it("are looked for in the trash by the id alone where a session is brought back", async () => {
      const [address, archive] = [await kind.address(), await newFolder()];
      const behind = await openStore(address);
      const asked: (string | undefined)[] = [];
      const upkeep = {
        ...behind.upkeep!,
        trashed: (scope: Scope, id?: string) => {
          asked.push(id);
          return behind.upkeep!.trashed(scope, id);
        },
      };
      const watched: Store = { ...inFrontOf(behind, storeShape, (_name, _method, call) => call), upkeep };
      const store = archivedStore(watched, folderArchive(archive), { mask: createMask() });
      const id = await finished(behind, everybody);
      await store.archiving!.archive(everybody, id);
      await store.archiving!.unarchive(everybody, id);
      expect(asked).toEqual([id]);
      await behind.close();
    });
  });
}
