/** Sessions on their way to an engine while others want them: a second process, a trash, an archive, a close, an erasure. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { SessionEvent, Store } from "windrow";
import { offloadDue, semanticMemory, storeMemory } from "windrow/memory";
import type { Memory } from "windrow/memory";
import type { Embedder } from "windrow/model";
import { archiveOld, cleanup, erase, monitor } from "windrow/ops";
import { openStore } from "windrow/store";
import type { Upkeep } from "windrow/store/author";
import { estimate } from "windrow/testing";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { dueIn, dueSessions, engine } from "./kit.ts";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-rivals-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function storeAt(target: string, archive?: string): Promise<Store> {
  const store = await openStore(target, archive === undefined ? {} : { archive });
  closers.push(() => store.close());
  return store;
}

function upkeepIn({ upkeep }: Store): Upkeep {
  if (!upkeep) throw new Error("The store has no upkeep.");
  return upkeep;
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `note ${at}`);

/** A clock behind every claim. */
const later = { now: () => Date.now() + 3_600_000, every: () => () => undefined };
const time = "2026-01-01T00:00:00.000Z";

it("hands each session over once where three look for what is due at the same time", { tags: ["slow"] }, async () => {
  const folder = await folderOf();
  const ids = await dueSessions(await storeAt(folder), numbered(12));
  const inHand = new Set<string>();
  let twice = 0;
  const well = engine(async (id) => {
    if (inHand.has(id)) twice += 1;
    inHand.add(id);
    await new Promise((resolve) => setImmediate(resolve));
    inHand.delete(id);
  });
  const stores = await Promise.all([1, 2, 3].map(() => storeAt(folder)));
  const reports = await Promise.all(stores.map((store) => offloadDue(store, {}, well, { all: true })));
  expect(twice).toBe(0);
  expect([...well.has.keys()].toSorted()).toEqual(ids.toSorted());
  for (const id of ids) expect(well.has.get(id)).toEqual([1, 2]);
  expect(reports.reduce((sum, { received }) => sum + received, 0)).toBe(ids.length);
  expect(reports.every(({ failed }) => failed === 0)).toBe(true);
  expect(await dueIn(stores[0]!)).toEqual([]);
});

describe("a session that goes into the trash", () => {
  it("is not handed over from there, and is due again where it is brought back", async () => {
    const store = await storeAt(await folderOf());
    const [gone = "", stays = ""] = await dueSessions(store, ["one", "two"]);
    await upkeepIn(store).trash({}, [gone], time);
    const well = engine();
    expect(await offloadDue(store, {}, well, { all: true })).toEqual({ received: 1, failed: 0, waiting: 0 });
    expect([...well.has.keys()]).toEqual([stays]);
    await upkeepIn(store).untrash({}, gone);
    expect(await dueIn(store)).toEqual([gone]);
    await offloadDue(store, {}, well, { all: true });
    expect(well.has.get(gone)).toEqual([1, 2]);
    expect(await dueIn(store)).toEqual([]);
  });

  it("while it is handed over stays due, and fails no other", async () => {
    const store = await storeAt(await folderOf());
    const [one = "", two = ""] = await dueSessions(store, ["one", "two"]);
    const slow = engine(async (id) => (id === two ? upkeepIn(store).trash({}, [two], time) : undefined));
    expect(await offloadDue(store, {}, slow, { all: true })).toMatchObject({ received: 1, failed: 0 });
    await upkeepIn(store).untrash({}, two);
    expect(await dueIn(store)).toEqual([two]);
    const well = engine();
    await offloadDue(store, {}, well, { all: true, clock: later });
    expect([...well.has]).toEqual([[two, [1, 2]]]);
    expect(await dueIn(store)).toEqual([]);
    expect(slow.has.has(one)).toBe(true);
  });

  it("and is erased from it is due to nobody", async () => {
    const store = await storeAt(await folderOf());
    const [gone = ""] = await dueSessions(store, ["one"]);
    const old = (days: number): Date => new Date(Date.now() + days * 86_400_000);
    await cleanup(store, { remove: true, now: () => old(31) });
    expect(
      (await cleanup(store, { remove: true, now: () => old(39) })).erased.map(({ sessionId }) => sessionId),
    ).toEqual([gone]);
    const well = engine();
    expect(await offloadDue(store, {}, well, { all: true })).toEqual({ received: 0, failed: 0, waiting: 0 });
    expect(well.has.size).toBe(0);
  });
});

describe("a session that goes into the archive", () => {
  it("is handed over from there", async () => {
    const folder = await folderOf();
    const store = await storeAt(join(folder, "store"), join(folder, "archive"));
    const ids = await dueSessions(store, ["one", "two"]);
    await archiveOld(store, { olderThan: 0, now: () => new Date(Date.now() + 1_000) });
    expect((await dueIn(store)).toSorted()).toEqual(ids.toSorted());
    const well = engine();
    expect(await offloadDue(store, {}, well, { all: true })).toEqual({ received: 2, failed: 0, waiting: 0 });
    for (const id of ids) expect(well.has.get(id)).toEqual([1, 2]);
    expect(await dueIn(store)).toEqual([]);
  });

  it("while it is handed over is received, or is due still", async () => {
    const folder = await folderOf();
    const store = await storeAt(join(folder, "store"), join(folder, "archive"));
    const [id = ""] = await dueSessions(store, ["one"]);
    const well = engine(async (given) => void (await store.archiving?.archive({}, given)));
    await offloadDue(store, {}, well, { all: true });
    expect(well.has.get(id)).toEqual([1, 2]);
    expect(await dueIn(store)).toEqual([]);
  });

  it("waits, with a reason, where the archive cannot be reached", async () => {
    const folder = await folderOf();
    const made = await storeAt(join(folder, "store"), join(folder, "archive"));
    const [gone = "", stays = ""] = await dueSessions(made, ["one", "two"]);
    await made.archiving?.archive({}, gone);
    const without = await storeAt(join(folder, "store"));
    const well = engine();
    const outcomes: unknown[] = [];
    const onOutcome = (outcome: unknown): void => void outcomes.push(outcome);
    expect(await offloadDue(without, {}, well, { all: true, onOutcome })).toEqual({
      received: 1,
      failed: 1,
      waiting: 0,
    });
    expect([...well.has.keys()]).toEqual([stays]);
    expect(outcomes).toContainEqual(expect.objectContaining({ type: "failed", sessionId: gone }));
    await offloadDue(made, {}, well, { all: true });
    expect(well.has.get(gone)).toEqual([1, 2]);
  });

  it("holds up no other where it rests, and the archive cannot be reached", async () => {
    const folder = await folderOf();
    const made = await storeAt(join(folder, "store"), join(folder, "archive"));
    const memory = engine(() => Promise.reject(new Error("down")));
    const offload = { wait: true, lookEvery: Infinity };
    const manager = await SessionManager.open({ store: made, budget: 8_000, memory, offload });
    const resting = await manager.create();
    await resting.append("one");
    await resting.close();
    await monitor(made, { once: true, closedAfter: 1, now: () => new Date(Date.now() + 3_600_000) });
    await made.archiving?.archive({}, resting.id);
    const [stays = ""] = await dueSessions(made, ["two"]);
    const without = await storeAt(join(folder, "store"));
    const well = engine();
    expect(await offloadDue(without, {}, well, { all: true })).toEqual({ received: 1, failed: 1, waiting: 0 });
    expect([...well.has.keys()]).toEqual([stays]);
    await offloadDue(made, {}, well, { all: true });
    expect(well.has.get(resting.id)).toEqual([1]);
  });

  it("is no log of a memory, whatever is asked for", async () => {
    const folder = await folderOf();
    const store = await storeAt(join(folder, "store"), join(folder, "archive"));
    const [id = ""] = await dueSessions(store, ["one"]);
    const statuses = ["completed", "closed"] as const;
    const later = { now: () => new Date(Date.now() + 3_600_000) };
    const { archived } = await archiveOld(store, { olderThan: 0, statuses, ...later });
    expect(archived.map(({ sessionId }) => sessionId)).toEqual([id]);
  });
});

/** A memory that says when each receive began and lets it go on when it is told. */
function gated(): { readonly memory: Memory & { readonly has: Map<string, number[]> }; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { memory: engine(() => opened), open: () => open() };
}

describe("many sessions that are due when a manager opens", () => {
  const many = Number(process.env["WINDROW_DUE_SESSIONS"] ?? 200);

  it("hold neither its opening nor a session, and are all handed over once", { tags: ["slow"] }, async () => {
    const store = ramStore();
    const ids = await dueSessions(store, numbered(many));
    const { memory, open } = gated();
    const failures: SessionEvent[] = [];
    const on = (event: SessionEvent): void => void (event.type === "offload-failed" && failures.push(event));
    const offload = { lookEvery: Infinity, retryAfter: 1 };
    const manager = await SessionManager.open({ store, budget: 8_000, memory, on, offload });
    const session = await manager.create();
    await session.append("hello");
    await session.compose();
    expect(memory.has.size).toBe(0);
    open();
    // What the manager has in hand is left to it.
    await offloadDue(store, {}, memory, { all: true });
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
    expect(await offloadDue(store, {}, well, { all: true, clock: later })).toMatchObject({ received: many - 100 });
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

  it.each(["on disk", "in memory"])(
    "leaves nothing in the answers of memories that are open, by words and by meaning, with an index %s",
    async (where) => {
      const folder = await folderOf();
      const store = filesStore({ folder });
      const index = join(folder, "search-index");
      const options = where === "on disk" ? { index } : {};
      const manager = await SessionManager.open({ store, budget: 8_000 });
      const write = async (text: string): Promise<string> => {
        const session = await manager.create();
        await session.append(text);
        await session.append({ role: "assistant", parts: [{ type: "text", text: `I looked into: ${text}` }] });
        await session.finish("completed");
        return session.id;
      };
      const gone = await write(`The ${canary} fell over in the yard.`);
      const stays = await write("A heron fell over the fence of the yard.");
      const meaning = semanticMemory(store, { ...options, embedder, similarByMeaning: true });
      const memories = [storeMemory(store, options), meaning];
      await meaning.embed();
      for (const memory of memories) {
        expect(JSON.stringify(await memory.query(query))).toContain(canary);
        expect((await memory.similar({ text: query.text })).map(({ sessionId }) => sessionId)).toContain(gone);
      }
      await erase(store, [gone], where === "on disk" ? { index } : {});
      const fresh = [
        storeMemory(store, options),
        semanticMemory(store, { ...options, embedder, similarByMeaning: true }),
      ];
      for (const memory of [...memories, ...fresh]) {
        const told = [
          await memory.query(query),
          await memory.similar({ text: query.text }),
          await memory.earlierTasks?.(query),
        ];
        const text = JSON.stringify(told);
        expect(text).not.toContain(gone);
        expect(text).not.toContain(canary);
        expect((await memory.similar({ text: query.text })).map(({ sessionId }) => sessionId)).toEqual([stays]);
      }
      await manager.close();
      await store.close();
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const bytes = await readFile(path, "latin1");
        expect(bytes, path).not.toContain(canary);
        expect(path.startsWith(index) && bytes.includes(gone), path).toBe(false);
      }
    },
  );
});
