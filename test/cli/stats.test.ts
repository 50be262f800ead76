/** `windrow stats` on real stores: filters, sizes as the disk has them, shares. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { StatsReport } from "../../src/ops/stats/stats.ts";
import { everybody, messageRecord, newSession, stateOf } from "../../src/store/testing/kit.ts";
import { openStore } from "../../src/access/open.ts";
import type { FinalStatus } from "../../src/store/store.ts";
import { driver } from "../store/sqlite-fixtures.ts";
import { newFolder, windrow } from "./stage.ts";

interface Given {
  readonly user: string;
  readonly day: string;
  readonly status?: FinalStatus;
  readonly minutes?: number;
}

/** Sessions that began at noon and ran for so many minutes; two messages each. */
async function fill(target: string, given: readonly Given[]): Promise<void> {
  const store = await openStore(target);
  for (const { user, day, status, minutes = 10 } of given) {
    const startedAt = `${day}T12:00:00.000Z`;
    const lock = await store.create({ user }, newSession({ createdAt: startedAt }));
    await store.append(lock, [messageRecord("one"), messageRecord("two")]);
    const completedAt = new Date(Date.parse(startedAt) + 60_000 * minutes).toISOString();
    if (status) await store.finish(lock, { ...stateOf(status), startedAt, completedAt, totalTokensUsed: 100 });
    else await lock.release();
  }
  await store.close();
}

const sessions: readonly Given[] = [
  { user: "alice", day: "2024-01-01", status: "completed", minutes: 10 },
  { user: "alice", day: "2024-01-31", status: "completed", minutes: 30 },
  { user: "alice", day: "2024-02-01", status: "failed" },
  { user: "bob", day: "2024-01-15", status: "timeout" },
  { user: "bob", day: "2024-01-15" },
];

async function statsOf(store: string, ...flags: readonly string[]): Promise<StatsReport> {
  const { status, stdout, stderr } = await windrow(["stats", "--store", store, "--json", ...flags]);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as StatsReport;
}

async function bytesUnder(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

it("counts what is there, and sizes as the disk has them", async () => {
  const folder = await newFolder();
  await fill(folder, sessions);
  const report = await statsOf(folder);
  expect(report).toMatchObject({
    total: 5,
    running: 1,
    completed: 4,
    byStatus: { completed: 2, failed: 1, timeout: 1 },
    failed: { sessions: 1, share: 0.25 },
    summaries: { made: 0, failed: 0, share: null },
  });
  expect(report.average).toMatchObject({ messages: 2, durationMs: 15 * 60_000 });
  expect(report.users).toMatchObject([
    { user: "alice", sessions: 3, share: 0.6, tokens: 300, failed: 1 },
    { user: "bob", sessions: 2, share: 0.4, tokens: 100, failed: 0, averageDurationMs: 600_000 },
  ]);
  expect(report.disk?.running.bytes).toBe(await bytesUnder(join(folder, "running")));
  expect(report.disk?.completed.bytes).toBe(await bytesUnder(join(folder, "completed")));
  expect(Object.keys(report.disk?.byDay ?? {})).toEqual(["2024-01-01", "2024-01-15", "2024-01-31", "2024-02-01"]);
  expect(report.disk?.byMonth).toMatchObject({ "2024-01": { sessions: 4 }, "2024-02": { sessions: 1 } });
  expect(report.goals.find(({ name }) => name === "failed-share")).toMatchObject({ target: 0.05, met: false });
  expect(report.goals.find(({ name }) => name === "memory-reduction")).toMatchObject({ value: null, met: null });
});

it.skipIf(!driver)("counts a database too", async () => {
  const store = `sqlite:${await newFolder()}/agents.db`;
  await fill(store, sessions);
  expect(await statsOf(store, "--user", "bob")).toMatchObject({ total: 2, running: 1, completed: 1 });
});

it("filters by user, status and days, both included", async () => {
  const folder = await newFolder();
  await fill(folder, sessions);
  const january = ["--from", "2024-01-01", "--to", "2024-01-31"];
  expect((await statsOf(folder, ...january)).total).toBe(4);
  expect((await statsOf(folder, "--from", "2024-01-31T12:00:01Z")).total).toBe(1);
  expect((await statsOf(folder, "--to", "2024-01-14")).total).toBe(1);
  const failed = await statsOf(folder, "--status", "failed");
  expect([failed.total, failed.filter]).toEqual([1, { status: "failed" }]);
  expect((await statsOf(folder, "--user", "alice", ...january)).total).toBe(2);
  expect((await statsOf(folder, "--user", "nobody")).total).toBe(0);
  const text = await windrow(["stats", "--store", folder, "--user", "alice", "--status", "failed"]);
  expect(text.stdout).toContain("\nOnly: status failed, user alice\n");
});

it("tells the share of summaries that were made, and whether runs take longer", async () => {
  const folder = await newFolder();
  const day = (age: number): string => new Date(Date.now() - 86_400_000 * age).toISOString().slice(0, 10);
  await fill(folder, [
    { user: "a", day: day(50), status: "completed", minutes: 10 },
    { user: "a", day: day(5), status: "completed", minutes: 12 },
  ]);
  const store = await openStore(folder);
  const lock = await store.create(everybody, newSession());
  const timestamp = "2024-01-15T10:30:00.000Z";
  const made = { kind: "summary", startSeq: 1, endSeq: 1, summary: "s", originalTokens: 9, summaryTokens: 3 } as const;
  await store.append(lock, [messageRecord("one")]);
  await store.append(lock, [
    { ...made, timestamp },
    { ...made, timestamp },
    { ...made, timestamp },
    { kind: "edit", type: "summary-failed", data: { reason: "401" }, timestamp },
  ]);
  await lock.release();
  await store.close();
  const { summaries, goals } = await statsOf(folder);
  expect(summaries).toEqual({ made: 3, failed: 1, share: 0.75 });
  const increase = goals.find(({ name }) => name === "run-time-increase");
  expect(increase?.value).toBeCloseTo(0.2, 6);
  expect(increase?.met).toBe(false);
});

it("says what is wrong, and shows an empty store as empty", async () => {
  const folder = await newFolder();
  const empty = await windrow(["stats", "--store", folder]);
  expect([empty.status, empty.stdout]).toEqual([0, expect.stringContaining("Total contexts: 0\n")]);
  const cases: readonly (readonly [argv: readonly string[], status: number, said: string])[] = [
    [["--store", `${folder}/none`], 1, "no store at"],
    [["--store", folder, "--from", "2024-02-30"], 2, "2024-01-31"],
    [["--store", folder, "--to", "yesterday"], 2, 'not "yesterday"'],
    [["--store", folder, "--status", "done"], 2, "--status is one of"],
    [["--store", folder, "--form", "2024-01-01"], 2, "--from"],
  ];
  for (const [argv, status, said] of cases) {
    const found = await windrow(["stats", ...argv]);
    expect([found.status, found.stderr], argv.join(" ")).toEqual([status, expect.stringContaining(said)]);
  }
  expect((await windrow(["stats", "--help"])).stdout).toContain("windrow stats --status failed");
});
