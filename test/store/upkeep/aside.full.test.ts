/** What a doctor takes out of a session is that session's owner's; copies of an id in several folders; folders that are closed. */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Scope, Store } from "windrow";
import { doctor, erase } from "windrow/ops";
import { everybody, refused } from "../../kit/inside/store.ts";
import { newFolder, removeFolders } from "../archive/kinds.ts";
import { finished, opened } from "../stage.ts";

const ann: Scope = { tenant: "alpha", user: "ann" };

const finishedOf = (store: Store, scope: Scope = ann, uuid?: string): Promise<string> => finished(store, scope, uuid);

afterAll(removeFolders);

describe("what a doctor takes out of a session in a folder", () => {
  it("goes with it, and with nobody else's of the same id", async () => {
    const folder = join(await newFolder(), "store");
    const store = await opened(folder);
    const id = await finishedOf(store);
    const path = join(folder, "completed", id);
    await writeFile(join(path, "state.json"), "{");
    await writeFile(join(path, ".state.json.4194305.1.tmp"), "secret");
    await doctor(store, { mend: true });
    const [stamp = ""] = await readdir(join(folder, "aside"));
    const aside = join(folder, "aside", stamp, "completed", id);
    expect((await readdir(aside)).toSorted()).toEqual([".state.json.4194305.1.tmp", "aside.json", "state.json"]);
    expect(JSON.parse(await readFile(join(aside, "aside.json"), "utf8"))).toEqual({ user: "ann", tenant: "alpha" });
    // The session itself goes elsewhere, and another of its id comes.
    await rename(path, join(folder, "elsewhere"));
    const bob = { tenant: "alpha", user: "bob" };
    const anew = await opened(folder);
    await finishedOf(anew, bob, id);
    await anew.upkeep!.erase(bob, [id]);
    expect(await readdir(aside)).toContain("state.json");
    await anew.upkeep!.erase(ann, [id]);
    expect(await readdir(join(folder, "aside", stamp, "completed"))).toEqual([]);
  });
});

describe("a store of folders for each user, whose sessions lay in one folder before", () => {
  async function namesakes() {
    const folder = join(await newFolder(), "store");
    const before = await opened(folder);
    const id = await finishedOf(before);
    await before.upkeep!.trash(ann, [id], "2026-01-01T00:00:00.000Z");
    const store = await opened(folder, { folderPerUser: true });
    await finishedOf(store, ann, id);
    return { folder, store, id, user: join(folder, "users", "ann") };
  }

  it("erases all copies of an id, and says so", async () => {
    const { folder, store, id, user } = await namesakes();
    const [receipt] = await erase(store, [id], { scope: ann });
    for (const what of ["session", "trash"]) {
      expect(receipt?.places.some(({ kind, count }) => kind === what && count > 0)).toBe(true);
    }
    expect([await readdir(join(folder, "trash")), await readdir(join(user, "completed"))]).toEqual([[], []]);
    await expect(erase(store, [id], { scope: ann })).rejects.toMatchObject({ code: "session-not-found" });
  });

  it("erases nothing where one of the copies is refused", async () => {
    const { folder, store, id } = await namesakes();
    const alone = store.upkeep!.erase(ann, [id], undefined, { trashAlone: true });
    await expect(alone).rejects.toMatchObject({ code: "session-exists" });
    await store.upkeep!.keep(ann, id, { keptAt: "2026-01-01T00:00:00.000Z" });
    await expect(store.upkeep!.erase(ann, [id])).rejects.toMatchObject({ code: "bad-option" });
    expect(await readdir(join(folder, "trash"))).toEqual([id]);
  });

  it("brings none back beside another, and puts none beside another into the trash", async () => {
    const { folder, store, id, user } = await namesakes();
    await expect(store.upkeep!.untrash(ann, id)).rejects.toMatchObject({ code: "session-exists" });
    await refused(() => store.upkeep!.trash(ann, [id], "2026-01-02T00:00:00.000Z"), "bad-option");
    expect([await readdir(join(folder, "trash")), await readdir(join(user, "completed"))]).toEqual([[id], [id]]);
  });

  it("puts aside what is damaged, and erases what lies aside in any of the folders", async () => {
    const { folder, store, id, user } = await namesakes();
    await store.upkeep!.erase(ann, [id]);
    const aside = join(folder, "aside", "20260101T000000000Z", "completed");
    await mkdir(aside, { recursive: true });
    await finishedOf(store, ann, id);
    await rename(join(user, "completed", id), join(aside, id));
    await store.upkeep!.erase(ann, [id]);
    expect(await readdir(aside)).toEqual([]);
    const other = await finishedOf(store, { user: "ann" });
    await writeFile(join(user, "completed", other, "metadata.json"), "{");
    expect(await store.upkeep!.putAside!(everybody, other)).toContain("aside");
  });
});

describe("a store of folders for each user, of which one is closed to the process", () => {
  it("asks a user's own folder alone, and that of all", async () => {
    const [folder, bob] = [join(await newFolder(), "store"), { tenant: "alpha", user: "bob" }];
    const store = await opened(folder, { folderPerUser: true });
    const [id, other] = [await finishedOf(store), await finishedOf(store, bob)];
    for (const name of ["aside", "erasing", "trash"]) await writeFile(join(folder, "users", "bob", name), "no folder");
    const left = await finishedOf(store);
    await store.upkeep!.trash(ann, [left], "2026-01-01T00:00:00.000Z");
    expect(await erase(store, [id, left], { scope: ann })).toHaveLength(2);
    await expect(erase(store, [other], { scope: bob })).rejects.toMatchObject({ code: "store-unavailable" });
  });
});
