/** What an erasure of one user's session takes out of the logs of others. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Scope, Store } from "windrow";
import { MemoryLog } from "windrow/memory";
import { cleanup, erase } from "windrow/ops";
import { openStore } from "windrow/store";
import { finishedSession, newSession, trashed } from "../../kit/inside/store.ts";
import { newFolder, removeFolders } from "../../store/archive/kinds.ts";
import { damageMetadata } from "../../store/damaged.ts";
import { driver } from "../../kit/sqlite-stores.ts";
import { opened } from "../../store/stage.ts";

const [ann, bob, team]: readonly [Scope, Scope, Scope] = [{ user: "ann" }, { user: "bob" }, { user: "team" }];
const time = "2026-01-01T00:00:00.000Z";

let folder: string;
let store: Store;
// A log that stays locked is tried again and again: these waits pass at once.
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.setTimerTickMode("nextTimerAsync");
  folder = join(await newFolder(), "store");
  store = await opened(folder);
});
afterEach(() => void vi.useRealTimers());
afterAll(removeFolders);

const items = (owner: Scope): MemoryLog => new MemoryLog(store, owner, "items");

/** A session in the trash, of which the log of another holds an item. */
async function heldBy(owner: Scope, session: Scope, how: string): Promise<string> {
  const id = await finishedSession(store, session);
  await items(owner).append([{ type: "put", data: { session: id, value: "heron" } }]);
  if (how === "in the trash") await store.upkeep.trash(session, [id], time);
  else await store.upkeep.erase(session, [id], () => Promise.reject(new Error("away"))).catch(() => undefined);
  return id;
}

async function sessionsIn(owner: Scope): Promise<readonly unknown[]> {
  return (await items(owner).state()).map(({ data }) => data["session"]);
}

async function left(): Promise<readonly string[]> {
  const all = [...(await store.upkeep.unerased({})), ...(await trashed(store))];
  return all.map(({ sessionId }) => sessionId);
}

const cases = [{}, team].flatMap((owner) => ["in the trash", "begun"].map((how) => [owner, how] as const));

it.each(cases)("the log of %o loses what it holds of another's session: %s", async (owner, how) => {
  const id = await heldBy(owner, ann, how);
  await items(owner).append([{ type: "put", data: { session: newSession().uuid } }]);
  const { erased, failures } = await cleanup(store, { remove: true });
  expect([erased.map(({ sessionId }) => sessionId), failures, await left()]).toEqual([[id], [], []]);
  expect(erased[0]?.places).toContainEqual({ kind: "memory", place: "items", count: 1, bytes: 0 });
  expect(await sessionsIn(owner)).toHaveLength(1);
});

it.each(["in the trash", "begun"])("a locked log keeps its own sessions alone: %s", { tags: ["slow"] }, async (how) => {
  const id = await heldBy({}, ann, how);
  const other = await heldBy(team, bob, how);
  const opened = await openStore(folder);
  const lock = await opened.lock({}, items({}).ids[0]);
  const { erased, failures } = await cleanup(store, { remove: true });
  expect([erased.map(({ sessionId }) => sessionId), failures.map(({ sessionId }) => sessionId)]).toEqual([
    [other],
    [id],
  ]);
  await lock.release();
  await opened.close();
  expect((await cleanup(store, { remove: true })).erased.map(({ sessionId }) => sessionId)).toEqual([id]);
  expect([await left(), await sessionsIn({}), await sessionsIn(team)]).toEqual([[], [], []]);
});

it.each(["in the trash", "begun"])("a damaged log is told, and keeps nobody's sessions: %s", async (how) => {
  const id = await heldBy({}, ann, how);
  const path = items({}).ids.map((one) => join(folder, "running", one, "metadata.json"));
  const file = path.find((one) => existsSync(one)) ?? "";
  const whole = await readFile(file);
  await writeFile(file, "{ torn");
  const { erased, failures } = await cleanup(store, { remove: true });
  expect([erased.map(({ sessionId }) => sessionId), await left()]).toEqual([[id], []]);
  expect(failures.map(({ message }) => message)).toContainEqual(expect.stringContaining("could not be looked through"));
  await writeFile(file, whole);
});

it.each(["a line of another's", "the line of the session", "a line taken away"])(
  "a log with a damaged place is neither written anew nor taken for searched: %s",
  async (how) => {
    const id = await finishedSession(store, ann);
    const [kept] = [newSession().uuid];
    for (const session of [kept, id, kept]) await items(ann).append([{ type: "put", data: { session } }]);
    const [logId] = items(ann).ids;
    const file = join(folder, "running", logId, "edits.jsonl");
    const lines = (await readFile(file, "utf8")).split("\n");
    const [first = "", second = "", ...more] = lines;
    const damaged = how === "the line of the session" ? [first, `x${second}`] : [`x${first}`, second];
    await writeFile(file, [...(how === "a line taken away" ? [second] : damaged), ...more].join("\n"));
    const refused = { code: "store-corrupt", data: { id: logId }, message: expect.stringContaining("windrow doctor") };
    const before = await readFile(file, "utf8");
    await expect(erase(store, [id])).rejects.toMatchObject(refused);
    expect([await readFile(file, "utf8"), (await store.info(ann, id)).state.status]).toEqual([before, "completed"]);
    expect(await erase(store, [logId])).toMatchObject([{ sessionId: logId }]);
    expect(await erase(store, [id])).toMatchObject([{ sessionId: id }]);
  },
);

it.skipIf(!driver)("what a damaged session in the trash left in its owner's memory goes with it", async () => {
  const address = `sqlite:${join(await newFolder(), "store.db")}`;
  store = await opened(address);
  const id = await heldBy(ann, ann, "in the trash");
  await damageMetadata(address, id);
  const { erased, failures } = await cleanup(store, { remove: true });
  expect([erased.map(({ sessionId }) => sessionId), failures]).toEqual([[id], []]);
  expect(await sessionsIn(ann)).toEqual([]);
});
