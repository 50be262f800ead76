/**
 * Similar tasks: planted twins among 2,000 generated sessions. Each question is about the task of one session, in its words
 * and in others; other sessions are about the same part, or the same trouble, or both elsewhere. The weights were chosen
 * with the first seed; the second one has other tasks and was only measured.
 */
import { randomUUID } from "node:crypto";
import { openStore } from "../../src/access/open.ts";
import { semanticMemory } from "../../src/memory/semantic-memory.ts";
import { storeMemory } from "../../src/memory/store-memory.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { rounded } from "../store/kit.ts";
import { percent, randomOf, sentenceModel, wordsOf, writeSession } from "./kit.ts";
import { questionOf, sessionOf, taskOf } from "./tasks-kit.ts";
import type { Task, Wording } from "./tasks-kit.ts";

const sessions = 2_000;
const planted = 100;
const seeds = [7, 4_711];
const wordings: readonly Wording[] = ["the session's", "half others", "others, and the error", "others"];

/**
 * The share of questions whose session a search by shared words can have among three: those that share with the question
 * what it says in its own words, in any order. Each thing is said so by a coin, or the error alone is.
 */
const mostFound: Readonly<Record<Wording, number>> = {
  "the session's": amongThree(sessions / (40 * 20 * 20)),
  "half others":
    (amongThree(sessions / (40 * 20 * 20)) +
      2 * amongThree(sessions / (40 * 20)) +
      amongThree(sessions / (20 * 20)) +
      amongThree(sessions / 40) +
      2 * amongThree(sessions / 20) +
      amongThree(sessions)) /
    8,
  "others, and the error": amongThree(sessions / (10 * 150)),
  "others": amongThree(sessions),
};

/** The chance to be among the first three with so many others, on average, that are as good (Poisson). */
function amongThree(others: number): number {
  let [sum, chance] = [0, Math.exp(-others)];
  for (let count = 0; count < 20 + 2 * others; count++) {
    sum += chance * Math.min(1, 3 / (count + 1));
    chance *= others / (count + 1);
  }
  // So many others that the sum has run out of digits.
  return sum > 0 ? sum : 3 / others;
}

/** A row a seed and wording. */
export async function benchSimilar(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  for (const seed of seeds) rows.push(...(await rowsOf(seed)));
  return {
    name: "similar",
    rows,
    note: "Share of 100 planted tasks whose session is the first, or among the first three. Goals: 95 % in the session's words, 70 % in others with the error's line. `half others`: each of part, trouble and circumstance in other words by a coin; `others`: all of them, which share nearly no word. At most: what a perfect search by the words that are shared could find in three, by how many sessions have the same (40 parts, 20 troubles, 20 circumstances; 1,500 errors).",
  };
}

async function rowsOf(seed: number): Promise<readonly BenchRow[]> {
  const random = randomOf(seed);
  const chatter = (count: number): string => wordsOf(random, count);
  const store = await openStore("ram:");
  const tasks = new Map<string, Task>();
  const keyOf = ({ part, symptom, place }: Task): string => `${part} ${symptom} ${place}`;
  while (tasks.size < sessions) {
    const task = taskOf(random);
    if ([...tasks.values()].slice(0, planted).some((twin) => keyOf(twin) === keyOf(task))) continue;
    const id = randomUUID();
    tasks.set(id, task);
    await writeSession(
      store,
      { id, messages: [] },
      sessionOf(task, random, chatter),
      random() < 0.2 ? "failed" : "completed",
    );
  }
  const embedder = await sentenceModel();
  const byMeaning =
    embedder && semanticMemory(store, { embedder, similarByMeaning: true, mostNew: Infinity, timeout: 600_000 });
  const rows: BenchRow[] = [];
  const ways = [
    ["words", storeMemory(store)] as const,
    ...(byMeaning ? [["words and meaning", byMeaning] as const] : []),
  ];
  for (const [wording, [way, memory]] of wordings.flatMap((one) => ways.map((other) => [one, other] as const))) {
    const places: number[] = [];
    const started = performance.now();
    for (const [id, task] of [...tasks].slice(0, planted)) {
      const found = await memory.similar({ text: questionOf(task, random, wording), limit: 3 });
      places.push(found.findIndex(({ sessionId }) => sessionId === id));
    }
    rows.push({
      seed,
      sessions,
      wording,
      way,
      "first %": percent(places.map((place) => (place === 0 ? 1 : 0))),
      "in 3 %": percent(places.map((place) => (place >= 0 ? 1 : 0))),
      "at most %": rounded(100 * mostFound[wording], 0),
      "ms": Math.round((performance.now() - started) / planted),
    });
  }
  await store.close();
  return rows;
}
