/** Upkeep on a disk that dies after any number of steps: what was begun is undone or ended by the next run. */
import { cp, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lock, Store } from "windrow";
import type { Upkeep } from "windrow/store/author";
import { systemDisk } from "../../kit/inside/disk.ts";
import type { Disk } from "../../kit/inside/disk.ts";
import { lastRecordAt, retire } from "../../kit/inside/ops.ts";
import {
  everybody,
  everyKind,
  filesStore,
  listAll,
  messageRecord,
  newSession,
  stateOf,
  texts,
  trashed,
} from "../../kit/inside/store.ts";
import { grep } from "../../kit/stores.ts";
import { temporaryFolder } from "../../kit/stores.ts";

const canary = "canary-7f3a";
const time = "2026-06-01T00:00:00.000Z";
const [files, folders] = [
  ["open", "openLater", "write", "sync", "setMode"] as const,
  ["makeFolder", "rename", "unlink", "removeTree"] as const,
];
const changing = [...files, ...folders];

/** A disk that does so many changing steps, and then nothing any more. */
function dyingDisk(steps: number): { readonly disk: Disk; readonly died: () => boolean } {
  let left = steps;
  const disk = { ...systemDisk } as Record<string, unknown>;
  for (const name of changing) {
    disk[name] = (...given: unknown[]) => {
      if (left <= 0) throw Object.assign(new Error("the process is dead"), { code: "EDEAD" });
      left -= 1;
      return (systemDisk[name] as (...all: unknown[]) => unknown)(...given);
    };
  }
  return { disk: disk as unknown as Disk, died: () => left <= 0 };
}

let template: string;
let id: string;
let atRest: string;
let closed: string;

beforeAll(async () => {
  /** A store with a session of four messages, which ends or comes to rest. */
  const filled = async (end: (store: Store, lock: Lock) => Promise<unknown>): Promise<[string, string]> => {
    const folder = await temporaryFolder();
    const store = filesStore({ folder, durability: "group" });
    const lock = await store.create(everybody, newSession());
    for (let round = 0; round < 3; round++) await store.append(lock, everyKind());
    await store.append(lock, [messageRecord(`${canary} `.repeat(20_000))]);
    await end(store, lock);
    await store.close();
    return [folder, lock.id];
  };
  [template, id] = await filled((store, lock) => store.finish(lock, stateOf("completed")));
  [atRest, closed] = await filled((store, lock) => store.setState(lock, stateOf("closed")).then(() => lock.release()));
});
afterAll(async () => {
  for (const folder of [template, atRest]) await rm(folder, { recursive: true, force: true });
});

/** The process that made the drafts is this one, which lives: they become those of a dead one that had its number. */
async function ageDrafts(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names) if (name.endsWith(".tmp")) await utimes(join(folder, name), 1, 1);
}

/** Runs work on a fresh copy with a disk that dies after each number of steps, until it no longer does. */
async function atEveryStep(
  prepare: (upkeep: Upkeep, store: Store) => Promise<unknown>,
  work: (upkeep: Upkeep, store: Store) => Promise<unknown>,
  check: (store: Store, folder: string) => Promise<void>,
  from = template,
): Promise<number> {
  for (let steps = 1; ; steps++) {
    const folder = await temporaryFolder();
    await cp(from, folder, { recursive: true });
    const sound = filesStore({ folder });
    await prepare(sound.upkeep, sound);
    const { disk, died } = dyingDisk(steps);
    const dying = filesStore({ folder }, { disk });
    await work(dying.upkeep, dying).catch(() => undefined);
    await dying.close().catch(() => undefined);
    await ageDrafts(folder);
    await check(sound, folder);
    await sound.close();
    await rm(folder, { recursive: true });
    if (!died()) return steps;
  }
}

const nothing = async (): Promise<void> => undefined;

/** A session can be locked, has its four messages, and takes another one. */
async function goesOn(store: Store, folder: string, session: string): Promise<void> {
  const lock = await store.lock(everybody, session);
  const names = await readdir(join(folder, "running", session), { recursive: true });
  expect(names.filter((name) => /^[^/]+\.(?:gz|tmp)$/.test(name))).toEqual([]);
  await store.append(lock, [messageRecord("goes on")]);
  const said = (await texts(store, session)).filter((text) => text !== "taken up");
  expect([said.length, said.at(-2)?.startsWith(canary), said.at(-1)]).toEqual([5, true, "goes on"]);
  await lock.release();
}

describe("killed between any two steps,", () => {
  it("compressing loses nothing and is ended by the next", async () => {
    const steps = await atEveryStep(
      nothing,
      (upkeep) => upkeep.compress!(everybody, id),
      async (store, folder) => {
        expect((await texts(store, id)).at(-1)?.startsWith(canary)).toBe(true);
        expect((await store.upkeep.compress!(everybody, id)).compressed).toBe(true);
        const names = await readdir(join(folder, "completed", id), { recursive: true });
        expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
        expect(names.includes("messages.jsonl")).toBe(false);
        expect((await texts(store, id)).length).toBe(4);
      },
    );
    expect(steps).toBeGreaterThan(20);
  }, 60_000);

  it("unpacking loses nothing and is ended by the next", async () => {
    await atEveryStep(
      (upkeep) => upkeep.compress!(everybody, id),
      (upkeep) => upkeep.decompress!(everybody, id),
      async (store) => {
        expect((await texts(store, id)).at(-1)?.startsWith(canary)).toBe(true);
        expect((await store.upkeep.decompress!(everybody, id)).compressed).toBe(false);
        expect((await texts(store, id)).length).toBe(4);
      },
    );
  }, 60_000);

  it("compressing a closed session loses nothing, and whoever takes it up finds it whole", async () => {
    const steps = await atEveryStep(
      nothing,
      (upkeep) => upkeep.compress!(everybody, closed),
      async (store, folder) => {
        expect((await texts(store, closed)).at(-1)?.startsWith(canary)).toBe(true);
        await goesOn(store, folder, closed);
      },
      atRest,
    );
    expect(steps).toBeGreaterThan(20);
  }, 120_000);

  it("putting a session to rest loses nothing: it is at rest or as it was, and goes on", async () => {
    const seen = new Set<string>();
    await atEveryStep(
      async (_upkeep, store) => {
        const lock = await store.lock(everybody, closed);
        await store.setState(lock, stateOf("processing"));
        await lock.release();
      },
      async (_upkeep, store) => {
        const last = await lastRecordAt(store, everybody, await store.info(everybody, closed));
        await retire(store, everybody, closed, last ?? 0, new Date(time));
      },
      async (store, folder) => {
        seen.add((await store.info(everybody, closed)).state.status);
        await goesOn(store, folder, closed);
      },
      atRest,
    );
    expect([...seen].toSorted()).toEqual(["closed", "processing"]);
  }, 120_000);

  it("taking up a compressed session loses nothing, and the next who does finds it whole", async () => {
    const steps = await atEveryStep(
      (upkeep) => upkeep.compress!(everybody, closed),
      async (_upkeep, store) => {
        const lock = await store.lock(everybody, closed);
        await store.setState(lock, stateOf("processing"));
        await store.append(lock, [messageRecord("taken up")]);
      },
      async (store, folder) => {
        const said = await texts(store, closed);
        expect(said.filter((text) => text.startsWith(canary))).toHaveLength(1);
        await goesOn(store, folder, closed);
      },
      atRest,
    );
    expect(steps).toBeGreaterThan(20);
  }, 120_000);

  it("a session is in its place or in the trash, whole", async () => {
    await atEveryStep(
      nothing,
      (upkeep) => upkeep.trash(everybody, [id], time),
      async (store) => {
        if ((await listAll(store)).length > 0) await store.upkeep.trash(everybody, [id], time);
        expect((await trashed(store)).map(({ sessionId }) => sessionId)).toEqual([id]);
        expect(await listAll(store)).toEqual([]);
        await store.upkeep.untrash(everybody, id);
        expect((await texts(store, id)).length).toBe(4);
      },
    );
  }, 60_000);

  it("a session on its way back is in one place", async () => {
    await atEveryStep(
      (upkeep) => upkeep.trash(everybody, [id], time),
      (upkeep) => upkeep.untrash(everybody, id),
      async (store) => {
        if ((await trashed(store)).length > 0) await store.upkeep.untrash(everybody, id);
        expect((await texts(store, id)).length).toBe(4);
        await store.upkeep.trash(everybody, [id], time);
      },
    );
  }, 60_000);

  it("an erasure is not begun, or ended by the next", async () => {
    const steps = await atEveryStep(
      nothing,
      (upkeep) => upkeep.erase(everybody, [id]),
      async (store, folder) => {
        const begun = (await store.upkeep.unerased(everybody)).map(({ sessionId }) => sessionId);
        const isThere = (await listAll(store)).length === 1;
        expect(isThere ? (await texts(store, id)).length : 4).toBe(4);
        if (begun.length === 0 && isThere) return;
        if (begun.length > 0) await store.upkeep.erase(everybody, begun);
        expect(await grep(folder, canary)).toEqual([]);
        expect(await grep(folder, id)).toEqual([]);
      },
    );
    expect(steps).toBeGreaterThan(15);
  }, 60_000);
});
