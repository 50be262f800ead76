/** Alerts: limits, and telling each once. */
import { describe, expect, it } from "vitest";
import { alertsOf, AlertWatch, measureHealth } from "windrow/ops";
import type { Health } from "windrow/ops";
import { everybody, newSession, ramStore, stateOf } from "../kit/inside/store.ts";

const calm: Health = {
  time: "2024-01-15T10:30:00.000Z",
  sessions: 10,
  byStatus: { completed: 10 },
  running: 0,
  longRunning: 0,
  longest: [],
  failedShare: 0,
  averageDurationMs: 1_000,
  disk: { running: 0, completed: 0 },
};

describe("limits", () => {
  it.each([
    ["10 GB of disk", { disk: { running: 1e9, completed: 9e9 } }, []],
    ["more than 10 GB", { disk: { running: 1e9, completed: 9e9 + 1 } }, ["disk warning"]],
    ["50 GB", { disk: { running: 0, completed: 50e9 } }, ["disk warning"]],
    ["more than 50 GB", { disk: { running: 0, completed: 50e9 + 1 } }, ["disk critical"]],
    ["an unknown size", { disk: null }, []],
    ["10 % failed", { failedShare: 0.1 }, []],
    ["more than 10 % failed", { failedShare: 0.11 }, ["failures warning"]],
    ["nothing ended", { failedShare: null }, []],
    ["100 running", { running: 100 }, []],
    ["more than 100 running", { running: 101 }, ["stuck warning"]],
    ["one that runs long", { longRunning: 1, longest: ["550e8400-e29b"] }, ["long-running warning"]],
  ] as const)("%s", (_name, change, expected) => {
    expect(alertsOf({ ...calm, ...change }).map(({ name, level }) => `${name} ${level}`)).toEqual(expected);
  });

  it("can be set", () => {
    const health = { ...calm, running: 5, failedShare: 0.3 };
    expect(alertsOf(health, { stuck: 4, failedShare: 0.5 }).map(({ name }) => name)).toEqual(["stuck"]);
  });
});

it("tells an alert when it begins, when its level changes, and when it is over", () => {
  const watch = new AlertWatch();
  const look = (bytes: number): readonly string[] =>
    watch
      .update(alertsOf({ ...calm, disk: { running: bytes, completed: 0 } }))
      .map((event) => `${event.type} ${event.level}`);
  expect(look(11e9)).toEqual(["alert-raised warning"]);
  expect(look(12e9)).toEqual([]);
  expect(look(51e9)).toEqual(["alert-raised critical"]);
  expect(look(12e9)).toEqual(["alert-raised warning"]);
  expect(look(1e9)).toEqual(["alert-cleared warning"]);
  expect(look(1e9)).toEqual([]);
});

it("measures a store: shares, and who has run six hours", async () => {
  const store = ramStore();
  const begin = async (startedAt: string): Promise<string> => {
    const lock = await store.create(everybody, newSession({ createdAt: startedAt }));
    await store.setState(lock, { ...stateOf("processing"), startedAt });
    return lock.id;
  };
  const early = await begin("2024-01-15T04:00:00.000Z");
  await begin("2024-01-15T04:00:01.000Z");
  for (const status of ["completed", "failed", "timeout", "completed"] as const) {
    await store.finish(await store.create(everybody, newSession()), stateOf(status));
  }
  const health = await measureHealth(store, { now: () => new Date("2024-01-15T10:00:00.000Z") });
  expect(health).toMatchObject({ sessions: 6, running: 2, longRunning: 1, longest: [early], failedShare: 0.25 });
});
