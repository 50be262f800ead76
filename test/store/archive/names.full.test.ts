/** Objects of tenants whose names are no names of files. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import type { ArchiveBucket } from "windrow/store";
import { messageRecord, newSession, readAll, stateOf } from "../../kit/inside/store.ts";
import { newArchive, storeKinds } from "./kinds.ts";

const tenants = [
  ["of 28 characters that are nine bytes each", "株式会社".repeat(7)],
  ["longer than a name of a file", "x".repeat(260)],
  ["longer than a name of an object", "x".repeat(2_000)],
  ["of two points", ".."],
  ["with a slash", "Ünï/cö de"],
] as const;

const objectsIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"))
    : [];

async function finished(store: Store, scope: { readonly tenant: string }): Promise<string> {
  const lock = await store.create(scope, newSession());
  await store.append(lock, [messageRecord("one")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

/** A bucket in memory, which takes every name. */
function memoryBucket(): ArchiveBucket & { readonly objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>();
  return {
    objects,
    location: "memory:",
    async put(key, body) {
      if (objects.has(key)) return "there";
      objects.set(key, body);
      return "written";
    },
    get: async (key) => objects.get(key),
    async *list(prefix) {
      yield* [...objects.keys()].filter((key) => key.startsWith(prefix));
    },
    delete: async (key) => void objects.delete(key),
  };
}

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an archive beside ${kind.name}, and a tenant`, () => {
    const some = kind.name === "files" ? tenants : tenants.filter(([, tenant]) => tenant.isWellFormed());
    it.each(some)("%s is archived, read and erased", async (_how, tenant) => {
      const [scope, archive] = [{ tenant }, await newArchive()];
      const store = await openStore(await kind.address(), { archive });
      const [lies, goes] = [await finished(store, scope), await finished(store, scope)];
      expect((await store.archiving!.archive(scope, goes)).outcome).toBe("archived");
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await readAll(store, goes, { kind: "message" }, scope)).toHaveLength(1);
      const [erased] = await store.upkeep!.erase(scope, [lies, goes]);
      const counts = erased?.places.filter((one) => one.kind === "archive").map(({ count }) => count);
      expect([counts, objectsIn(archive)]).toEqual([[0, 1], []]);
      expect(await store.upkeep!.unerased(scope)).toEqual([]);
      await expect(store.info(scope, lies)).rejects.toMatchObject({ code: "session-not-found" });
      await store.close();
    });

    it("whose long name an object of an earlier version has is erased with that object", async () => {
      const [scope, archive] = [{ tenant: "x".repeat(300) }, memoryBucket()];
      const store = await openStore(await kind.address(), { archive });
      const id = await finished(store, scope);
      archive.objects.set(`tenant=${scope.tenant}/${id}/1-0.jsonl.gz`, Buffer.from("earlier"));
      await store.archiving!.archive(scope, id);
      const [erased] = await store.upkeep!.erase(scope, [id]);
      expect(erased?.places.find((one) => one.kind === "archive")?.count).toBe(2);
      expect([...archive.objects.keys()]).toEqual([]);
      await store.close();
    });
  });
}
