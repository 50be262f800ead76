/** What an erasure takes out of memories, where sessions of several owners are erased in one go. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Scope, Store } from "windrow";
import { Facts, MemoryLog } from "windrow/memory";
import { cleanup, erase } from "windrow/ops";
import type { Upkeep } from "windrow/store/author";
import { finishedSession, forkSession, newSession, trashed } from "../../kit/inside/store.ts";
import { over } from "../../kit/stores.ts";
import { newFolder, removeFolders } from "../../store/archive/kinds.ts";
import { opened } from "../../store/stage.ts";
import { storeKinds } from "../../store/archive/kinds.ts";

// A log that stays locked is tried again and again: these waits pass at once.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.setTimerTickMode("nextTimerAsync");
});
afterEach(() => void vi.useRealTimers());
afterAll(removeFolders);

/** Writes down a fact that a session says. */
async function noteFact(store: Store, owner: Scope, sessionId: string): Promise<void> {
  const sources = [{ sessionId, seq: 1, quote: "heron" }];
  await new Facts(store, owner).add(sessionId, 1, [{ about: "queue", text: "The queue is called heron.", sources }]);
}

async function factsOf(store: Store, owner: Scope): Promise<readonly string[]> {
  return (await new Facts(store, owner).list()).map(({ text }) => text);
}

const mine = { user: "me" };
const fact = "The queue is called heron.";
const time = "2026-01-01T00:00:00.000Z";
const away = () => Promise.reject(new Error("The index is away."));

/** Waits until a call fails. */
async function rejected(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toThrow("away");
}

/** Begins an erasure, or puts the session into the trash. */
async function leave(store: Store, owner: Scope, id: string, where: Where): Promise<void> {
  if (where === "the trash") await store.upkeep.trash(owner, [id], time);
  else await rejected(store.upkeep.erase(owner, [id], away));
}

/** What is still to be erased. */
async function leftIn(store: Store): Promise<readonly string[]> {
  const begun = await store.upkeep.unerased({});
  return [...begun, ...(await trashed(store))].map(({ sessionId }) => sessionId);
}

const wheres = ["a begun erasure", "the trash"] as const;
type Where = (typeof wheres)[number];

const kinds = storeKinds().filter(({ name }) => name === "files" || name === "sqlite");

describe.each(kinds.filter(({ isHere }) => isHere))("a clean-up of $name for all users", (kind) => {
  it("tells in each receipt what the session's own owner had in memory, and its forks", async () => {
    const store = await opened(await kind.address());
    const yours = { user: "you" };
    const [id, other] = [await finishedSession(store, mine), await finishedSession(store, yours)];
    await noteFact(store, mine, id);
    await noteFact(store, yours, other);
    const forks = [await forked(store, mine, id), await forked(store, {}, id)];
    await store.upkeep.putAside(mine, id);
    await rejected(store.upkeep.erase(mine, [id], away));
    await rejected(store.upkeep.erase(yours, [other], away));
    const report = await cleanup(store);
    expect(report.failures).toEqual([]);
    const told = report.erased.map(({ sessionId, places, forks: of }) => {
      const memory = places.filter((place) => place.kind === "memory").map(({ place, count }) => [place, count]);
      return [sessionId, { memory, forks: new Set(of) }] as const;
    });
    // A fact, and how far the session was read.
    const memory = [["facts", 2]];
    const each = [[id, { memory, forks: new Set(forks) }] as const, [other, { memory, forks: new Set() }] as const];
    expect(new Map(told)).toEqual(new Map(each));
  });

  it("writes a database anew once for the trash of several users", async () => {
    const store = await opened(await kind.address());
    const ids: string[] = [];
    for (const user of ["ann", "bob", undefined])
      ids.push(await finishedSession(store, user === undefined ? {} : { user }));
    await store.upkeep.trash({}, ids, time);
    const passes: (readonly string[])[] = [];
    const counted = withErase(store, (...given) => {
      passes.push(given[1]);
      return store.upkeep.erase(...given);
    });
    expect((await cleanup(counted, { remove: true })).erased).toHaveLength(3);
    expect(passes.map((pass) => new Set(pass))).toEqual([new Set(ids)]);
  });

  it.each(wheres)("ends %s of the others, and tells one failure, where one user's facts are locked", async (where) => {
    const address = await kind.address();
    const store = await opened(address);
    const ids = new Map<string, string>();
    for (const user of ["ann", "bob", "zoe"]) ids.set(user, await finishedSession(store, { user }));
    for (const [user, id] of ids) await noteFact(store, { user }, id);
    for (const [user, id] of ids) await leave(store, { user }, id, where);
    const bob = { user: "bob" };
    const [logId] = new MemoryLog(store, bob, "facts").ids;
    const lock = await (await opened(address)).lock(bob, logId);
    const held = await cleanup(store, { remove: true });
    const gone = new Set(held.erased.map(({ sessionId }) => sessionId));
    expect(gone).toEqual(new Set([ids.get("ann"), ids.get("zoe")]));
    expect(held.failures.map(({ sessionId }) => sessionId)).toEqual([ids.get("bob")]);
    expect(await leftIn(store)).toEqual([ids.get("bob")]);
    expect(await factsOf(store, bob)).toEqual([fact]);
    for (const user of ["ann", "zoe"]) expect(await factsOf(store, { user })).toEqual([]);
    await lock.release();
    const ended = await cleanup(store, { remove: true });
    expect([ended.failures, ended.erased.map(({ sessionId }) => sessionId)]).toEqual([[], [ids.get("bob")]]);
    expect([await leftIn(store), await factsOf(store, bob)]).toEqual([[], []]);
  });
});

describe("files", () => {
  /** A session of which a fact is known that cannot be read until it is mended. */
  async function withTornFact(where: Where) {
    const folder = join(await newFolder(), "store");
    const store = await opened(folder);
    const id = await finishedSession(store, mine);
    await noteFact(store, mine, id);
    const file = metadataOf(folder, store, mine);
    const whole = await readFile(file);
    await leave(store, mine, id, where);
    await writeFile(file, "{ torn");
    return { store, id, mend: () => writeFile(file, whole) };
  }

  it.each(wheres)("in a clean-up for all users leave %s where its owner's facts are damaged", async (where) => {
    const { store, id, mend } = await withTornFact(where);
    const other = await finishedSession(store, { user: "you" });
    await leave(store, { user: "you" }, other, where);
    const held = await cleanup(store, { remove: true });
    expect(held.erased.map(({ sessionId }) => sessionId)).toEqual([other]);
    expect(held.failures.map(({ sessionId }) => sessionId)).toContain(id);
    expect(await leftIn(store)).toEqual([id]);
    await mend();
    const ended = await cleanup(store, { remove: true });
    expect([ended.failures, ended.erased.map(({ sessionId }) => sessionId)]).toEqual([[], [id]]);
    expect([await leftIn(store), await factsOf(store, mine)]).toEqual([[], []]);
  });

  it.each(wheres)("refuse an erasure by name of what lies in %s where its owner's facts are damaged", async (where) => {
    const { store, id, mend } = await withTornFact(where);
    await expect(erase(store, [id])).rejects.toMatchObject({ code: "store-corrupt" });
    expect(await leftIn(store)).toEqual([id]);
    await mend();
    expect(await erase(store, [id])).toHaveLength(1);
    expect([await leftIn(store), await factsOf(store, mine)]).toEqual([[], []]);
  });
});

it("a damaged log of a user's memory is itself erased for all users, also where that was cut short", async () => {
  const folder = join(await newFolder(), "store");
  const store = await opened(folder);
  for (const isCutShort of [false, true]) {
    const id = await finishedSession(store, mine);
    await noteFact(store, mine, id);
    const file = metadataOf(folder, store, mine);
    await writeFile(file, "{ torn");
    const logId = basename(dirname(file));
    if (isCutShort) await rejected(store.upkeep.erase({}, [logId], away));
    const erased = isCutShort ? (await cleanup(store)).erased : await erase(store, [logId]);
    expect(erased.map(({ sessionId }) => sessionId)).toEqual([logId]);
    expect([await leftIn(store), await factsOf(store, mine)]).toEqual([[], []]);
  }
});

it("a clean-up tells where facts can be looked through no more once the store has erased", async () => {
  const folder = join(await newFolder(), "store");
  const store = await opened(folder);
  const [id, said] = [await finishedSession(store, mine), newSession().uuid];
  await noteFact(store, mine, said);
  await leave(store, mine, id, "the trash");
  const torn = withErase(store, async (...given) => {
    const erased = await store.upkeep.erase(...given);
    await writeFile(metadataOf(folder, store, mine), "{ torn");
    return erased;
  });
  const report = await cleanup(torn, { remove: true });
  expect([report.erased, await leftIn(store)]).toEqual([[], []]);
  expect(report.failures.map(({ sessionId }) => sessionId)).toContain(id);
});

/** Forks a session on behalf of an owner. */
async function forked(store: Store, owner: Scope, id: string): Promise<string> {
  const { uuid, createdAt } = newSession();
  await (await forkSession(store, owner, id, { at: 1, uuid, createdAt })).release();
  return uuid;
}

type Erase = Upkeep["erase"];

/** A store whose erasures go through a function. */
function withErase(store: Store, erase: Erase): Store {
  return over(store, { upkeep: over(store.upkeep, { erase }) });
}

/** The file of the metadata of an owner's facts. */
function metadataOf(folder: string, store: Store, owner: Scope): string {
  const files = new MemoryLog(store, owner, "facts").ids.map((id) => join(folder, "running", id, "metadata.json"));
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error("There are no facts in the folder.");
  return file;
}
