import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { monitor } from "windrow/ops";
import type { MonitorEvent, MonitorOptions } from "windrow/ops";
import { everybody, listAll, messageRecord, newSession, ramStore, stateOf, texts } from "../kit/inside/store.ts";
import { windrow } from "../cli/stage.ts";
import { dist } from "../kit/build.ts";
import { over } from "../kit/stores.ts";
import { closedSession, infoOf, startWriter, storePlace } from "./store-kit.ts";
import type { StoreFolder, Writer } from "./store-kit.ts";

let place: StoreFolder;
let store: Store;

beforeEach(async () => void ({ place, store } = await storePlace()));

const writer = (config: object = {}): Promise<Writer> => startWriter(dist, place.folder, config);

/** One look, as if it were so many seconds later. */
async function look(later = 0, options: MonitorOptions = {}): Promise<readonly MonitorEvent[]> {
  const events: MonitorEvent[] = [];
  const now = (): Date => new Date(Date.now() + 1_000 * later);
  const last = await monitor(store, { once: true, now, onEvent: (event) => events.push(event), ...options });
  expect(events.at(-1)).toEqual({ type: "scan-finished", ...last });
  return events.slice(0, -1);
}

describe("a session whose process was killed", () => {
  it("is failed with what happened, and moved, once its holder was silent for a minute", async () => {
    const { id, processId, kill } = await writer();
    await kill();
    expect(await look(50), "a supervisor may restart it yet").toEqual([]);
    const events = await look(70);
    expect(events).toMatchObject([{ type: "session-failed", sessionId: id, owner: { processId } }]);
    const { state, location, readOnly } = await infoOf(store, id);
    expect(state).toMatchObject({ status: "failed", lastActivity: "monitor_failed" });
    expect(state.error).toContain(`Process ${processId} `);
    expect(Date.parse(state.completedAt ?? "")).toBeGreaterThan(Date.now());
    expect([location, readOnly]).toEqual([join(place.folder, "completed", id), true]);
    expect(await readdir(join(place.folder, "running"))).toEqual([]);
    expect(await texts(store, id)).toEqual(["hello"]);
    expect(await look(70)).toEqual([]);
  });

  it("is left to who resumed it in time", async () => {
    const { id, kill } = await writer();
    await kill();
    const lock = await place.open().lock(everybody, id);
    expect(await look(600)).toEqual([]);
    await lock.release();
    expect(await look(600)).toEqual([]);
  });

  it("is ended once by monitors that run at the same time", { tags: ["slow"] }, async () => {
    const killed = [await writer(), await writer(), await writer()];
    for (const one of killed) await one.kill();
    const events: MonitorEvent[] = [];
    const options = { once: true, staleAfter: 0, onEvent: (event: MonitorEvent) => events.push(event) };
    await Promise.all(Array.from({ length: 4 }, () => monitor(place.open(), options)));
    const ended = events.filter(({ type }) => type !== "scan-finished");
    const told = ended.map((event) => `${event.type} ${"sessionId" in event && event.sessionId}`);
    expect(told.toSorted()).toEqual(killed.map(({ id }) => `session-failed ${id}`).toSorted());
    for (const { id } of killed) expect((await infoOf(store, id)).state.status).toBe("failed");
  });

  it("does not take from a session what somebody wrote between look and lock", async () => {
    const { id, kill } = await writer();
    await kill();
    const other = place.open();
    const holding = store.holding;
    const holder: typeof holding.holder = async (...given) => {
      const found = await holding.holder(...given);
      const lock = await other.lock(everybody, id);
      await other.append(lock, [messageRecord("resumed")]);
      await lock.release();
      return found;
    };
    const meddled = over(store, { holding: over(holding, { holder }) });
    const last = await monitor(meddled, { once: true, staleAfter: 0 });
    expect(last).toMatchObject({ looked: 1, failed: 0, errors: 0 });
    expect((await infoOf(store, id)).state.status).not.toBe("failed");
    expect(await texts(store, id)).toEqual(["hello", "resumed"]);
  });
});

describe("a session that was closed to be resumed", () => {
  it("times out when its config says so", async () => {
    const createdAt = new Date().toISOString();
    const id = await closedSession(store, { createdAt, config: { task_timeout: 3_600 } });
    expect(await look(3_500)).toEqual([]);
    expect(await look(3_700)).toMatchObject([{ type: "session-timed-out", sessionId: id }]);
    const error = expect.stringMatching(/3,7\d\d s; its task timeout is 3,600 s/) as string;
    expect((await infoOf(store, id)).state).toMatchObject({ status: "timeout", error });
  });

  it("times out by the monitor's own limit when it names none", async () => {
    const id = await closedSession(store, { createdAt: new Date().toISOString() });
    expect(await look(70, { taskTimeout: 60_000 })).toMatchObject([{ type: "session-timed-out", sessionId: id }]);
  });
});

it("a session that a live process writes is left alone, and told when its time is up", async () => {
  const { id, processId } = await writer({ task_timeout: 60 });
  expect(await look(30, { staleAfter: 0 })).toEqual([]);
  expect(await look(90)).toMatchObject([{ type: "session-overdue", sessionId: id, owner: { processId } }]);
  expect((await infoOf(store, id)).state.status).toBe("initializing");
  await expect(store.lock(everybody, id)).rejects.toMatchObject({ code: "session-busy" });
});

it("finished sessions are not looked at", async () => {
  for (let count = 0; count < 3; count += 1) {
    const lock = await store.create(everybody, newSession());
    await store.finish(lock, stateOf("completed"));
  }
  const id = await closedSession(store);
  const listed = await listAll(store, everybody, { unfinished: true });
  expect(listed.map(({ metadata }) => metadata.uuid)).toEqual([id]);
  expect(await monitor(store, { once: true })).toMatchObject({ looked: 1 });
});

describe("a monitor that keeps running", () => {
  it("looks every five minutes by default until it is told to stop", async () => {
    const stop = new AbortController();
    const waits: number[] = [];
    const sleep = async (milliseconds: number): Promise<void> => {
      waits.push(milliseconds);
      if (waits.length === 3) stop.abort();
    };
    await monitor(store, { sleep, signal: stop.signal });
    expect(waits).toEqual([300_000, 300_000, 300_000]);
  });

  it("ends at once when it is stopped while it waits", async () => {
    const stop = new AbortController();
    const running = monitor(store, { signal: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ looked: 0 });
  });

  it("goes on after a look that failed, and tells it", async () => {
    const events: MonitorEvent[] = [];
    let looks = 0;
    const list = (): never => {
      looks += 1;
      throw new Error("the disk is away");
    };
    const broken = over(ramStore(), { list });
    const stop = new AbortController();
    const sleep = async (): Promise<void> => {
      if (looks === 2) stop.abort();
    };
    await monitor(broken, { sleep, signal: stop.signal, onEvent: (event) => events.push(event) });
    expect(events.map((event) => event.type)).toEqual(["monitor-failed", "monitor-failed"]);
  });
});

it.each([{ interval: -1 }, { staleAfter: Number.NaN }, { taskTimeout: -5 }])("refuses %o", async (options) => {
  await expect(monitor(store, options)).rejects.toMatchObject({ code: "bad-option" });
});

describe("windrow monitor --once", () => {
  it("writes a line for each session it ends, and the sum", async () => {
    const { id, kill } = await writer();
    await kill();
    const { status, stdout } = await windrow(["monitor", "--once", "--stale", "0", "--store", place.folder]);
    expect(status, "one of one failed").toBe(1);
    const [line, alert, sum] = stdout.split("\n");
    expect(alert).toContain("WARNING Alert: 100 % of the ended sessions failed");
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR \[uuid:[0-9a-f]{8}\] Task failed: Process \d+ on /);
    expect(line).toContain(`[uuid:${id.slice(0, 8)}]`);
    expect(sum).toBe("1 not finished: 1 failed, 0 timed out, 0 overdue, 0 moved, 0 unreadable");
  });

  it.each([
    [["--interval", "soon"], {}],
    [[], { WINDROW_MONITOR_INTERVAL: "5m" }],
  ])("refuses an interval that is no number: %o %o", async (flags, env) => {
    const { status, stderr } = await windrow(["monitor", "--once", "--store", place.folder, ...flags], env);
    expect(status).toBe(2);
    expect(stderr).toMatch(/bad-option: .*number/);
  });
});
