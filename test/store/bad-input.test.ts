import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { systemDisk } from "../kit/inside/disk.ts";
import { everybody, filesStore, listAll, newSession, sessionWith, texts } from "../kit/inside/store.ts";
import { closing, filesFixture, opened } from "../kit/stores.ts";

let fixture: Awaited<ReturnType<typeof filesFixture>>;
beforeEach(async () => void (fixture = closing(await filesFixture())));

describe("bad input", () => {
  it.each([
    ["ram:", null, "openStore takes an object of options, not null."],
    ["ram:", "strict", 'openStore takes an object of options, not "strict".'],
    ["ram:", { mask: true }, "openStore: `mask` is a mask that createMask made, not true."],
    ["ram:", { mask: { values: {} } }, "openStore: `mask` is a mask that createMask made, not an object."],
    ["ram:", { create: "no" }, 'openStore: `create` is true or false, not "no".'],
    [{ path: "./contexts" }, {}, "This object is no Store"],
    [Promise.resolve("ram:"), {}, "This object is no Store"],
  ])("openStore(%o, %o) is refused with its mend", async (target, options, message) => {
    await expect(openStore(target as never, options as never)).rejects.toMatchObject({
      code: "bad-option",
      message: expect.stringContaining(message) as string,
    });
  });

  it("a base folder that is a file, or whose parent is one, is unavailable, and nothing is left behind", async () => {
    const file = join(fixture.folder, "file");
    await writeFile(file, "x");
    for (const folder of [file, join(file, "below")]) {
      await expect(sessionWith(filesStore({ folder }), 0)).rejects.toMatchObject({ code: "store-unavailable" });
    }
    expect(await readdir(fixture.folder)).toEqual(["file"]);
  });

  it.skipIf(process.platform !== "linux")("a folder that the system refuses is unavailable", async () => {
    const store = filesStore({ folder: "/proc/windrow/contexts" });
    await expect(sessionWith(store, 0)).rejects.toMatchObject({ code: "store-unavailable" });
  });

  it("a system that fails in the middle of a creation leaves no half session", async () => {
    const session = newSession();
    const sync = (): Promise<void> => Promise.reject(Object.assign(new Error("no more"), { code: "EIO" }));
    await fixture.store.close();
    await (await sessionWith(filesStore({ folder: fixture.folder }), 0)).release();
    const before = await readdir(join(fixture.folder, "running"));
    const store = filesStore({ folder: fixture.folder }, { disk: { ...systemDisk, sync } });
    await expect(store.create(everybody, session)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(await readdir(join(fixture.folder, "running"))).toEqual(before);
  });

  it("an unreadable metadata.json is told, and the other sessions are listed", async () => {
    const [bad, good] = [await sessionWith(fixture.store, 1), await sessionWith(fixture.store, 1)];
    await writeFile(join(fixture.folder, "running", bad.id, "metadata.json"), "{");
    await expect(fixture.store.info(everybody, bad.id)).rejects.toMatchObject({ code: "store-corrupt" });
    expect((await listAll(fixture.store)).map((one) => one.metadata.uuid)).toEqual([good.id]);
  });

  it("a misspelled option is refused by name", () => {
    expect(() => filesStore({ folder: "x", durabilty: "strict" } as never)).toThrow(/"durabilty".*"durability"/);
    expect(() => filesStore({ folder: "x", durability: "often" as never })).toThrow(/"strict" or "group"/);
    expect(() => filesStore({ folder: "x", blocking: true } as never)).toThrow(/no option "blocking"/);
  });

  it("openStore knows paths, file: and ram:, and refuses others by name", async () => {
    expect((await openStore("ram:")).name).toBe("ram");
    expect((await openStore("./contexts")).name).toBe("files");
    expect((await openStore("file:./contexts")).name).toBe("files");
    expect(await openStore(fixture.store)).toBe(fixture.store);
    await expect(openStore("flie:./contexts")).rejects.toMatchObject({
      code: "unknown-store",
      message: expect.stringContaining('"file"') as string,
    });
    const same = await opened(`file://${fixture.folder}`);
    const lock = await sessionWith(fixture.store, 2);
    expect(await texts(same, lock.id)).toEqual(["1", "2"]);
  });
});
