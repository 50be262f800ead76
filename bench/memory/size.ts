/**
 * A memory over stores of 1,000, 100,000 and 1,000,000 messages in files: what the index costs once, and a question of
 * thirteen words after it, with the passages it tells. Words are as frequent as in language.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeMemory } from "../../src/memory/store-memory.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { estimate } from "../../src/tokens/estimate.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { loadNote, memoryNow } from "../kit.ts";
import { randomOf, wordsOf, writeSession } from "./kit.ts";

const sizes = [1_000, 100_000, 1_000_000];
const messagesEach = 100;
const leastWords = 10;
const mostWords = 70;
const questionWords = 13;
const questions = 25;

/** A row a size. */
export async function benchSize(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(await rowOf(size));
  return {
    name: "size",
    rows,
    note: `Goal: a question over 1,000,000 messages in at most 100 ms (median, files in the page cache). ${loadNote()}`,
  };
}

async function rowOf(size: number): Promise<BenchRow> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-memory-"));
  const random = randomOf(7);
  try {
    const writer = filesStore({ folder, durability: "group" });
    for (let done = 0; done < size; done += messagesEach) {
      const messages = Array.from({ length: messagesEach }, () => ({
        role: "user" as const,
        text: wordsOf(random, leastWords + Math.floor(random() * (mostWords - leastWords))),
      }));
      await writeSession(writer, { id: randomUUID(), messages });
    }
    await writer.close();
    const index = join(folder, "search-index");
    const ask = (memory: ReturnType<typeof storeMemory>) =>
      memory.query({ text: wordsOf(random, questionWords), counter: estimate });
    const store = filesStore({ folder });
    const [begun, usedBefore] = [performance.now(), process.cpuUsage()];
    await ask(storeMemory(store, { index }));
    const indexing = performance.now() - begun;
    const indexingCpu = process.cpuUsage(usedBefore);
    const memory = storeMemory(store, { index });
    const opened = performance.now();
    await ask(memory);
    const first = performance.now() - opened;
    const times: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < questions; round++) {
      const [from, used] = [performance.now(), process.cpuUsage()];
      await ask(memory);
      times.push(performance.now() - from);
      const { user, system } = process.cpuUsage(used);
      cpu.push((user + system) / 1_000);
    }
    await store.close();
    const bytes = readdirSync(index).reduce((sum, name) => sum + statSync(join(index, name)).size, 0);
    return {
      "messages": size,
      "index s": Number((indexing / 1_000).toFixed(1)),
      "index CPU s": Number(((indexingCpu.user + indexingCpu.system) / 1e6).toFixed(1)),
      "index MB": Number((bytes / 1e6).toFixed(1)),
      "first ms": Math.round(first),
      "median ms": at(times, 0.5),
      "95 % ms": at(times, 0.95),
      "median CPU ms": at(cpu, 0.5),
      "RSS MB": memoryNow(),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function at(values: readonly number[], share: number): number {
  const ordered = values.toSorted((left, right) => left - right);
  return Math.round(ordered[Math.floor(share * (ordered.length - 1))] ?? 0);
}
