/** Sessions on their way to an engine, while other things go wrong: damage, erasure, a full disk, two processes at once. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scope, SessionEvent, Store } from "windrow";
import { factMemory, MemoryLog, semanticMemory } from "windrow/memory";
import type { OffloadOutcome } from "windrow/memory";
import type { Embedder, Model, ModelAnswer } from "windrow/model";
import { erase, stats } from "windrow/ops";
import type { ListQuery } from "windrow/store";
import { faultyStore } from "windrow/testing";
import { Offloads } from "../kit/inside/memory.ts";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { listed, newFolder, openSession } from "../kit/sessions.ts";
import { closing, grep, over } from "../kit/stores.ts";
import { dueIn, dueSessions, engine, everyRecord, handAll } from "./kit.ts";

/** A store that does something before it erases a session. */
function beforeErasing(store: Store, id: string, work: () => Promise<void>): Store {
  const upkeep = store.upkeep;
  const erase: typeof upkeep.erase = async (scope, ids, elsewhere) => {
    if (ids.includes(id)) await work();
    return upkeep.erase(scope, ids, elsewhere);
  };
  return over(store, { upkeep: over(upkeep, { erase }) });
}

/** A folder with sessions that are due, and the path of the messages of one of them. */
async function dueOnDisk(texts: readonly string[], of = 0) {
  const folder = await newFolder();
  const made = filesStore({ folder });
  const ids = await dueSessions(made, texts);
  await made.close();
  return { folder, ids, path: join(folder, "completed", ids[of] ?? "", "messages.jsonl") };
}

it.each(["", "{", "\0\0\0\0", '{"a":1}\n'])(
  "keeps a session due whose messages are %j, and hands over what a backup brings back",
  async (bytes) => {
    const { folder, ids, path } = await dueOnDisk(["one", "two", "three"], 1);
    const [one, two = "", three] = ids;
    const before = await readFile(path);
    await writeFile(path, bytes);
    const store = closing(filesStore({ folder }));
    const well = engine();
    const outcomes: OffloadOutcome[] = [];
    const onOutcome = (outcome: OffloadOutcome): void => void outcomes.push(outcome);
    expect(await handAll(store, well, { onOutcome })).toEqual({ received: 2, failed: 1, waiting: 0 });
    expect(outcomes.find(({ type }) => type === "failed")).toMatchObject({ sessionId: two, failures: 2 });
    expect(new Set(well.has.keys())).toEqual(new Set([one, three]));
    expect(await dueIn(store)).toEqual([two]);
    await writeFile(path, before);
    const again = closing(filesStore({ folder }));
    await handAll(again, well);
    expect(well.has.get(two)).toEqual([1, 2]);
    expect(await dueIn(again)).toEqual([]);
  },
);

it("hands over what is left of a log with a gap, and all behind the gap again once it is mended", async () => {
  const { folder, ids, path } = await dueOnDisk(["one"]);
  const [id = ""] = ids;
  const before = await readFile(path, "utf8");
  const well = engine();
  for (const [text, has, due] of [
    [before.slice(before.indexOf("\n") + 1), [2], [id]],
    [before, [2, 1, 2], []],
  ] as const) {
    await writeFile(path, text);
    const store = closing(filesStore({ folder }));
    await handAll(store, well);
    expect([well.has.get(id), await dueIn(store)]).toEqual([has, due]);
  }
});

it("hands over what others are due where the receipts of one owner are damaged, and refuses an erasure of theirs", async () => {
  const folder = await newFolder();
  const made = filesStore({ folder });
  const [ann = ""] = await dueSessions(made, ["one"], "ann");
  const [bob = ""] = await dueSessions(made, ["two"], "bob");
  const [receipts] = new MemoryLog(made, { user: "ann" }, "offloads").ids;
  await made.close();
  const path = join(folder, "running", receipts, "metadata.json");
  const before = await readFile(path);
  await writeFile(path, "");
  const store = closing(filesStore({ folder }));
  const well = engine();
  const unreadable: string[] = [];
  const report = await handAll(store, well, { unreadable: (id) => void unreadable.push(id) });
  expect([report.received, ...well.has.keys()]).toEqual([1, bob]);
  expect(unreadable).toContain(receipts);
  expect((await stats(store)).memories).toEqual([]);
  // Nobody knows what a damaged log holds of it.
  await expect(erase(store, [ann])).rejects.toMatchObject({ code: "store-corrupt" });
  await writeFile(path, before);
  await handAll(store, well);
  expect(well.has.get(ann)).toEqual([1, 2]);
});

describe("a session that is erased while it is handed over", () => {
  const says = "The database is called cnryheron.";
  const facts = [{ about: "database", fact: says, source: "m1", quote: "database is called cnryheron" }];
  const answer: ModelAnswer = { text: JSON.stringify(facts), usage: {} as never, finish: "stop" };

  it("leaves no receipt behind", async () => {
    const store = ramStore();
    const [id = ""] = await dueSessions(store, ["one"]);
    const slow = engine(async () => void (await erase(store, [id])));
    await handAll(store, slow);
    const { ids } = new MemoryLog(store, {}, "offloads");
    expect(JSON.stringify(await everyRecord(store, {}, ids))).not.toContain(id);
  });

  it.each(["before the session goes", "after"])("leaves no fact behind where the model answers %s", async (when) => {
    const folder = await newFolder();
    const store = filesStore({ folder });
    const [id = ""] = await dueSessions(store, [says]);
    const messages = await listed(store.read({}, id, { kind: "message" }));
    const receive = (model: Model): Promise<void> =>
      factMemory({ store, model })
        .receive(id, messages)
        .catch(() => undefined);
    // The erasure has been through the memory, and has not reached the session.
    const late = (): Promise<void> => receive(async () => answer);
    if (when === "after") await receive(async () => (await erase(store, [id]), answer));
    else await erase(beforeErasing(store, id, late), [id]);
    await store.close();
    expect(await grep(folder, "cnryheron")).toEqual([]);
  });

  it("leaves no vector behind", async () => {
    const folder = await newFolder();
    const store = closing(filesStore({ folder }));
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
    const vectors = (id: string) => grep(index, id).then((paths) => paths.some((path) => path.includes("vectors-")));
    expect([await vectors(stays), await vectors(gone)]).toEqual([true, false]);
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
  await dueSessions(behind, ["four"]);
  expect(await offloads.handDue({})).toMatchObject({ received: 1 });
  expect(told).toBe(1);
  expect(await dueIn(behind)).toEqual([]);
});

it("stays due, and its end is kept, where the disk is full for receipts", async () => {
  const faulty = faultyStore(ramStore());
  const [well, { store }] = [engine(), faulty];
  const events: string[] = [];
  const on = ({ type }: SessionEvent): void => void events.push(type);
  const session = await openSession({ store, memory: well, on, offload: { wait: true, lookEvery: Infinity } });
  await session.append("hello");
  faulty.fail("append");
  await session.finish("completed");
  expect(events).toEqual(expect.arrayContaining(["offload-failed", "session-finished"]));
  faulty.mend();
  expect(await dueIn(store)).toEqual([session.id]);
  expect(await handAll(store, well)).toMatchObject({ received: 1 });
});
