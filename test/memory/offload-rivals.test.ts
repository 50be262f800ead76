/** Sessions on their way to an engine while others want them: a second process, a trash, an archive, a close, an erasure. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { SessionEvent, Store } from "windrow";
import { offloadDue, semanticMemory, storeMemory } from "windrow/memory";
import type { Embedder } from "windrow/model";
import { archiveOld, cleanup, erase } from "windrow/ops";
import { estimate } from "windrow/testing";
import { ramStore } from "../kit/inside/store.ts";
import { answered, asked, newFolder, openSession } from "../kit/sessions.ts";
import { grep, opened } from "../kit/stores.ts";
import { point } from "../store/stage.ts";
import { down, dueIn, dueSessions, engine, handAll } from "./kit.ts";

/** A store with an archive beside it, and its address. */
async function archivedStore(): Promise<{ readonly store: Store; readonly address: string }> {
  const folder = await newFolder();
  const address = join(folder, "store");
  return { address, store: await opened(address, { archive: join(folder, "archive") }) };
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `note ${at}`);

/** A clock behind every claim. */
const later = { now: () => Date.now() + 3_600_000, every: () => () => undefined };
const time = "2026-01-01T00:00:00.000Z";

it("hands each session over once where three look for what is due at the same time", { tags: ["slow"] }, async () => {
  const folder = await newFolder();
  const ids = await dueSessions(await opened(folder), numbered(12));
  const well = engine(() => new Promise((resolve) => setImmediate(resolve)));
  const stores = await Promise.all([1, 2, 3].map(() => opened(folder)));
  const reports = await Promise.all(stores.map((store) => handAll(store, well)));
  expect(new Map(well.has)).toEqual(new Map(ids.map((id) => [id, [1, 2]])));
  expect(reports.reduce((sum, { received, failed }) => sum + received + 100 * failed, 0)).toBe(ids.length);
  expect(await dueIn(stores[0]!)).toEqual([]);
});

describe("a session that goes into the trash", () => {
  it("is not handed over from there, and is due again where it is brought back", async () => {
    const store = ramStore();
    const [gone = "", stays = ""] = await dueSessions(store, ["one", "two"]);
    await store.upkeep.trash({}, [gone], time);
    const well = engine();
    expect(await handAll(store, well)).toEqual({ received: 1, failed: 0, waiting: 0 });
    expect([...well.has.keys()]).toEqual([stays]);
    await store.upkeep.untrash({}, gone);
    expect(await dueIn(store)).toEqual([gone]);
    await handAll(store, well);
    expect([well.has.get(gone), await dueIn(store)]).toEqual([[1, 2], []]);
  });

  it("while it is handed over stays due, and fails no other", async () => {
    const store = ramStore();
    const [one = "", two = ""] = await dueSessions(store, ["one", "two"]);
    const slow = engine(async (id) => (id === two ? store.upkeep.trash({}, [two], time) : undefined));
    expect(await handAll(store, slow)).toMatchObject({ received: 1, failed: 0 });
    await store.upkeep.untrash({}, two);
    expect(await dueIn(store)).toEqual([two]);
    const well = engine();
    await handAll(store, well, { clock: later });
    expect([[...well.has], await dueIn(store)]).toEqual([[[two, [1, 2]]], []]);
    expect(slow.has.has(one)).toBe(true);
  });

  it("and is erased from it is due to nobody", async () => {
    const store = ramStore();
    const [gone = ""] = await dueSessions(store, ["one"]);
    const after = (days: number) =>
      cleanup(store, { remove: true, now: () => new Date(Date.now() + days * 86_400_000) });
    await after(31);
    expect((await after(39)).erased).toMatchObject([{ sessionId: gone }]);
    expect(await handAll(store, engine())).toEqual({ received: 0, failed: 0, waiting: 0 });
  });
});

describe("a session that goes into the archive", () => {
  it("is handed over from there, and is the only thing that goes there: no log of a memory does", async () => {
    const { store } = await archivedStore();
    const ids = await dueSessions(store, ["one", "two"]);
    const statuses = ["completed", "closed"] as const;
    const { archived } = await archiveOld(store, { olderThan: 0, statuses, now: () => new Date(later.now()) });
    expect(archived.map(({ sessionId }) => sessionId).toSorted()).toEqual(ids.toSorted());
    expect((await dueIn(store)).toSorted()).toEqual(ids.toSorted());
    const well = engine();
    expect(await handAll(store, well)).toEqual({ received: 2, failed: 0, waiting: 0 });
    for (const id of ids) expect(well.has.get(id)).toEqual([1, 2]);
    expect(await dueIn(store)).toEqual([]);
  });

  it("while it is handed over is received, or is due still", async () => {
    const { store } = await archivedStore();
    const [id = ""] = await dueSessions(store, ["one"]);
    const well = engine(async (given) => void (await store.archiving?.archive({}, given)));
    await handAll(store, well);
    expect([well.has.get(id), await dueIn(store)]).toEqual([[1, 2], []]);
  });

  it.each(["ended", "rests"])("waits, with a reason, and holds up no other, where it %s out of reach", async (how) => {
    const { store, address } = await archivedStore();
    let gone: string;
    if (how === "ended") [gone = ""] = await dueSessions(store, ["one"]);
    else {
      const offload = { wait: true, lookEvery: Infinity };
      const resting = await openSession({ store, memory: down(), offload });
      await resting.append([asked("one"), answered("Yes.")]);
      await resting.close();
      await cleanup(store, { closedAfter: 1, now: () => new Date(later.now()) });
      gone = resting.id;
    }
    await store.archiving?.archive({}, gone);
    const [stays = ""] = await dueSessions(store, ["two"]);
    const well = engine();
    const outcomes: unknown[] = [];
    const onOutcome = (outcome: unknown): void => void outcomes.push(outcome);
    const without = await opened(address);
    expect(await handAll(without, well, { onOutcome })).toEqual({ received: 1, failed: 1, waiting: 0 });
    expect([...well.has.keys()]).toEqual([stays]);
    expect(outcomes).toContainEqual(expect.objectContaining({ type: "failed", sessionId: gone }));
    await handAll(store, well);
    expect(well.has.get(gone)).toEqual([1, 2]);
  });
});

describe("many sessions that are due when a manager opens", () => {
  const many = Number(process.env["WINDROW_DUE_SESSIONS"] ?? 200);

  it("hold neither its opening nor a session, and are all handed over once", { tags: ["slow"] }, async () => {
    const store = ramStore();
    const ids = await dueSessions(store, numbered(many));
    const { reached, reach } = point();
    const memory = engine(() => reached);
    const failures: SessionEvent[] = [];
    const on = (event: SessionEvent): void => void (event.type === "offload-failed" && failures.push(event));
    const offload = { lookEvery: Infinity, retryAfter: 1 };
    const manager = await SessionManager.open({ store, budget: 8_000, memory, on, offload });
    const session = await manager.create();
    await session.append("hello");
    await session.compose();
    expect(memory.has.size).toBe(0);
    reach();
    // What the manager has in hand is left to it.
    await handAll(store, memory);
    while ((await dueIn(store)).length > 0) await new Promise((resolve) => setImmediate(resolve));
    await manager.close();
    expect(ids.filter((id) => memory.has.get(id)?.join() !== "1,2")).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("are left due where it is closed, and the next one goes on", { tags: ["slow"] }, async () => {
    const store = ramStore();
    const ids = await dueSessions(store, numbered(many));
    const some = engine((_id, _messages, signal) =>
      some.has.size < 100
        ? Promise.resolve()
        : new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("cut")))),
    );
    const stop = new AbortController();
    const work = offloadDue(store, {}, some, { all: true }, stop.signal);
    while (some.has.size < 100) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await expect(work).rejects.toMatchObject({ code: "aborted" });
    expect(await dueIn(store)).toHaveLength(many - 100);
    const well = engine();
    expect(await handAll(store, well, { clock: later })).toMatchObject({ received: many - 100 });
    expect([...some.has.keys(), ...well.has.keys()].toSorted()).toEqual(ids.toSorted());
  });
});

describe("an erasure", () => {
  const canary = "cnryheron";
  const query = { text: `the ${canary} fell over`, maxTokens: 2_000, counter: estimate };
  const embedder: Embedder = Object.assign(
    async (texts: readonly string[]) => ({
      vectors: texts.map((text) => (text.includes("heron") ? [1, 0.1, 0] : [0.1, 1, 0])),
      usage: {},
    }),
    { id: "birds" },
  );

  it.each(["on disk", "in memory"])("leaves nothing in answers of open memories, with an index %s", async (where) => {
    const folder = await newFolder();
    const store = await opened(folder);
    const index = join(folder, "search-index");
    const options = where === "on disk" ? { index } : {};
    const manager = await SessionManager.open({ store, budget: 8_000 });
    const write = async (text: string): Promise<string> => {
      const session = await manager.create();
      await session.append([asked(text), answered(`I looked into: ${text}`)]);
      await session.finish("completed");
      return session.id;
    };
    const gone = await write(`The ${canary} fell over in the yard.`);
    const stays = await write("A heron fell over the fence of the yard.");
    const fresh = () => semanticMemory(store, { ...options, embedder, similarByMeaning: true });
    const memories = [storeMemory(store, options), fresh()] as const;
    await memories[1].embed();
    const similar = async (memory: (typeof memories)[number]): Promise<readonly string[]> =>
      (await memory.similar({ text: query.text })).map(({ sessionId }) => sessionId);
    for (const memory of memories) {
      expect(JSON.stringify(await memory.query(query))).toContain(canary);
      expect(await similar(memory)).toContain(gone);
    }
    await erase(store, [gone], options);
    for (const memory of [...memories, storeMemory(store, options), fresh()]) {
      const told = JSON.stringify([await memory.query(query), await memory.earlierTasks?.(query)]);
      expect([told.includes(gone), told.includes(canary)]).toEqual([false, false]);
      expect(await similar(memory)).toEqual([stays]);
    }
    expect(await grep(folder, canary)).toEqual([]);
    expect(where === "on disk" ? await grep(index, gone) : []).toEqual([]);
  });
});
