/**
 * Durable appends per second through the file store, beside a bare loop of write and fdatasync on the same disk in the
 * same run. Disks and their neighbours are moody: only the ratio of two samples taken right after one another says
 * anything, so they are interleaved and the median ratio is reported.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NewRecord } from "../src/message/record.ts";
import { filesStore } from "../src/store/files/files.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { median } from "./bench.ts";

/** Bytes of a line beside the text. */
const overheadBytes = 236;
const pairs = 7;

const cases = [
  { lineBytes: 1_024, concurrency: 1, count: 300, goal: 0.5 },
  { lineBytes: 10_240, concurrency: 1, count: 300, goal: 0.5 },
  { lineBytes: 1_024, concurrency: 16, count: 1_600, goal: 8 },
  { lineBytes: 1_024, concurrency: 64, count: 6_400, goal: 25 },
  { lineBytes: 10_240, concurrency: 16, count: 1_600, goal: 8 },
  { lineBytes: 10_240, concurrency: 64, count: 6_400, goal: 25 },
];

/**
 * Measures every case. Takes about a minute on a quiet disk.
 *
 * @param folder - where to write, on the disk in question; default: the working folder
 */
export async function benchStore(folder = process.cwd()): Promise<BenchReport> {
  const base = await mkdtemp(join(folder, "bench-store-"));
  try {
    const rows: BenchRow[] = [];
    for (const one of cases) rows.push(await measure(base, one));
    return {
      name: "store",
      rows,
      note: `median of ${pairs} pairs; the bare loop is write and fdatasync, one at a time`,
    };
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

async function measure(
  base: string,
  { lineBytes, concurrency, count, goal }: (typeof cases)[number],
): Promise<BenchRow> {
  const samples: { readonly raw: number; readonly store: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const raw = rawLoop(base, lineBytes);
    samples.push({ raw, store: await storeLoop(base, lineBytes, concurrency, count) });
  }
  return {
    "line, KB": lineBytes / 1_024,
    "at a time": concurrency,
    "appends/s": Math.round(median(samples.map((one) => one.store))),
    "bare loop/s": Math.round(median(samples.map((one) => one.raw))),
    "ratio": Number(median(samples.map((one) => one.store / one.raw)).toFixed(2)),
    "goal": goal,
  };
}

function rawLoop(base: string, lineBytes: number): number {
  const count = 300;
  const line = Buffer.alloc(lineBytes, "x");
  const file = openSync(join(base, randomUUID()), "a");
  const before = performance.now();
  for (let done = 0; done < count; done += 1) {
    writeSync(file, line);
    fdatasyncSync(file);
  }
  const seconds = (performance.now() - before) / 1_000;
  closeSync(file);
  return count / seconds;
}

async function storeLoop(base: string, lineBytes: number, concurrency: number, count: number): Promise<number> {
  const store = filesStore({ folder: join(base, "contexts") });
  const createdAt = new Date().toISOString();
  const lock = await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt });
  const text = "some words of an agent's history ".repeat(lineBytes / 32).slice(0, lineBytes - overheadBytes);
  let given = 0;
  const produce = async (): Promise<void> => {
    while (given < count) {
      given += 1;
      await store.append(lock, [record(given, text, createdAt)]);
    }
  };
  const before = performance.now();
  await Promise.all(Array.from({ length: concurrency }, produce));
  const seconds = (performance.now() - before) / 1_000;
  await store.close();
  return count / seconds;
}

function record(number: number, text: string, timestamp: string): NewRecord {
  const parts = [{ type: "text", text }] as const;
  return { kind: "message", message: { id: `m${number}`, role: "user", parts, timestamp }, tokenCount: 256, timestamp };
}
