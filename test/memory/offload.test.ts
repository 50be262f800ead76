/** Sessions on their way to an engine: whatever ends them, and whatever the engine does. */
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions, SessionEvent, Store } from "windrow";
import { dueOffloads, MemoryLog, offloadDue } from "windrow/memory";
import { cleanup, doctor, monitor, stats } from "windrow/ops";
import { filesStore, ramStore } from "../kit/inside/store.ts";
import { asked, listed, newFolder, openManager, openSession } from "../kit/sessions.ts";
import { closing } from "../kit/stores.ts";
import { down, dueIn, dueSessions, engine, handAll } from "./kit.ts";

const calmly = { wait: true, lookEvery: Infinity };

/** A clock that a test sets, and work that it runs every so often. */
class Time {
  at = Date.parse("2026-01-01T00:00:00Z");
  readonly runs = new Set<() => void>();
  readonly now = (): Date => new Date(this.at);
  readonly every = (_milliseconds: number, run: () => void): (() => void) => {
    this.runs.add(run);
    return () => void this.runs.delete(run);
  };
  pass(milliseconds: number): void {
    this.at += milliseconds;
    for (const run of this.runs) run();
  }
}

/** A manager by a clock, over a store in RAM, that hands over to an engine. */
async function timed(options: ManagerOptions = {}) {
  const [store, memory, time] = [ramStore(), engine(), new Time()];
  const { now, every } = time;
  const manager = await openManager({ store, memory, budget: 8_000, now, every, idleTimeout: 5_000, ...options });
  return { store, memory, time, manager };
}

async function sessionWith(manager: SessionManager, messages = 1): Promise<string> {
  const session = await manager.create();
  for (let at = 0; at < messages; at++) await session.append("hello");
  return session.id;
}

/** Waits until the background work of a manager has done something. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}
const untilNoneIsDue = (store: Store): Promise<void> => until(async () => (await dueIn(store)).length === 0);

it("does not hold finish while an engine hangs, and tries again after its time limit", async () => {
  let hangs = true;
  const memory = engine(async (_id, _messages, signal) => {
    if (hangs) await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("cut"))));
  });
  const events: string[] = [];
  const on = ({ type }: SessionEvent): void => void events.push(type);
  const { store, time, manager } = await timed({ memory, on, offload: { timeout: 20, retryAfter: 1_000 } });
  const id = await sessionWith(manager, 3);
  await manager.destroy(id);
  expect(events).toContain("session-finished");
  expect(memory.has.size).toBe(0);
  await until(() => events.includes("offload-failed"));
  expect(await listed(dueOffloads(store, {}))).toMatchObject([{ sessionId: id, failures: 1 }]);

  hangs = false;
  await offloadDue(store, {}, memory, { clock: { now: () => time.at, every: time.every } });
  expect(memory.has.size, "its time has not come").toBe(0);
  time.pass(1_001);
  await until(() => memory.has.size > 0);
  await untilNoneIsDue(store);
  expect(memory.has.get(id)).toEqual([1, 2, 3]);
});

it("waits twice as long after each failure, at most a day", async () => {
  const store = ramStore();
  await dueSessions(store, ["one"]);
  const waits: number[] = [];
  let now = Date.now() + 61_000;
  for (let round = 0; round < 14; round++) {
    const clock = { now: () => now, every: () => () => undefined };
    const onOutcome = (outcome: { readonly type: string; readonly notBefore?: string }): void => {
      waits.push(Math.round((Date.parse(outcome.notBefore ?? "") - now) / 60_000));
    };
    expect(await offloadDue(store, {}, down(), { clock, onOutcome })).toMatchObject({ failed: 1 });
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
  const session = await openSession({ store, memory, budget: 8_000, offload: { ...calmly, retryAfter: 1 } });
  await session.append(Array.from({ length: 700 }, () => asked("hello")));
  await session.finish("completed");
  expect(memory.has.get(session.id)).toHaveLength(512);
  left = 1;
  await handAll(store, memory);
  expect(memory.has.get(session.id)).toEqual(Array.from({ length: 700 }, (_, at) => at + 1));
  expect(await dueIn(store)).toEqual([]);
});

describe("whatever ends a session", () => {
  type End = (manager: SessionManager, id: string, store: Store, time: Time) => Promise<unknown>;
  const closed =
    (look: (store: Store, now: () => Date) => Promise<unknown>, told: object): End =>
    async (manager, id, store, { at }) => {
      await (await manager.session(id)).close();
      expect(await look(store, () => new Date(at + 3_600_000))).toMatchObject(told);
    };
  const ends: readonly (readonly [string, End])[] = [
    ["finish", async (manager, id) => (await manager.session(id)).finish("failed", "it broke")],
    ["an idle time-out", async (_manager, _id, _store, time) => time.pass(10_000)],
    [
      "a monitor's time-out",
      closed((store, now) => monitor(store, { once: true, now, taskTimeout: 1_000 }), { timedOut: 1 }),
    ],
    [
      "a clean-up that puts it to rest",
      closed((store, now) => cleanup(store, { now, closedAfter: 1_000 }), { retired: [{}] }),
    ],
  ];

  it.each(ends)("%s hands it over once", async (_name, end) => {
    const { store, memory, time, manager } = await timed();
    const id = await sessionWith(manager);
    await end(manager, id, store, time);
    time.pass(3_700_000);
    await until(() => memory.has.has(id));
    await untilNoneIsDue(store);
    expect(memory.has.get(id)).toEqual([1]);
  });

  it("one that was put to rest and goes on is due again, from where it stood, whatever the engine did with it", async () => {
    const seen: number[] = [];
    const memory = engine(async (_id, messages) => {
      for (const one of messages as { seq: number }[]) {
        seen.push(one.seq);
        one.seq = 1_000_000;
      }
    });
    const { store, time, manager } = await timed({ memory });
    const id = await sessionWith(manager, 2);
    for (const messages of [2, 3]) {
      time.pass(10_000);
      await until(() => seen.length === messages);
      if (messages === 2) await (await manager.session(id)).append("hello");
    }
    await untilNoneIsDue(store);
    expect(seen).toEqual([1, 2, 3]);
  });

  it("one that began without the engine goes to it once it is resumed with it", async () => {
    const store = ramStore();
    const before = await openManager({ store });
    const id = await sessionWith(before);
    await (await before.session(id)).close();
    const memory = engine();
    const manager = await openManager({ store, memory, offload: { wait: true } });
    await (await manager.resume(id)).finish("completed");
    expect(memory.has.get(id)).toEqual([1]);
  });
});

it("is told by stats and by the doctor while it is due, with the reason of a failure", async () => {
  const store = closing(filesStore({ folder: await newFolder() }));
  await dueSessions(store, ["one"]);
  const reason = "the engine is down";
  expect((await stats(store)).memories).toEqual([{ memory: "engine", due: 1, failing: 1, reason }]);
  const { findings, open: damage } = await doctor(store);
  expect(findings.find(({ problem }) => problem === "offload-due")?.message).toContain(reason);
  expect(damage).toBe(0);
  await handAll(store, engine());
  expect((await stats(store)).memories).toEqual([]);
  expect((await doctor(store)).findings).toEqual([]);
});

it("does not wait for years where a clock was ahead and went back", async () => {
  const ahead = new Date("2036-01-01T00:00:00Z");
  const { store, manager } = await timed({ memory: down(), now: () => ahead, offload: calmly });
  const failed = await sessionWith(manager);
  await manager.destroy(failed);
  const claimed = await sessionWith(manager);
  const clock = { now: () => ahead.getTime(), every: () => () => undefined };
  const receipts = new MemoryLog(store, {}, "offloads", { clock });
  const end = new Date(ahead.getTime() + 60_000).toISOString();
  const data = { session: claimed, memory: "engine", to: 0, claimed_until: end };
  await receipts.append([{ type: "offload", data }]);
  await (await manager.session(claimed)).close();
  await cleanup(store, { closedAfter: 1, now: () => new Date(ahead.getTime() + 3_600_000) });
  const well = engine();
  expect(await offloadDue(store, {}, well)).toMatchObject({ received: 2, waiting: 0 });
  expect([...well.has.keys()].toSorted()).toEqual([failed, claimed].toSorted());
});

it("neither fails nor holds a resume for long while the receipts are locked", { tags: ["slow"] }, async () => {
  const folder = await newFolder();
  const other = closing(filesStore({ folder }));
  const receipts = new MemoryLog(other, {}, "offloads");
  await receipts.append([{ type: "none", data: {} }]);
  const lock = await other.lock({}, receipts.ids[0]);
  const before = await SessionManager.open({ store: folder, budget: 8_000 });
  const begun = await sessionWith(before);
  await before.close();

  const memory = engine();
  const manager = await SessionManager.open({ store: folder, memory, offload: { lookEvery: Infinity } });
  const session = await manager.resume(begun);
  await session.append("hello");
  await session.finish("completed");
  expect((await other.info({}, begun)).state.status).toBe("completed");
  expect(memory.has.size).toBe(0);
  await lock.release();
  await until(() => memory.has.size > 0);
  expect(memory.has.get(begun)).toEqual([1, 2]);
  await manager.close();
  expect(await dueIn(other)).toEqual([]);
});

it("hands over what others are due while the receipts of one owner are locked", async () => {
  const store = ramStore();
  const [ann = ""] = await dueSessions(store, ["one"], "ann");
  await dueSessions(store, ["two"], "bob");
  const [locked] = new MemoryLog(store, { user: "bob" }, "offloads").ids;
  await store.lock({ user: "bob" }, locked);
  const well = engine();
  expect(await handAll(store, well, { sleep: async () => undefined })).toEqual({ received: 1, failed: 0, waiting: 1 });
  expect([...well.has.keys()]).toEqual([ann]);
});
