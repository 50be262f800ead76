import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { register } from "../../src/conformance.ts";
import { messageRecord, sessionWith, texts } from "../../src/store/testing/kit.ts";
import { storeConformance } from "../../src/store/testing/conformance.ts";
import { systemDisk } from "../../src/disk/disk.ts";
import type { Disk } from "../../src/disk/disk.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { openStore } from "../../src/access/open.ts";
import { filesFixture, temporaryFolder } from "./fixtures.ts";

describe("files, blocking", () => {
  const capabilities = { durable: true, shared: true, transfer: true };
  register(
    storeConformance(capabilities, () => filesFixture({ blocking: true })),
    { describe, it },
  );
});

describe("a store that syncs on the calling thread", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));

  const syncs = { now: 0, later: 0, failing: 0 };
  const disk: Disk = {
    ...systemDisk,
    syncDataNow(file) {
      syncs.now += 1;
      if (syncs.failing > 0) {
        syncs.failing -= 1;
        throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
      }
      systemDisk.syncDataNow(file);
    },
    syncData(file) {
      syncs.later += 1;
      return systemDisk.syncData(file);
    },
  };

  it("syncs each append there, and what comes at once with one sync", async () => {
    const store = filesStore({ folder, blocking: true }, { disk });
    const lock = await sessionWith(store, 1);
    Object.assign(syncs, { now: 0, later: 0 });
    await store.append(lock, [messageRecord("2")]);
    expect(syncs).toMatchObject({ now: 1, later: 0 });
    await Promise.all(Array.from({ length: 50 }, (_, index) => store.append(lock, [messageRecord(`${index + 3}`)])));
    expect(syncs).toMatchObject({ now: 2, later: 0 });
    expect(await texts(store, lock.id)).toHaveLength(52);
    await store.close();
  });

  it("acknowledges nothing of a sync that fails, and takes it back", async () => {
    const store = filesStore({ folder, blocking: true }, { disk });
    const lock = await sessionWith(store, 2);
    syncs.failing = 1;
    await expect(store.append(lock, [messageRecord("lost")])).rejects.toMatchObject({ code: "not-durable" });
    await store.append(lock, [messageRecord("3")]);
    await store.close();
    const again = await openStore(folder, { blocking: true });
    expect(await texts(again, lock.id)).toEqual(["1", "2", "3"]);
    expect((await again.lock({}, lock.id)).recovery).toEqual([]);
    await again.close();
  });

  it("takes no other value for it than true and false", () => {
    expect(() => filesStore({ folder, blocking: "yes" as never })).toThrow(/"blocking" is true or false/);
  });
});
