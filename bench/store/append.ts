/**
 * Durable appends per second through the file store, beside a bare loop of write and fdatasync on the same disk in the
 * same run. Disks and their neighbours are moody: only the ratio of two samples taken right after one another says
 * anything, so they are interleaved and the median ratio is reported.
 */
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { filesStore } from "../../src/store/files/files.ts";
import type { Durability } from "../../src/store/files/files.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { median } from "../bench.ts";
import { bareLoop, inFolder, messageRecord, rounded } from "./kit.ts";

const pairs = 7;
const bareCount = 300;

interface Case {
  readonly lineBytes: number;
  readonly concurrency: number;
  readonly count: number;
  readonly goal?: number;
  readonly durability?: Durability;
}

const cases: readonly Case[] = [
  { lineBytes: 1_024, concurrency: 1, count: 300, goal: 0.5 },
  { lineBytes: 10_240, concurrency: 1, count: 300, goal: 0.5 },
  { lineBytes: 1_024, concurrency: 1, count: 2_000, durability: "group" },
  { lineBytes: 1_024, concurrency: 16, count: 1_600, goal: 8 },
  { lineBytes: 1_024, concurrency: 64, count: 6_400, goal: 25 },
  { lineBytes: 1_024, concurrency: 256, count: 25_600, goal: 50 },
  { lineBytes: 10_240, concurrency: 16, count: 1_600, goal: 8 },
  { lineBytes: 10_240, concurrency: 64, count: 6_400, goal: 25 },
];

/** Measures every case. Takes about two minutes on a quiet disk. */
export async function benchAppend(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const one of cases) rows.push(await measure(folder, one));
    const note =
      `median of ${pairs} pairs; the bare loops write and sync one line at a time, blocking the event loop (the ratio ` +
      "that has the goal) and through the thread pool (as the store does)";
    return { name: "append", rows, note };
  });
}

async function measure(folder: string, one: Case): Promise<BenchRow> {
  const { lineBytes, concurrency, goal } = one;
  const samples: { readonly bare: number; readonly pool: number; readonly store: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const bare = bareLoop(folder, lineBytes, bareCount);
    const store = await storeLoop(folder, one);
    samples.push({ bare, store, pool: await poolLoop(folder, lineBytes) });
  }
  return {
    "line, KB": lineBytes / 1_024,
    "at a time": concurrency,
    "durability": one.durability ?? "strict",
    "appends/s": Math.round(median(samples.map((one) => one.store))),
    "bare loop/s": Math.round(median(samples.map((one) => one.bare))),
    "ratio": rounded(median(samples.map((one) => one.store / one.bare))),
    "goal": goal === undefined ? "–" : `≥ ${goal}`,
    "to a pooled loop": rounded(median(samples.map((one) => one.store / one.pool))),
  };
}

async function poolLoop(folder: string, lineBytes: number): Promise<number> {
  const line = Buffer.alloc(lineBytes, "x");
  const file = await open(join(folder, randomUUID()), "a");
  const before = performance.now();
  for (let done = 0; done < bareCount; done += 1) {
    await file.write(line);
    await file.datasync();
  }
  const seconds = (performance.now() - before) / 1_000;
  await file.close();
  return bareCount / seconds;
}

async function storeLoop(folder: string, one: Case): Promise<number> {
  const { lineBytes, concurrency, count, durability = "strict" } = one;
  const store = filesStore({ folder: join(folder, "contexts"), durability });
  const createdAt = new Date().toISOString();
  const lock = await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt });
  let given = 0;
  const produce = async (): Promise<void> => {
    while (given < count) {
      given += 1;
      await store.append(lock, [messageRecord(given, lineBytes)]);
    }
  };
  const before = performance.now();
  await Promise.all(Array.from({ length: concurrency }, produce));
  const seconds = (performance.now() - before) / 1_000;
  await store.close();
  return count / seconds;
}
