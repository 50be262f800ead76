/** Objects of tenants whose names are no names of files. */
import { describe, expect, it } from "vitest";
import { finishedSession, readAll } from "../../kit/inside/store.ts";
import { newArchive, objectsIn, storeKinds } from "./kinds.ts";
import { opened } from "../stage.ts";

const tenants = [
  ["of 28 characters that are nine bytes each", "株式会社".repeat(7)],
  ["longer than a name of a file", "x".repeat(260)],
  ["longer than a name of an object", "x".repeat(2_000)],
  ["of two points", ".."],
  ["with a slash", "Ünï/cö de"],
] as const;

for (const kind of storeKinds()) {
  describe.skipIf(!kind.isHere)(`an archive beside ${kind.name}, and a tenant`, () => {
    const some = kind.name === "files" ? tenants : tenants.filter(([, tenant]) => tenant.isWellFormed());
    it.each(some)("%s is archived, read and erased", async (_how, tenant) => {
      const [scope, archive] = [{ tenant }, await newArchive()];
      const store = await opened(await kind.address(), { archive });
      const [lies, goes] = [await finishedSession(store, scope), await finishedSession(store, scope)];
      expect((await store.archiving!.archive(scope, goes)).outcome).toBe("archived");
      expect(objectsIn(archive)).toHaveLength(1);
      expect(await readAll(store, goes, { kind: "message" }, scope)).toHaveLength(1);
      const [erased] = await store.upkeep.erase(scope, [lies, goes]);
      const counts = erased?.places.filter((one) => one.kind === "archive").map(({ count }) => count);
      expect([counts, objectsIn(archive)]).toEqual([[0, 1], []]);
      expect(await store.upkeep.unerased(scope)).toEqual([]);
      await expect(store.info(scope, lies)).rejects.toMatchObject({ code: "session-not-found" });
    });
  });
}
