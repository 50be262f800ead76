/** What a doctor finds unreadable in a session of a file store, and a damaged session that is put aside: both are erased. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Scope } from "windrow";
import { doctor, erase } from "windrow/ops";
import { finishedSession, refused } from "../../kit/inside/store.ts";
import { grep } from "../../kit/stores.ts";
import { newFolder, removeFolders } from "../archive/kinds.ts";
import { opened } from "../stage.ts";

const [ann, bob]: [Scope, Scope] = [
  { tenant: "alpha", user: "ann" },
  { tenant: "alpha", user: "bob" },
];

afterAll(removeFolders);

it("what a doctor finds unreadable stays with its session, and goes with it", async () => {
  const folder = join(await newFolder(), "store");
  const store = await opened(folder);
  const id = await finishedSession(store, ann);
  const path = join(folder, "completed", id);
  await writeFile(join(path, "metadata.json"), "{ SECRETTEXT");
  // A draft of a process that lives no more.
  await writeFile(join(path, ".state.json.4194305.1.tmp"), "SECRETTEXT");
  await doctor(store, { mend: true });
  expect(JSON.parse(await readFile(join(path, "mark.json"), "utf8"))).toMatchObject({
    mark: { unreadable: ["{ SECRETTEXT"] },
  });
  expect(existsSync(join(path, ".state.json.4194305.1.tmp"))).toBe(false);
  expect((await store.info(ann, id)).state.status).toBe("completed");
  await refused(() => erase(store, [id], { scope: bob }), "session-not-found");
  await erase(store, [id], { scope: ann });
  expect(await grep(folder, "SECRETTEXT")).toEqual([]);
});

it("a damaged session that is put aside is erased by the id that it had, for its owner", async () => {
  const folder = join(await newFolder(), "store");
  const store = await opened(folder);
  const id = await finishedSession(store, ann);
  await writeFile(join(folder, "completed", id, "metadata.json"), "{");
  const aside = await store.upkeep.putAside(ann, id);
  expect(aside).toBe(join(folder, "aside", basename(aside)));
  expect(basename(aside)).not.toBe(id);
  await refused(() => store.upkeep.erase(bob, [id]), "session-not-found");
  await store.upkeep.erase(ann, [id]);
  expect(existsSync(aside)).toBe(false);
});
