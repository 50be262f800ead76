import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "windrow/store/author";
import { systemDisk } from "../kit/inside/disk.ts";
import { everybody, filesStore, messageRecord, sessionWith, texts } from "../kit/inside/store.ts";
import { temporaryFolder } from "../kit/stores.ts";

let folder: string;
let timers: { readonly milliseconds: number; readonly run: () => void }[];
let failing: number;
let synced: number;

const clock: Clock = {
  now: () => Date.parse("2024-01-15T10:30:00.000Z"),
  every(milliseconds, run) {
    const timer = { milliseconds, run };
    timers.push(timer);
    return () => void (timers = timers.filter((one) => one !== timer));
  },
};

const disk = {
  ...systemDisk,
  async syncData(file: number) {
    if (failing > 0) {
      failing -= 1;
      throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
    }
    await systemDisk.syncData(file);
    synced += 1;
  },
};

beforeEach(async () => {
  folder = await temporaryFolder();
  [timers, failing, synced] = [[], 0, 0];
});
afterEach(() => systemDisk.removeTree(folder));

function elapse(milliseconds: number): void {
  for (const timer of timers.filter((one) => one.milliseconds === milliseconds)) timer.run();
}

it("group: an append is acknowledged at once, and one sync follows within 20 ms for all of them", async () => {
  const store = filesStore({ folder, durability: "group", clock }, { disk });
  const lock = await sessionWith(store, 0);
  await store.append(lock, [messageRecord("1")]);
  await store.append(lock, [messageRecord("2")]);
  expect(synced).toBe(0);
  elapse(20);
  await store.append(lock, []);
  await new Promise((resolve) => setImmediate(resolve));
  await lock.release();
  expect(synced).toBeGreaterThan(0);
  expect(timers.filter((one) => one.milliseconds === 20)).toEqual([]);
  await store.close();
});

it("group: what was acknowledged before a sync that failed is written anew before the next append", async () => {
  const store = filesStore({ folder, durability: "group", clock }, { disk });
  const lock = await sessionWith(store, 2);
  const path = `${folder}/running/${lock.id}/messages.jsonl`;
  const before = systemDisk.statPath(path).ino;
  failing = 1;
  elapse(20);
  await new Promise((resolve) => setImmediate(resolve));
  await store.append(lock, [messageRecord("3")]);
  expect(systemDisk.statPath(path).ino).not.toBe(before);
  await store.close();
  const again = filesStore({ folder });
  expect((await again.lock(everybody, lock.id)).recovery).toEqual([]);
  expect(await texts(again, lock.id)).toEqual(["1", "2", "3"]);
  await again.close();
});
