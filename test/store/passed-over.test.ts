/** A session that is taken from its holder and locked anew, by the same store: closing it leaves nothing open. */
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore } from "windrow/store";
import { sessionStore, systemClock } from "windrow/store/author";
import type { Clock } from "windrow/store/author";
import { systemArchives } from "../kit/inside/disk.ts";
import type { Disk } from "../kit/inside/disk.ts";
import { everybody, filesEngine, messageRecord, sessionWith, stateOf, texts } from "../kit/inside/store.ts";
import { temporaryFolder } from "../kit/stores.ts";
import { point } from "./stage.ts";
import { driver } from "../kit/sqlite-stores.ts";

let folder: string;
beforeEach(async () => void (folder = await temporaryFolder()));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Files of the store that this process has open. */
function openFiles(): readonly string[] {
  const links = readdirSync("/proc/self/fd").flatMap((name) => {
    const path = `/proc/self/fd/${name}`;
    return existsSync(path) ? [readlinkSync(path)] : [];
  });
  return links.filter((path) => path.startsWith(folder));
}

it.runIf(process.platform === "linux").each(driver ? ["files", "sqlite"] : ["files"])("%s", async (kind) => {
  const running = new Set<symbol>();
  const clock: Clock = {
    now: () => Date.now(),
    every() {
      const timer = Symbol("timer");
      running.add(timer);
      return () => void running.delete(timer);
    },
  };
  const address = kind === "files" ? folder : `sqlite:${join(folder, "contexts.db")}`;
  const store = await openStore(address, { clock });
  const first = await sessionWith(store, 2);
  await store.holding.unlock(everybody, first.id, { force: true, reason: "it hangs" });
  const second = await store.lock(everybody, first.id);
  await store.append(second, [messageRecord("three")]);
  await store.close();
  // A SQLite library may close its files later.
  expect(kind === "files" ? openFiles() : []).toEqual([]);
  expect(running.size).toBe(0);
  await first.release();

  const later = await openStore(address);
  expect(await texts(later, first.id)).toHaveLength(3);
  await later.close();
});

it("an append under way says that the session was taken, since the log of the next holder may have its line", async () => {
  const [syncing, taken] = [point(), point()];
  let isTested = false;
  const disk: Disk = {
    ...systemArchives,
    async syncData(file) {
      if (isTested) syncing.reach();
      if (isTested) await taken.reached;
      return systemArchives.syncData(file);
    },
  };
  const store = sessionStore(filesEngine(folder, { durability: "strict", clock: systemClock, disk }));
  const other = await openStore(folder);
  const lock = await sessionWith(store, 1);
  isTested = true;
  const append = store.append(lock, [messageRecord("2")]);
  await syncing.reached;
  await other.holding.unlock(everybody, lock.id, { force: true, reason: "it hangs" });
  await store.info(everybody, lock.id);
  taken.reach();
  await expect(append).rejects.toMatchObject({ code: "fenced" });
  expect(await texts(other, lock.id)).toEqual(["1", "2"]);
  await store.close();
  await other.close();
  expect(openFiles()).toEqual([]);
});

it("leaves the state as it is if it happens while the holder writes it", async () => {
  let path: string | undefined;
  const disk: Disk = {
    ...systemArchives,
    openLater(draft, flags, mode) {
      if (path !== undefined && draft.includes("state.json")) {
        writeFileSync(path, readFileSync(path, "utf8").replace('"generation":1,', '"generation":2,'), { flag: "r+" });
      }
      return systemArchives.openLater(draft, flags, mode);
    },
  };
  const store = sessionStore(filesEngine(folder, { durability: "strict", clock: systemClock, disk }));
  const lock = await sessionWith(store, 1);
  const state = join(folder, "running", lock.id, "state.json");
  const before = readFileSync(state);
  path = join(folder, "running", lock.id, ".lock");
  await expect(store.setState(lock, stateOf("processing"))).rejects.toMatchObject({ code: "fenced" });
  expect(readFileSync(state)).toEqual(before);
  await store.close();
});
