/** Many sessions: listed, filtered by user, and their index made anew, beside a bare scan of their folders. */
import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { filesStore } from "../../src/store/files/files.ts";
import type { Scope, Store } from "../../src/store/store.ts";
import type { BenchReport } from "../bench.ts";
import { median } from "../bench.ts";
import { inFolder, rounded } from "./kit.ts";

/** How many sessions; the environment variable makes it a shorter run. */
const sessions = Number(process.env["WINDROW_BENCH_SESSIONS"] ?? 100_000);
const users = 100;

/** Lists, filters and scans. Making and removing 100,000 folders takes minutes. */
export async function benchList(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    makeSessions(folder);
    const scans = [bareScan(folder), bareScan(folder), bareScan(folder)];
    const store = filesStore({ folder });
    const first = await listed(store, {}, 50);
    const warm: number[] = [];
    const filtered: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      warm.push(await listed(store, {}, 50));
      filtered.push(await listed(store, { user: "user-7" }, 50));
    }
    const rebuilt = await rebuild(store);
    await store.close();
    await removeSessions(folder);
    const scan = median(scans);
    const row = {
      sessions,
      "bare scan, ms": Math.round(scan),
      "first list of 50, ms": rounded(first, 1),
      "list of 50, ms": rounded(median(warm)),
      "of one user, ms": rounded(median(filtered)),
      "goal": "≤ 1",
      "index rebuilt, to the scan": rebuilt === undefined ? "–" : rounded(rebuilt / scan),
      "goal ": "≤ 1.3",
    };
    return {
      name: "list",
      rows: [row],
      note: "the bare scan reads and parses every metadata.json and state.json, one after the other; 100 users",
    };
  });
}

function makeSessions(folder: string): void {
  mkdirSync(join(folder, "running"), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, "completed"), { mode: 0o700 });
  const state = {
    status: "completed",
    started_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:00.000Z",
    completed_at: "2026-01-01T00:00:00.000Z",
    llm_call_count: 1,
    last_activity: "finished",
    error: null,
  };
  for (let number = 0; number < sessions; number += 1) {
    const uuid = randomUUID();
    const path = join(folder, "completed", uuid);
    mkdirSync(path, { mode: 0o700 });
    const created = new Date(1_767_225_600_000 + number * 1_000).toISOString();
    const metadata = { uuid, task_key: { number }, created_at: created, process_id: 1, hostname: "a", config: {} };
    const whole = { ...metadata, user: `user-${number % users}`, format: 1 };
    writeFileSync(join(path, "metadata.json"), JSON.stringify(whole, null, 2), { mode: 0o600 });
    writeFileSync(join(path, "state.json"), JSON.stringify(state, null, 2), { mode: 0o600 });
    closeSync(openSync(join(path, "messages.jsonl"), "w", 0o600));
  }
}

async function removeSessions(folder: string): Promise<void> {
  const names = readdirSync(join(folder, "completed"));
  for (let start = 0; start < names.length; start += 64) {
    const some = names.slice(start, start + 64);
    await Promise.all(some.map((name) => rm(join(folder, "completed", name), { recursive: true })));
  }
}

function bareScan(folder: string): number {
  const before = performance.now();
  for (const name of readdirSync(join(folder, "completed"))) {
    for (const file of ["metadata.json", "state.json"]) {
      JSON.parse(readFileSync(join(folder, "completed", name, file), "utf8"));
    }
  }
  return performance.now() - before;
}

async function listed(store: Store, scope: Scope, limit: number): Promise<number> {
  const before = performance.now();
  let count = 0;
  for await (const _session of store.list(scope, { limit })) count += 1;
  if (count !== Math.min(limit, sessions)) throw new Error(`${limit} sessions were expected, not ${count}`);
  return performance.now() - before;
}

/** Milliseconds; undefined for a store that keeps no index. */
async function rebuild({ checkup }: Store): Promise<number | undefined> {
  if (!checkup) return undefined;
  const before = performance.now();
  await checkup.rebuildIndex();
  return performance.now() - before;
}
