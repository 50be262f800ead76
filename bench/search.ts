/**
 * Full text over 2,000 sessions in files: what the index costs once, and a search after it. Messages are drawn from a
 * vocabulary of English, Japanese and Chinese words with frequencies as in language, so that terms are rare and common.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { search } from "../src/ops/search/search.ts";
import { filesStore } from "../src/store/files/files.ts";
import { newSession } from "../src/store/testing/kit.ts";
import type { BenchReport, BenchRow } from "./bench.ts";

const sizes = [200, 2_000];
const messagesEach = 60;
const wordsEach = 120;
const queries = [
  ["认证", "认证"],
  ["認証", "認証"],
  ["an English word", "quartz"],
  ["a word in every session", "w1"],
  ["an error line", "TypeError: Cannot read properties of undefined (reading 'deploy1234')"],
  ["nowhere", "absentword"],
] as const;

/** A row a query and size: the median of five searches with a warm index, and the first. */
export async function benchSearch(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const size of sizes) rows.push(...(await rowsFor(size)));
  return {
    name: "search",
    rows,
    note: "Goal: under 200 ms once indexed, over 2,000 sessions. A search reads the messages it shows, and no others than the stretches they stand in.",
  };
}

async function rowsFor(sessions: number): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "windrow-search-"));
  const store = filesStore({ folder, durability: "group" });
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  try {
    for (let number = 0; number < sessions; number++) {
      const lock = await store.create({}, newSession());
      const texts = Array.from({ length: messagesEach }, () => textOf(random));
      if (number % 97 === 0) texts[3] += " ユーザー認証が失敗した 用户认证失败 quartz";
      if (number === 5) texts[9] += `\nTypeError: Cannot read properties of undefined (reading 'deploy1234')`;
      const timestamp = new Date(number * 60_000).toISOString();
      await store.append(
        lock,
        texts.map((text, place) => ({
          kind: "message" as const,
          message: { id: `m${place}`, role: "user" as const, parts: [{ type: "text" as const, text }] },
          tokenCount: wordsEach,
          timestamp,
        })),
      );
      const { state } = await store.info({}, lock.id);
      await store.finish(lock, { ...state, status: "completed", completedAt: timestamp });
    }
    const index = join(folder, "search-index");
    const started = performance.now();
    await search(store, { query: "absentword", index });
    const indexing = performance.now() - started;
    const bytes = readdirSync(index).reduce((sum, name) => sum + statSync(join(index, name)).size, 0);
    const rows: BenchRow[] = [];
    for (const [what, query] of queries) {
      const times: number[] = [];
      let hits = 0;
      for (let round = 0; round < 5; round++) {
        const from = performance.now();
        hits = (await search(store, { query, index })).hits.length;
        times.push(performance.now() - from);
      }
      const ordered = times.toSorted((left, right) => left - right);
      rows.push({
        sessions,
        "query": what,
        hits,
        "median ms": Math.round(ordered[2] ?? 0),
        "worst ms": Math.round(ordered[4] ?? 0),
        "index s": Number((indexing / 1_000).toFixed(1)),
        "index MB": Number((bytes / 1e6).toFixed(1)),
      });
    }
    return rows;
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

function textOf(random: () => number): string {
  // Zipf: the n-th word is n times as rare as the first.
  return Array.from({ length: wordsEach }, () => `w${Math.floor(Math.exp(random() * Math.log(50_000)))}`).join(" ");
}
