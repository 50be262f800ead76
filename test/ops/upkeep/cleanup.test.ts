import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { cleanup, doctor, keep, search, unkeep, viewSession } from "windrow/ops";
import { everybody, listAll, messageRecord, newSession, stateOf, texts } from "../../kit/inside/store.ts";
import { over } from "../../kit/stores.ts";
import { storePlace } from "../store-kit.ts";
import type { StoreFolder } from "../store-kit.ts";
import { agedSession, backdate, dayMs, daysAgo, today } from "./aged.ts";

let place: StoreFolder;

let store: Store;
beforeEach(async () => void ({ place, store } = await storePlace()));

/** The content of mark.json. */
interface MarkFile {
  readonly mark: object;
}

const now = (): Date => today;
const later = (days: number) => (): Date => new Date(today.getTime() + days * dayMs);
const ids = (sessions: readonly { readonly sessionId: string }[]): readonly string[] =>
  sessions.map(({ sessionId }) => sessionId).toSorted();

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

describe("cleanup", () => {
  it("goes by the last record, not by the times of files", async () => {
    const young = await agedSession(store, 1);
    const week = await agedSession(store, 8, { messages: 20 });
    const month = await agedSession(store, 31, { messages: 20 });
    await backdate(place.folder);
    const report = await cleanup(store, { now });
    expect(ids(report.compressed)).toEqual([week, month].toSorted());
    expect([ids(report.due), report.trashed, report.erased]).toEqual([[month], [], []]);
    const compressed = (id: string) => store.upkeep.size(everybody, id).then(({ compressed: is }) => is);
    expect([await compressed(young), await compressed(week)]).toEqual([false, true]);
    expect((await listAll(store)).length).toBe(3);
    expect((await viewSession(store, everybody, week, { messages: true })).messages).toMatchObject({ total: 20 });
    const { hits } = await search(store, { query: "x", limit: 100, index: join(place.folder, "search-index") });
    expect(new Set(hits.map(({ sessionId }) => sessionId))).toEqual(new Set([young, week, month]));
    expect(report.failures).toEqual([]);
  });

  it("moves what is due into the trash only where that is asked for, and from there a week later", async () => {
    const month = await agedSession(store, 31, { messages: 20 });
    const stays = await agedSession(store, 29);
    const index = join(place.folder, "search-index");
    await search(store, { query: "x", index });
    const first = await cleanup(store, { now, index, remove: true });
    expect([ids(first.trashed), first.erased]).toEqual([[month], []]);
    expect(await readdir(join(place.folder, "trash"))).toEqual([month]);
    expect(first.trashBytes).toBeGreaterThan(0);
    const next = await cleanup(store, { now: later(6), index, remove: true });
    expect([next.erased, ids(next.trashed)]).toEqual([[], [stays]]);
    expect(await bytesIn(join(place.folder, "trash"))).toBe(next.trashBytes);
    const unasked = await cleanup(store, { now: later(8), index });
    expect([ids(unasked.due).includes(month), unasked.erased]).toEqual([true, []]);
    const last = await cleanup(store, { now: later(8), index, remove: true });
    expect([ids(last.erased), last.trashBytes > 0]).toEqual([[month], true]);
    expect(last.erased[0]?.places.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["trash", "index", "search-index"]),
    );
  });

  it("never touches a kept session, until it is kept no more", async () => {
    const id = await agedSession(store, 400, { messages: 20 });
    expect(await keep(store, id.slice(0, 8), { by: "ann", now })).toEqual({ sessionId: id, kept: true, changed: true });
    const { mark } = JSON.parse(await readFile(join(place.folder, "completed", id, "mark.json"), "utf8")) as MarkFile;
    expect(mark).toEqual({ kept: { keptAt: today.toISOString(), by: "ann" } });
    const report = await cleanup(store, { now, remove: true, compressAfter: 0 });
    expect([report.kept, report.compressed, report.trashed, report.due]).toEqual([1, [], [], []]);
    expect((await unkeep(store, id)).changed).toBe(true);
    expect(ids((await cleanup(store, { now, remove: true })).trashed)).toEqual([id]);
  });

  it("changes nothing when it is only tried", async () => {
    const id = await agedSession(store, 31, { messages: 20 });
    const before = await readdir(place.folder, { recursive: true });
    const report = await cleanup(store, { now, remove: true, dryRun: true });
    expect([ids(report.compressed), ids(report.due), report.trashed]).toEqual([[id], [id], []]);
    expect(await readdir(place.folder, { recursive: true })).toEqual(before);
  });

  it("leaves unfinished sessions alone, and ends those whose process died", async () => {
    const lock = await store.create(everybody, newSession({ createdAt: daysAgo(90) }));
    await store.append(lock, [messageRecord("at work")]);
    const report = await cleanup(store, { now, remove: true });
    expect([report.looked, report.locks?.looked]).toEqual([0, 1]);
    await store.append(lock, [messageRecord("goes on")]);
    await store.finish(lock, stateOf("failed"));
    expect(await texts(store, lock.id)).toEqual(["at work", "goes on"]);
  });

  it("tells what it could not do, and does the rest", async () => {
    const broken = await agedSession(store, 31, { messages: 20 });
    const other = await agedSession(store, 31, { messages: 20 });
    const upkeep = store.upkeep;
    const trash: typeof upkeep.trash = async (scope, ids, time) => {
      if (ids.includes(broken)) throw new Error("It stays where it is.");
      return upkeep.trash(scope, ids, time);
    };
    const report = await cleanup(over(store, { upkeep: over(upkeep, { trash }) }), { now, remove: true });
    expect([ids(report.compressed), ids(report.trashed)]).toEqual([[broken, other].toSorted(), [other]]);
    expect(report.failures).toMatchObject([{ sessionId: broken }]);
    expect((await texts(store, broken)).length).toBe(20);
  });

  it("counts no failure where somebody brings a session back from the trash meanwhile", async () => {
    const id = await agedSession(store, 31, { messages: 1 });
    await cleanup(store, { now, remove: true });
    const upkeep = store.upkeep;
    const erase: typeof upkeep.erase = async (...asked) => {
      await upkeep.untrash(everybody, id);
      return upkeep.erase(...asked);
    };
    const report = await cleanup(over(store, { upkeep: over(upkeep, { erase }) }), { now: later(8), remove: true });
    expect([report.erased, report.failures]).toEqual([[], []]);
  });

  it("refuses ages that make no sense", async () => {
    await expect(cleanup(store, { compressAfter: -1 })).rejects.toMatchObject({ code: "bad-option" });
    await expect(cleanup(store, { deleteAfter: Number.NaN })).rejects.toMatchObject({ code: "bad-option" });
  });
});

it("archive leaves a store in which the doctor finds nothing", async () => {
  for (const days of [1, 8, 31, 60]) await agedSession(store, days, { messages: 20 });
  await cleanup(store, { now, remove: true });
  const found = await doctor(store, {});
  expect(found.findings).toEqual([]);
  expect([found.before.sessions, found.before.records]).toEqual([2, 40]);
});
