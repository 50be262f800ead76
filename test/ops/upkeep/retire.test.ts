/** Sessions that were closed and never finished: put to rest by age, compressed, backed up, and whole when they are resumed. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Message, Store } from "windrow";
import {
  alertsOf,
  archive,
  backup,
  cleanup,
  doctor,
  keep,
  measureHealth,
  monitor,
  restore,
  search,
  stats,
  top,
} from "windrow/ops";
import type { MonitorOptions } from "windrow/ops";
import { openStore } from "windrow/store";
import { copy, finishSession, generationNames, readGeneration } from "../../kit/inside/ops.ts";
import { messageText } from "../../kit/inside/message.ts";
import { everybody, listAll } from "../../kit/inside/store.ts";
import { asked, listed, newFolder, openManager } from "../../kit/sessions.ts";
import { opened } from "../../kit/stores.ts";
import { driver } from "../../kit/sqlite-stores.ts";
import { dayMs, today } from "./aged.ts";

const targets: readonly (readonly [name: string, target: (folder: string) => string])[] = [
  ["files", (folder) => join(folder, "store")],
  ...(driver ? [["sqlite", (folder: string) => `sqlite:${join(folder, "store.db")}`] as const] : []),
];
const on =
  (days: number): (() => Date) =>
  () =>
    new Date(today.getTime() + days * dayMs);
const textsOf = async (messages: AsyncIterable<Message>): Promise<readonly string[]> =>
  (await listed(messages)).map(messageText);

let folder: string;
beforeEach(async () => void (folder = await newFolder()));

describe.each(targets)("a closed session in a store of %s", (_name, target) => {
  /** Opens a manager on a day, does something with it, and closes it. */
  async function withManager<T>(day: number, work: (manager: SessionManager) => Promise<T>): Promise<T> {
    const manager = await SessionManager.open({ store: target(folder), budget: 8_000, now: on(day) });
    try {
      return await work(manager);
    } finally {
      await manager.close();
    }
  }

  async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore(target(folder));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const talk = (day: number, ...texts: readonly string[]): Promise<string> =>
    withManager(day, async (manager) => {
      const session = await manager.create();
      await session.append(texts.map(asked));
      return session.id;
    });

  /** What a session says when it is resumed. */
  const resumed = (id: string, day: number): Promise<readonly string[]> =>
    withManager(day, async (manager) => {
      const session = await manager.resume(id);
      expect((await manager.info(id)).state.status).toBe("processing");
      return textsOf(session.messages());
    });

  it("is put to rest once it is old enough, and goes on whole when it is resumed", async () => {
    const long = "A line that is long enough. ".repeat(400);
    const id = await talk(0, "one", long, "three");
    await withStore(async (store) => {
      expect(await cleanup(store, { now: on(6) })).toMatchObject({ retired: [], compressed: [] });
      expect(await cleanup(store, { now: on(8), dryRun: true })).toMatchObject({ retired: [{ sessionId: id }] });
      expect((await store.info(everybody, id)).state.status).toBe("processing");
      const report = await cleanup(store, { now: on(8), remove: true });
      expect(report).toMatchObject({ retired: [{ sessionId: id, since: today.toISOString() }], failures: [], due: [] });
      const { state, readOnly } = await store.info(everybody, id);
      expect({ status: state.status, readOnly }).toEqual({ status: "closed", readOnly: false });
      expect(await cleanup(store, { now: on(100), remove: true })).toMatchObject({ retired: [], trashed: [], due: [] });
      expect((await search(store, { query: "three" })).hits).toHaveLength(1);
      if (!store.upkeep.compress) return;
      expect(report.compressed.map(({ sessionId }) => sessionId)).toEqual([id]);
      expect((await store.upkeep.size(everybody, id)).compressed).toBe(true);
      expect((await archive(store, id)).after.compressed).toBe(true);
      expect((await doctor(store)).findings).toEqual([]);
    });
    expect(await resumed(id, 9)).toEqual(["one", long, "three"]);
    // The resume is a record: its age begins anew.
    await withStore(async (store) => {
      expect(await cleanup(store, { now: on(15) })).toMatchObject({ retired: [] });
      expect(await cleanup(store, { now: on(17) })).toMatchObject({ retired: [{ sessionId: id }] });
      expect(await finishSession(store, id, { now: on(18) })).toMatchObject({ before: "closed", status: "completed" });
      expect((await store.info(everybody, id)).readOnly).toBe(true);
    });
  });

  it("is counted apart: neither running, nor stuck, nor long, and shown", async () => {
    const ids = [await talk(0, "one"), await talk(0, "two")];
    await talk(20, "three");
    await withStore(async (store) => {
      await cleanup(store, { now: on(20) });
      const health = await measureHealth(store, { now: on(20) });
      expect(health).toMatchObject({ running: 1, longRunning: 0, byStatus: { closed: 2, processing: 1 } });
      expect(alertsOf(health, { stuck: 1 })).toEqual([]);
      expect(alertsOf({ ...health, running: 3 }, { stuck: 1 })).toHaveLength(1);
      expect(await stats(store)).toMatchObject({ total: 3, running: 1, closed: 2, completed: 0 });
      const look = await top(store);
      // The third was let go in order, too: nobody writes it.
      expect(look).toMatchObject({ running: 0, closed: 3 });
      const closed = look.sessions.filter(({ status }) => status === "closed").map(({ id }) => id);
      expect(closed.toSorted()).toEqual(ids.toSorted());
    });
  });

  it("is left alone while somebody writes it, and where it is kept", async () => {
    const kept = await talk(0, "kept");
    await withManager(0, async (manager) => {
      const held = await manager.create();
      await held.append(asked("held"));
      await withStore(async (store) => {
        await keep(store, kept, { by: "ann", reason: "audit" });
        expect(await cleanup(store, { now: on(90) })).toMatchObject({ retired: [], failures: [] });
        expect((await store.info(everybody, held.id)).state.status).toBe("initializing");
      });
    });
    await withStore(async (store) => {
      const statuses = (await listAll(store)).map(({ state }) => state.status);
      expect([statuses.length, statuses.includes("closed")]).toEqual([2, false]);
    });
  });

  it("is left alone by the monitor, and never timed out once it is at rest", async () => {
    const id = await talk(0, "one");
    await withStore(async (store) => {
      const look = (days: number, options: MonitorOptions = {}): Promise<unknown> =>
        monitor(store, { once: true, now: on(days), ...options });
      expect(await look(90)).toMatchObject({ looked: 1, timedOut: 0 });
      expect(await cleanup(store, { now: on(4), closedAfter: 3 * dayMs })).toMatchObject({
        retired: [{ sessionId: id }],
      });
      expect(await look(90, { taskTimeout: 1_000 })).toMatchObject({ timedOut: 0 });
      expect((await store.info(everybody, id)).state.status).toBe("closed");
      await expect(look(4, { taskTimeout: -1 })).rejects.toMatchObject({ code: "bad-option" });
    });
  });

  it("is in backups, and stays in them when it is resumed", async () => {
    const id = await talk(0, "one");
    const running = await talk(30, "another");
    const copies = join(folder, "copies");
    const newest = (): readonly (readonly [string, number])[] => {
      const name = generationNames(copies).at(-1) ?? "";
      return (readGeneration(copies, name)?.sessions ?? []).map((one) => [one.id, one.lines] as const);
    };
    await withStore(async (store) => {
      await backup(store, copies);
      expect(newest()).toEqual([]);
      await cleanup(store, { now: on(30) });
      await backup(store, copies);
      expect(newest().map(([one]) => one)).toEqual([id]);
    });
    const lines = newest()[0]?.[1] ?? 0;
    await withManager(31, async (manager) => {
      await (await manager.resume(id)).append(asked("and more"));
    });
    await withStore(async (store) => {
      await backup(store, copies);
      expect(newest()).toEqual([[id, expect.any(Number)]]);
      expect(newest()[0]?.[1]).toBeGreaterThan(lines);
      await cleanup(store, { now: on(60) });
      await backup(store, copies);
      const kept = newest().map(([one]) => one);
      expect(kept.toSorted()).toEqual([id, running].toSorted());
    });
  });

  it("keeps every message through any talks, rests and returns", { tags: ["slow"], timeout: 120_000 }, async () => {
    const deed = fc.constantFrom("talk", "rest", "compress", "look", "resume");
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 3, maxLength: 9 }), async (deeds) => {
        const said = ["begin"];
        const id = await talk(0, "begin");
        let day = 0;
        for (const one of deeds) {
          day += 10;
          if (one === "talk") {
            said.push(`day ${day} ${"and on ".repeat(200)}`);
            await withManager(day, async (manager) => {
              await (await manager.resume(id)).append(asked(said.at(-1) ?? ""));
            });
          } else if (one === "rest" || one === "compress") {
            await withStore((store) => cleanup(store, { now: on(day), compressAfter: one === "rest" ? 1e12 : 0 }));
          }
          const texts =
            one === "resume" ? resumed(id, day) : withManager(day, (manager) => textsOf(manager.messages(id)));
          expect(await texts, one).toEqual(said);
        }
        expect(await resumed(id, day + 1)).toEqual(said);
      }),
      { numRuns: 12 },
    );
  });
});

it("a closed session on disk that is resumed and whose process dies at once is not taken for one at rest", async () => {
  const store = join(folder, "store");
  const manager = await openManager({ store, now: on(0) });
  const session = await manager.create();
  await session.append("one");
  await session.close();
  await cleanup(await opened(store), { now: on(30) });
  const path = join(store, "running", session.id, "state.json");
  expect(await readFile(path, "utf8")).toContain('"status": "closed"');
  const again = await manager.resume(session.id);
  // On disk before the resume is told, and so also after a kill.
  expect(await readFile(path, "utf8")).toContain('"status": "processing"');
  await again.close();
  expect((await readdir(join(store, "running", session.id))).filter((name) => name.endsWith(".gz"))).toEqual([]);
});

describe("a compressed closed session", () => {
  const said = Array.from({ length: 40 }, (_, number) => `${number} ${"a long line ".repeat(60)}`);

  /** One at rest, its store, and the manager that made it. */
  async function atRest() {
    const target = join(folder, "store");
    const manager = await openManager({ store: target, now: on(0) });
    const { id } = await manager.create();
    await (await manager.session(id)).append(said.map(asked));
    await (await manager.session(id)).close();
    const store = await opened(target);
    await cleanup(store, { now: on(30) });
    expect((await store.upkeep.size(everybody, id)).compressed).toBe(true);
    return { id, store, manager };
  }
  const deeds: Readonly<Record<string, (store: Store, to: Store) => Promise<unknown>>> = {
    "is copied into another store as it is": copy,
    async "comes back from a backup"(store, to) {
      await backup(store, join(folder, "copies"));
      await restore(join(folder, "copies"), to);
    },
  };

  it.each(Object.entries(deeds))("%s, and goes on there", async (_name, deed) => {
    const { id, store } = await atRest();
    const there = await opened(join(folder, "other"));
    await deed(store, there);
    expect((await there.info(everybody, id)).state.status).toBe("closed");
    const again = await (await openManager({ store: there, now: on(31) })).resume(id);
    expect(await textsOf(again.messages())).toEqual(said);
    await again.append("and on");
    expect(again.stats().messages).toBe(41);
  });

  it("is whole for who takes it by force from a process that hangs while it takes it up", async () => {
    const { id, store, manager } = await atRest();
    await store.lock(everybody, id);
    const taken = await store.holding.unlock(everybody, id, { force: true, reason: "hangs" });
    expect(taken.state).toBe("held");
    expect(await textsOf((await manager.resume(id)).messages())).toEqual(said);
  });
});
