/** `windrow stats` on real stores: filters, sizes as the disk has them, shares. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { ManagerOptions } from "windrow";
import type { StatsReport } from "windrow/ops";
import { openStore } from "windrow/store";
import type { FinalStatus } from "windrow/store/author";
import { everybody, messageRecord, newSession, stateOf } from "../kit/inside/store.ts";
import { driver } from "../kit/sqlite-stores.ts";
import { emptyStore, json, newFolder, put, windrow } from "./stage.ts";

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

const statsOf = (store: string, ...flags: readonly string[]): Promise<StatsReport> =>
  json<StatsReport>(["stats", "--store", store, ...flags]);

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
    ...{ total: 5, running: 1, completed: 4 },
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
  expect(report).not.toHaveProperty("goals");
  const { goals = [] } = await statsOf(folder, "--layout", "coding-agent");
  expect(goals.find(({ name }) => name === "failed-share")).toMatchObject({ target: 0.05, met: false });
  expect(goals.find(({ name }) => name === "memory-reduction")).toMatchObject({ value: null, met: null });
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
  expect(text.stdout).toMatch(/^Only: status failed, user alice\n\nSessions: 1\n {2}- failed: 1\n/);
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
  const { summaries, goals = [] } = await statsOf(folder, "--layout", "coding-agent");
  expect(summaries).toEqual({ made: 3, failed: 1, share: 0.75 });
  const increase = goals.find(({ name }) => name === "run-time-increase");
  expect(increase?.value).toBeCloseTo(0.2, 6);
  expect(increase?.met).toBe(false);
});

it("shows an empty store as empty", async () => {
  const { status, stdout } = await windrow(["stats", "--store", await emptyStore()]);
  expect([status, stdout]).toEqual([0, expect.stringContaining("Sessions: 0\n")]);
});

it("shows how sessions stand, the tokens of their history, and the money of the calls that have a price", async () => {
  const folder = await newFolder();
  const work = async (model: ManagerOptions["model"] | undefined, user: string, end?: FinalStatus): Promise<void> => {
    const manager = await SessionManager.open({ store: folder, budget: 9_000, user, ...(model && { model }) });
    const session = await manager.create();
    await session.append({ role: "user", parts: [{ type: "text", text: "mend the build ".repeat(20) }] });
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 500_000 };
    if (model) await session.endStep({ usage });
    if (end) await session.finish(end);
    await manager.close();
  };
  await work("gpt-4o", "alice", "completed");
  await work({ id: "my-model", contextWindow: 20_000, maxOutput: 1_000 }, "bob");
  await work(undefined, "bob");

  const { byStanding, average, usage, users } = await statsOf(folder);
  expect(byStanding).toEqual({ closed: 2, completed: 1 });
  expect(average.historyTokens).toBeGreaterThan(50);
  // Half of the input at 2.50, half at 1.25, the output at 10 dollars a million.
  expect(usage).toMatchObject({ calls: 2, input: 2_000_000, output: 200_000, cacheRead: 1_000_000, dollars: 2.875 });
  expect(usage).toMatchObject({ unpriced: 1, unpricedModels: ["my-model"], withoutUsage: 1, unpricedSessions: 1 });
  expect(users.map(({ user, dollars }) => [user, dollars])).toEqual([
    ["bob", null],
    ["alice", 2.875],
  ]);

  const { stdout } = await windrow(["stats", "--store", folder]);
  expect(stdout).toMatch(/^Sessions: 3\n {2}- closed: 2\n {2}- completed: 1\n/);
  expect(stdout).toMatch(/\nAverage per session:\n {2}- Messages: 1\n {2}- Tokens of history: [1-9]\d+\n/);
  expect(stdout).toContain(
    "Usage:\n  - Model calls: 2\n  - Input tokens: 2,000,000 (50% cached)\n  - Output tokens: 200,000\n" +
      "  - Money: $2.88 at list prices\n" +
      "  - Not in it: 1 session without usage; calls of 1 session without a known price (my-model)\n",
  );
  expect(stdout).not.toMatch(/Goals|Compressions|task|Context Storage/);
  expect((await windrow(["stats", "--store", folder], { FORCE_COLOR: "1" })).stdout).toContain(
    "\u001b[1mUsage:\u001b[22m",
  );
});

it("has the layout of preset coding-agent by the flag, and where the configuration names that preset", async () => {
  const folder = await newFolder();
  await fill(folder, sessions);
  const config = await put(folder, "windrow.config.yaml", `strategy: coding-agent\nstore: ${folder}\n`);
  const head = "Context Storage Statistics\n";
  const of = async (...argv: readonly string[]): Promise<string> => (await windrow(["stats", ...argv])).stdout;
  expect(await of("--store", folder)).not.toContain(head);
  expect(await of("--store", folder, "--layout", "coding-agent")).toContain(head);
  expect(await of("--config", config)).toContain(head);
  expect(await of("--config", config, "--layout", "windrow")).not.toContain(head);
});
