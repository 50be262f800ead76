/** Memory files: what an agent keeps, what may not be, and what erasing a session leaves of them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { MemoryFiles, MemoryLog } from "windrow/memory";
import { forgetByUser } from "../kit/inside/memory.ts";
import { ramStore } from "../kit/inside/store.ts";
import { everyRecord } from "./kit.ts";

it("keeps, changes, moves, deletes and lists files", async () => {
  const files = new MemoryFiles(ramStore(), { user: "ann" });
  await files.create("/memories/notes.md", "öne\ntwo\n");
  await files.create("/memories//project/./plan.md/", "build");
  await files.edit("/memories/notes.md", "replace", (text) => text.replace("two", "2"));
  await files.rename("/memories/project", "/memories/old/project");
  expect(await files.read("/memories/notes.md")).toBe("öne\n2\n");
  expect((await files.list()).map(({ path, bytes }) => [path, bytes])).toEqual([
    ["/memories/notes.md", 7],
    ["/memories/old/project/plan.md", 5],
  ]);
  expect(await files.delete("/memories/old")).toEqual(["/memories/old/project/plan.md"]);
  await expect(files.read("/memories/old/project/plan.md")).rejects.toMatchObject({ code: "not-found" });
  expect((await files.list("/memories/old")).length).toBe(0);
});

it.each([
  "/etc/passwd",
  "memories/a",
  "/memories/../etc/passwd",
  "/memories/a/../../b",
  "/memories/%2e%2e/b",
  "/memories/%2E%2E%2fb",
  "/memories\\..\\b",
  "/memories/a\u0000b",
  "/memoriesb",
  "/memories/..",
  "",
  5,
  null,
  `/memories/${"a".repeat(2_000)}`,
])("refuses a path outside the memory: %j", async (path) => {
  const files = new MemoryFiles(ramStore(), {});
  await expect(files.create(path as string, "x")).rejects.toMatchObject({ code: "bad-option" });
  expect(await files.list()).toEqual([]);
});

it("refuses what is there, a file in the place of a folder, too much and too many", async () => {
  const files = new MemoryFiles(ramStore(), {}, { maxBytes: 10, maxFiles: 2 });
  await files.create("/memories/a", "x");
  const bad = { code: "bad-option" };
  await expect(files.create("/memories/a", "y")).rejects.toMatchObject(bad);
  await expect(files.create("/memories/a/b", "y")).rejects.toMatchObject(bad);
  await expect(files.create("/memories/b", "ä".repeat(6))).rejects.toMatchObject(bad);
  await expect(files.edit("/memories/a", "insert", () => "x".repeat(11))).rejects.toMatchObject(bad);
  await files.create("/memories/b", "y");
  await expect(files.create("/memories/c", "z")).rejects.toMatchObject(bad);
  await expect(files.rename("/memories/a", "/memories/b")).rejects.toMatchObject(bad);
  await expect(files.delete("/memories")).rejects.toMatchObject(bad);
  await files.create("/memories/a", "again", { overwrite: true });
  expect(await files.read("/memories/a")).toBe("again");
});

it("loses no change of many writers", async () => {
  const store = ramStore();
  const numbers = Array.from({ length: 12 }, (_, at) => `${at};`);
  const add = (number: string): Promise<unknown> =>
    new MemoryFiles(store, {}).edit("/memories/a", "insert", (text) => text + number);
  await new MemoryFiles(store, {}).create("/memories/a", "");
  await Promise.all(numbers.map(add));
  const kept = await new MemoryFiles(store, {}).read("/memories/a");
  expect(kept.match(/\d+;/g)?.toSorted()).toEqual(numbers.toSorted());
});

it("are as they were before an erased session wrote them, whatever it and others did", async () => {
  const path = fc.constantFrom("/memories/a", "/memories/b", "/memories/c");
  const operation = fc.record({
    kind: fc.constantFrom("create", "overwrite", "append", "delete", "rename"),
    path,
    to: path,
    isErased: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 14 }), async (operations) => {
      const store = ramStore();
      const by = (isErased: boolean): MemoryFiles =>
        new MemoryFiles(store, {}, { sessionId: isErased ? "erased" : "stays" });
      for (const [at, { kind, path: from, to, isErased }] of operations.entries()) {
        const files = by(isErased);
        const text = isErased ? `canary${at};` : `fine${at};`;
        const work = {
          create: () => files.create(from, text),
          overwrite: () => files.create(from, text, { overwrite: true }),
          append: () => files.edit(from, "insert", (before) => before + text),
          delete: () => files.delete(from),
          rename: () => files.rename(from, to),
        }[kind] as () => Promise<unknown>;
        await work().catch(() => undefined);
      }
      await forgetByUser(store, {}, new Map([[undefined, ["erased"]]]));
      const { ids } = new MemoryLog(store, {}, "files");
      expect(JSON.stringify(await everyRecord(store, {}, ids))).not.toMatch(/canary|erased/);
      for (const { path: one } of await by(false).list()) expect(await by(false).read(one)).toMatch(/^(fine\d+;)+$/);
    }),
  );
});

it("moves nothing to a place that something else has taken", async () => {
  const files = new MemoryFiles(ramStore(), {});
  await files.create("/memories/a", "a file");
  await files.delete("/memories/a");
  await files.create("/memories/a/b", "below it");
  const bad = { code: "bad-option" };
  await expect(files.rename("/memories/a/b", "/memories")).rejects.toMatchObject(bad);
  await expect(files.rename("/memories/a/b", `/memories/${"x".repeat(1_014)}/b`)).rejects.toMatchObject(bad);
  await expect(files.create("/memories/", "the root")).rejects.toMatchObject(bad);
  expect((await files.list()).map(({ path }) => path)).toEqual(["/memories/a/b"]);
});

it("keeps no name of what an erased session wrote and another one deleted or moved", async () => {
  const store = ramStore();
  const erased = new MemoryFiles(store, {}, { sessionId: "erased" });
  const other = new MemoryFiles(store, {}, { sessionId: "other" });
  await erased.create("/memories/canary-1.md", "canary");
  await erased.create("/memories/canary-2.md", "canary");
  await other.delete("/memories/canary-1.md");
  await other.rename("/memories/canary-2.md", "/memories/moved.md");
  await other.create("/memories/own.md", "own");
  await forgetByUser(store, {}, new Map([[undefined, ["erased"]]]));
  const { ids } = new MemoryLog(store, {}, "files");
  expect(JSON.stringify(await everyRecord(store, {}, ids))).not.toMatch(/canary|erased/);
  expect((await other.list()).map(({ path }) => path)).toEqual(["/memories/own.md"]);
});
