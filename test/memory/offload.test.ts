/** Sessions on their way to an engine: whatever ends them, whatever the engine does, and whenever a process is killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, SessionEvent, Store } from "windrow";
import { dueOffloads, MemoryLog, offloadDue } from "windrow/memory";
import type { Memory } from "windrow/memory";
import { doctor, monitor, stats } from "windrow/ops";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { dist } from "../kit/build.ts";
import { startChild } from "../kit/child.ts";
import { handRest, startEngineServer } from "./engine-server.ts";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A clock that a test sets, and work that it runs every so often. */
class Time {
  at = Date.parse("2026-01-01T00:00:00Z");
  readonly runs = new Set<() => void>();
  readonly now = (): Date => new Date(this.at);
  readonly every = (_milliseconds: number, run: () => void): (() => void) => {
    this.runs.add(run);
    return () => void this.runs.delete(run);
  };
}

type Receive = Memory["receive"];

/** An engine that keeps what it received, and does as it is told. */
function engine(
  receive: Receive = async () => undefined,
): Memory & { readonly has: Map<string, number[]>; calls: number } {
  const has = new Map<string, number[]>();
  const memory = {
    name: "engine",
    has,
    calls: 0,
    async receive(id: string, messages: Parameters<Receive>[1], signal?: AbortSignal): Promise<void> {
      memory.calls++;
      const list = [...messages];
      await receive(id, list, signal);
      has.set(id, [...(has.get(id) ?? []), ...list.map(({ seq }) => seq)]);
    },
    query: async () => [],
    close: async () => undefined,
  };
  return memory;
}

async function open(options: ManagerOptions): Promise<SessionManager> {
  const manager = await SessionManager.open({ budget: 8_000, ...options });
  closers.push(() => manager.close());
  return manager;
}

async function dueIn(store: Store): Promise<readonly { readonly sessionId: string; readonly failures: number }[]> {
  const due: { sessionId: string; failures: number }[] = [];
  for await (const { sessionId, failures } of dueOffloads(store, {})) due.push({ sessionId, failures });
  return due;
}

const hello = { role: "user", parts: [{ type: "text", text: "hello" }] } as const;

async function sessionWith(manager: SessionManager, messages = 1): Promise<string> {
  const session = await manager.create();
  for (let at = 0; at < messages; at++) await session.append(hello);
  return session.id;
}

/** Waits until the background work of a manager has done something. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

it("does not hold finish while an engine hangs, and tries again after its time limit", async () => {
  const store = ramStore();
  let hangs = true;
  const memory = engine((_id, _messages, signal) =>
    hangs ? new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("cut")))) : ready(),
  );
  const time = new Time();
  const events: SessionEvent[] = [];
  const on = (event: SessionEvent): void => void events.push(event);
  const manager = await open({
    store,
    memory,
    on,
    now: time.now,
    every: time.every,
    offload: { timeout: 20, retryAfter: 1_000 },
  });
  const id = await sessionWith(manager, 3);
  await manager.destroy(id);
  expect(events.map(({ type }) => type)).toContain("session-finished");
  expect(memory.has.size).toBe(0);
  await until(() => events.some(({ type }) => type === "offload-failed"));
  expect(await dueIn(store)).toEqual([{ sessionId: id, failures: 1 }]);

  hangs = false;
  await offloadDue(store, {}, memory, { clock: { now: () => time.at, every: time.every } });
  expect(memory.has.size, "its time has not come").toBe(0);
  time.at += 1_001;
  for (const run of time.runs) run();
  await until(() => memory.has.size > 0);
  await until(async () => (await dueIn(store)).length === 0);
  expect(memory.has.get(id)).toEqual([1, 2, 3]);
});

async function ready(): Promise<void> {}

it("waits twice as long after each failure, at most a day", async () => {
  const store = ramStore();
  const memory = engine(() => Promise.reject(new Error("down")));
  const manager = await open({ store, memory, offload: { wait: true, lookEvery: Infinity } });
  const id = await sessionWith(manager);
  await manager.destroy(id);
  const waits: number[] = [];
  let now = Date.now() + 61_000;
  for (let round = 0; round < 14; round++) {
    const clock = { now: () => now, every: () => () => undefined };
    const onOutcome = (outcome: { readonly type: string; readonly notBefore?: string }): void => {
      waits.push(Math.round((Date.parse(outcome.notBefore ?? "") - now) / 60_000));
    };
    expect(await offloadDue(store, {}, memory, { clock, onOutcome })).toMatchObject({ failed: 1 });
    now += 86_400_001;
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440, 1_440, 1_440, 1_440]);
});

it("goes on behind the batches that an engine has", async () => {
  const store = ramStore();
  let left = 2;
  const memory = engine(async () => {
    if (--left < 0) throw new Error("full");
  });
  const manager = await open({ store, memory, offload: { wait: true, retryAfter: 1, lookEvery: Infinity } });
  const session = await manager.create();
  await session.append(Array.from({ length: 700 }, () => hello));
  await session.finish("completed");
  expect(memory.has.get(session.id)).toHaveLength(512);
  left = 1;
  await offloadDue(store, {}, memory, { all: true });
  expect(memory.has.get(session.id)).toEqual(Array.from({ length: 700 }, (_, at) => at + 1));
  expect(await dueIn(store)).toEqual([]);
});

describe("whatever ends a session", () => {
  const ends: readonly (readonly [string, (manager: SessionManager, store: Store, time: Time) => Promise<string>])[] = [
    [
      "finish",
      async (manager) => {
        const id = await sessionWith(manager);
        await (await manager.session(id)).finish("failed", "it broke");
        return id;
      },
    ],
    [
      "an idle time-out",
      async (manager, _store, time) => {
        const id = await sessionWith(manager);
        time.at += 10_000;
        for (const run of time.runs) run();
        return id;
      },
    ],
    [
      "a monitor's time-out",
      async (manager, store, time) => {
        const id = await sessionWith(manager);
        await (await manager.session(id)).close();
        const report = await monitor(store, {
          once: true,
          taskTimeout: 1_000,
          now: () => new Date(time.at + 3_600_000),
        });
        expect(report.timedOut).toBe(1);
        return id;
      },
    ],
    [
      "a monitor that puts it to rest",
      async (manager, store, time) => {
        const id = await sessionWith(manager);
        await (await manager.session(id)).close();
        const report = await monitor(store, {
          once: true,
          closedAfter: 1_000,
          now: () => new Date(time.at + 3_600_000),
        });
        expect(report.retired).toBe(1);
        return id;
      },
    ],
  ];

  it.each(ends)("%s hands it over", async (_name, end) => {
    const store = ramStore();
    const memory = engine();
    const time = new Time();
    const manager = await open({ store, memory, now: time.now, every: time.every, idleTimeout: 5_000 });
    const id = await end(manager, store, time);
    time.at += 3_700_000;
    for (const run of time.runs) run();
    await until(() => memory.has.has(id));
    await until(async () => (await dueIn(store)).length === 0);
    expect(memory.has.get(id)).toEqual([1]);
    expect(memory.calls).toBe(1);
  });

  it("one that was put to rest and goes on is due again, from where it stood", async () => {
    const store = ramStore();
    const memory = engine();
    const time = new Time();
    const manager = await open({ store, memory, now: time.now, every: time.every, idleTimeout: 5_000 });
    const id = await sessionWith(manager, 2);
    for (const messages of [2, 3]) {
      time.at += 10_000;
      for (const run of time.runs) run();
      await until(() => memory.has.get(id)?.length === messages);
      if (messages === 2) await (await manager.session(id)).append(hello);
    }
    await until(async () => (await dueIn(store)).length === 0);
    expect(memory.has.get(id)).toEqual([1, 2, 3]);
  });

  it("one that began without the engine goes to it once it is resumed with it", async () => {
    const store = ramStore();
    const before = await open({ store });
    const id = await sessionWith(before);
    await (await before.session(id)).close();
    const memory = engine();
    const manager = await open({ store, memory, offload: { wait: true } });
    const session = await manager.resume(id);
    await session.finish("completed");
    expect(memory.has.get(id)).toEqual([1]);
  });
});

const rounds = Number(process.env["WINDROW_FAULT_ROUNDS"] ?? 10);

/** Kills in one store. */
const kills = 10;
const stores = Array.from({ length: Math.ceil(rounds / kills) }, (_, place) => place * kills);

it.each(stores)(
  "loses nothing and keeps nothing twice over ten kills from %i, with an engine that fails, hangs and forgets to answer",
  { tags: ["slow"], timeout: 240_000 },
  async (begin) => {
    const folder = await mkdtemp(join(tmpdir(), "windrow-offload-"));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const server = await startEngineServer();
    closers.push(() => server.close());
    const rows: string[] = [];
    for (let round = begin; round < begin + kills; round++) {
      const child = startChild("test/memory/child/ending.js", [dist, folder, server.url, `r${round}`]);
      const least = 2 + ((5 * round) % 13);
      await child.until((lines) => lines.length >= least);
      // Some kills come while requests are under way.
      if (round % 2 === 1) {
        await until(() => server.requests() % 7 === round % 7 || child.lines().length > least + 20);
      }
      await child.kill();
      rows.push(...child.lines());
    }
    const store = filesStore({ folder });
    closers.push(() => store.close());
    expect(await handRest(store, server, rows)).toEqual({ due: [], lost: [], confused: 0 });
    expect(rows.length).toBeGreaterThan(kills);
  },
);

it("is told by stats and by the doctor while it is due, with the reason of a failure", async () => {
  const folder = await mkdtemp(join(tmpdir(), "windrow-due-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const store = filesStore({ folder });
  const memory = engine(() => Promise.reject(new Error("the engine is down")));
  const manager = await open({ store, memory, offload: { wait: true, lookEvery: Infinity } });
  await manager.destroy(await sessionWith(manager));
  const due = [{ memory: "engine", due: 1, failing: 1, reason: "the engine is down" }];
  expect((await stats(store)).memories).toEqual(due);
  const { findings, open: damage } = await doctor(store);
  expect(findings.find(({ problem }) => problem === "offload-due")?.message).toContain("the engine is down");
  expect(damage).toBe(0);
  const well = engine();
  await offloadDue(store, {}, well, { all: true });
  expect((await stats(store)).memories).toEqual([]);
  expect((await doctor(store)).findings).toEqual([]);
});

it("goes on behind what it was handed, also where the engine changes that", async () => {
  const store = ramStore();
  const seen: number[] = [];
  const memory = engine();
  memory.receive = async (_id, messages) => {
    for (const one of messages as { seq: number }[]) {
      seen.push(one.seq);
      one.seq = 1_000_000;
    }
  };
  const time = new Time();
  const manager = await open({ store, memory, now: time.now, every: time.every, idleTimeout: 5_000 });
  const id = await sessionWith(manager);
  for (const count of [1, 2]) {
    time.at += 10_000;
    for (const run of time.runs) run();
    await until(() => seen.length === count);
    if (count === 1) await (await manager.session(id)).append(hello);
  }
  expect(seen).toEqual([1, 2]);
});

it("does not wait for years where a clock was ahead and went back", async () => {
  const store = ramStore();
  const memory = engine(() => Promise.reject(new Error("down")));
  const ahead = new Date("2036-01-01T00:00:00Z");
  const manager = await open({ store, memory, now: () => ahead, offload: { wait: true, lookEvery: Infinity } });
  const failed = await sessionWith(manager);
  await manager.destroy(failed);
  const claimed = await sessionWith(manager);
  const receipts = new MemoryLog(store, {}, "offloads", { clock: { now: () => ahead.getTime(), every: () => ready } });
  const until = new Date(ahead.getTime() + 60_000).toISOString();
  await receipts.append([{ type: "claimed", data: { session: claimed, memory: "engine", to: 0, until } }]);
  await (await manager.session(claimed)).close();
  await monitor(store, { once: true, closedAfter: 1, now: () => new Date(ahead.getTime() + 3_600_000) });
  const well = engine();
  expect(await offloadDue(store, {}, well)).toMatchObject({ received: 2, waiting: 0 });
  expect([...well.has.keys()].toSorted()).toEqual([failed, claimed].toSorted());
});

it(
  "neither fails nor holds a resume for long while another process keeps the receipts locked",
  { tags: ["slow"] },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "windrow-receipts-"));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const other = filesStore({ folder });
    const receipts = new MemoryLog(other, {}, "offloads");
    await receipts.append([{ type: "none", data: {} }]);
    const [id = ""] = receipts.ids;
    const lock = await other.lock({}, id);
    const before = await SessionManager.open({ store: folder, budget: 8_000 });
    const begun = await sessionWith(before);
    await before.close();

    const memory = engine();
    const manager = await SessionManager.open({
      store: folder,
      budget: 8_000,
      memory,
      offload: { lookEvery: Infinity },
    });
    const session = await manager.resume(begun);
    await session.append(hello);
    await session.finish("completed");
    expect((await other.info({}, begun)).state.status).toBe("completed");
    expect(memory.has.size).toBe(0);
    await lock.release();
    await until(() => memory.has.size > 0);
    expect(memory.has.get(begun)).toEqual([1, 2]);
    await manager.close();
    expect(await dueIn(other)).toEqual([]);
    await other.close();
  },
);

it("hands over what others are due while the receipts of one owner are locked", async () => {
  const store = ramStore();
  const ids: string[] = [];
  for (const user of ["ann", "bob"]) {
    const manager = await SessionManager.open({
      store,
      user,
      budget: 8_000,
      memory: engine(() => Promise.reject(new Error("down"))),
      offload: { wait: true, lookEvery: Infinity },
    });
    ids.push(await sessionWith(manager));
    await manager.destroy(ids.at(-1) ?? "");
  }
  const [locked = ""] = new MemoryLog(store, { user: "bob" }, "offloads").ids;
  const lock = await store.lock({ user: "bob" }, locked);
  const well = engine();
  const report = await offloadDue(store, {}, well, { all: true, sleep: async () => undefined });
  expect(report).toEqual({ received: 1, failed: 0, waiting: 1 });
  expect([...well.has.keys()]).toEqual([ids[0]]);
  await lock.release();
  await store.close();
});
