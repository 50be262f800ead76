/** Sessions on their way to an engine, while other things go wrong: damage, erasure, a full disk, two processes at once. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Scope, SessionEvent, Store } from "windrow";
import { factMemory, MemoryLog, offloadDue, semanticMemory } from "windrow/memory";
import type { OffloadOutcome } from "windrow/memory";
import type { Embedder, Model, ModelAnswer } from "windrow/model";
import { erase, stats } from "windrow/ops";
import type { ListQuery } from "windrow/store";
import type { StoredRecordOf } from "windrow/store/author";
import { faultyStore } from "windrow/testing";
import { Offloads } from "../kit/inside/memory.ts";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { dueIn, dueSessions, engine, everyRecord } from "./kit.ts";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-offload-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A store with some of its parts in the place of its own. */
function over<T extends object>(behind: T, parts: object): T {
  return new Proxy(behind, {
    get(target, name) {
      const value: unknown = name in parts ? Reflect.get(parts, name) : Reflect.get(target, name);
      return typeof value === "function" && !(name in parts) ? (value as () => unknown).bind(target) : value;
    },
  });
}

/** A store that does something before it erases a session. */
function beforeErasing(store: Store, id: string, work: () => Promise<void>): Store {
  const { upkeep } = store;
  if (!upkeep) throw new Error("The store cannot erase.");
  const eraseAfter: typeof upkeep.erase = async (scope, ids, elsewhere) => {
    if (ids.includes(id)) await work();
    return upkeep.erase(scope, ids, elsewhere);
  };
  return over(store, { upkeep: over(upkeep, { erase: eraseAfter }) });
}

it("keeps a session due whose messages are damaged, and hands over what a backup brings back", async () => {
  for (const bytes of ["", "{", "\0\0\0\0", '{"a":1}\n']) {
    const folder = await folderOf();
    const made = filesStore({ folder });
    const [one = "", two = "", three = ""] = await dueSessions(made, ["one", "two", "three"]);
    await made.close();
    const path = join(folder, "completed", two, "messages.jsonl");
    const before = await readFile(path);
    await writeFile(path, bytes);
    const store = filesStore({ folder });
    const well = engine();
    const outcomes: OffloadOutcome[] = [];
    const onOutcome = (outcome: OffloadOutcome): void => void outcomes.push(outcome);
    expect(await offloadDue(store, {}, well, { all: true, onOutcome })).toEqual({ received: 2, failed: 1, waiting: 0 });
    expect(outcomes.find(({ type }) => type === "failed")).toMatchObject({ sessionId: two, failures: 2 });
    expect([...well.has.keys()].toSorted()).toEqual([one, three].toSorted());
    expect(await dueIn(store)).toEqual([two]);
    await store.close();
    await writeFile(path, before);
    const again = filesStore({ folder });
    await offloadDue(again, {}, well, { all: true });
    expect(well.has.get(two)).toEqual([1, 2]);
    expect(await dueIn(again)).toEqual([]);
    await again.close();
  }
});

it("hands over what is left of a log with a gap, and all behind the gap again once it is mended", async () => {
  const folder = await folderOf();
  const made = filesStore({ folder });
  const [id = ""] = await dueSessions(made, ["one"]);
  await made.close();
  const path = join(folder, "completed", id, "messages.jsonl");
  const before = await readFile(path, "utf8");
  await writeFile(path, before.slice(before.indexOf("\n") + 1));
  const well = engine();
  for (const [text, has] of [
    [undefined, [2]],
    [before, [2, 1, 2]],
  ] as const) {
    if (text !== undefined) await writeFile(path, text);
    const store = filesStore({ folder });
    await offloadDue(store, {}, well, { all: true });
    expect(well.has.get(id)).toEqual(has);
    expect(await dueIn(store)).toEqual(text === undefined ? [id] : []);
    await store.close();
  }
});

it("hands over what others are due where the receipts of one owner are damaged, and refuses an erasure of theirs", async () => {
  const folder = await folderOf();
  const made = filesStore({ folder });
  const [ann = ""] = await dueSessions(made, ["one"], "ann");
  const [bob = ""] = await dueSessions(made, ["two"], "bob");
  const [receipts = ""] = new MemoryLog(made, { user: "ann" }, "offloads").ids;
  await made.close();
  const path = join(folder, "running", receipts, "metadata.json");
  const before = await readFile(path);
  await writeFile(path, "");
  const store = filesStore({ folder });
  const well = engine();
  const unreadable: string[] = [];
  const options = { all: true, unreadable: (id: string) => void unreadable.push(id) };
  expect(await offloadDue(store, {}, well, options)).toMatchObject({ received: 1 });
  expect([...well.has.keys()]).toEqual([bob]);
  expect(unreadable).toContain(receipts);
  expect((await stats(store)).memories).toEqual([]);
  // Nobody knows what a damaged log holds of it.
  await expect(erase(store, [ann])).rejects.toMatchObject({ code: "store-corrupt" });
  await writeFile(path, before);
  await offloadDue(store, {}, well, { all: true });
  expect(well.has.get(ann)).toEqual([1, 2]);
  await store.close();
});

describe("a session that is erased while it is handed over", () => {
  const says = "The database is called cnryheron.";
  const facts = [{ about: "database", fact: says, source: "m1", quote: "database is called cnryheron" }];
  const answer: ModelAnswer = { text: JSON.stringify(facts), usage: {} as never, finish: "stop" };

  it("leaves no receipt behind", async () => {
    const store = ramStore();
    const [id = ""] = await dueSessions(store, ["one"]);
    const slow = engine(async () => void (await erase(store, [id])));
    await offloadDue(store, {}, slow, { all: true });
    const { ids } = new MemoryLog(store, {}, "offloads");
    expect(JSON.stringify(await everyRecord(store, {}, ids))).not.toContain(id);
  });

  it("leaves no fact behind, whenever the model answers", async () => {
    for (const when of ["before the session goes", "after"]) {
      const folder = await folderOf();
      const store = filesStore({ folder });
      const [id = ""] = await dueSessions(store, [says]);
      const messages: StoredRecordOf<"message">[] = [];
      for await (const record of store.read({}, id, { kind: "message" })) messages.push(record);
      const receive = (model: Model): Promise<void> =>
        factMemory({ store, model })
          .receive(id, messages)
          .catch(() => undefined);
      // The erasure has been through the memory, and has not reached the session.
      const late = (): Promise<void> => receive(async () => answer);
      if (when === "after") await receive(async () => (await erase(store, [id]), answer));
      else await erase(beforeErasing(store, id, late), [id]);
      await store.close();
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        expect(await readFile(path, "latin1"), `${when}: ${path}`).not.toContain("cnryheron");
      }
    }
  });

  it("leaves no vector behind", async () => {
    const folder = await folderOf();
    const store = filesStore({ folder });
    const index = join(folder, "search-index");
    const [gone = "", stays = ""] = await dueSessions(store, [says, "It rains."]);
    const embedder: Embedder = Object.assign(
      async (texts: readonly string[]) => {
        if (texts.some((text) => text.includes("cnryheron"))) await erase(store, [gone], { index });
        return { vectors: texts.map(() => [1, 0, 0]), usage: {} };
      },
      { id: "slow" },
    );
    await semanticMemory(store, { index, embedder }).embed();
    const [vectors = ""] = (await readdir(index)).filter((name) => name.startsWith("vectors-"));
    const bytes = await readFile(join(index, vectors), "latin1");
    expect(bytes).toContain(stays);
    expect(bytes).not.toContain(gone);
    await store.close();
  });
});

it("looks again only at what may be due", async () => {
  const behind = ramStore();
  await dueSessions(behind, ["one", "two", "three"]);
  let told = 0;
  const store = over(behind, {
    async *list(scope: Scope, query: ListQuery) {
      for await (const info of behind.list(scope, query)) {
        if (query.without?.(info.metadata.uuid) === true) continue;
        if (info.state.status === "completed") told += 1;
        yield info;
      }
    },
  });
  const offloads = new Offloads(store, engine(), { all: true });
  expect(await offloads.handDue({})).toMatchObject({ received: 3 });
  expect(told).toBe(3);
  await offloads.handDue({});
  told = 0;
  const [late = ""] = await dueSessions(behind, ["four"]);
  expect(await offloads.handDue({})).toMatchObject({ received: 1 });
  expect(told).toBe(1);
  expect(await dueIn(behind)).toEqual([]);
  expect(late).not.toBe("");
});

it("stays due, and its end is kept, where the disk is full for receipts", async () => {
  const faulty = faultyStore(ramStore());
  const { store } = faulty;
  const well = engine();
  const events: string[] = [];
  const on = ({ type }: SessionEvent): void => void events.push(type);
  const manager = await SessionManager.open({
    store,
    budget: 8_000,
    memory: well,
    on,
    offload: { wait: true, lookEvery: Infinity },
  });
  const session = await manager.create();
  await session.append("hello");
  faulty.fail("append");
  await session.finish("completed");
  expect(events).toContain("offload-failed");
  expect(events).toContain("session-finished");
  faulty.mend();
  expect(await dueIn(store)).toEqual([session.id]);
  expect(await offloadDue(store, {}, well)).toMatchObject({ received: 1 });
  await manager.close();
});
