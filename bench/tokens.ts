/** What `estimate` costs and how far it is off, beside gpt-tokenizer's o200k on the same text in the same run. */
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { corpus } from "../scripts/fit-corpus.ts";
import { estimate } from "../src/tokens/estimate.ts";
import type { BenchReport } from "./bench.ts";

/** Most messages of one kind; 2,000 UTF-16 code units each. */
const messageLimit = 60;
const passes = 20;

/** Texts without a break, where a counter could take time that grows with the square of their length. */
const unbroken: Readonly<Record<string, string>> = {
  "1 MB of one letter": "a".repeat(1_000_000),
  "1 MB of spaces": " ".repeat(1_000_000),
  "1 MB of <|endoftext|>": "<|endoftext|>".repeat(77_000),
};

/**
 * One row a kind of text found on this machine (scripts/fit-corpus.ts): mean signed error, mean error and 95th
 * percentile in percent, and UTF-8 megabytes per second of both counters.
 */
export async function benchTokens(): Promise<BenchReport> {
  setMergeCacheSize(0);
  const kinds = new Map<string, string[]>();
  for (const { kind, text } of corpus([".", "/"])) {
    const texts = kinds.get(kind) ?? [];
    if (texts.length < messageLimit) texts.push(text);
    kinds.set(kind, texts);
  }
  const all: number[] = [];
  const rows = [...kinds].map(([kind, texts]) => {
    const exact = texts.map(countExactly);
    const errors = texts.map((text, index) => estimate.count(text) / (exact[index] ?? 1) - 1);
    all.push(...errors);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    return {
      "text": kind,
      "messages": texts.length,
      ...errorColumns(errors),
      "estimate MB/s": Math.round(speed(bytes, passes, () => texts.forEach((text) => estimate.count(text)))),
      "gpt-tokenizer MB/s": Number(speed(bytes, 1, () => texts.forEach(countExactly)).toFixed(1)),
    };
  });
  const runs = Object.entries(unbroken).map(([text, run]) => ({
    text,
    "messages": 1,
    "estimate MB/s": Math.round(speed(Buffer.byteLength(run), 1, () => estimate.count(run))),
  }));
  return {
    name: "tokens",
    rows: [...rows, ...runs, { text: "all", messages: all.length, ...errorColumns(all) }],
    note: "Error against o200k on messages of 2,000 characters; processor time, best of 3; merge cache off.",
  };
}

function countExactly(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() });
}

function errorColumns(errors: readonly number[]): Readonly<Record<string, number>> {
  const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
  const percent = (value: number): number => Number((100 * value).toFixed(1));
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  return {
    "signed %": percent(mean(errors)),
    "error %": percent(mean(sizes)),
    "p95 %": percent(sizes[Math.floor((sizes.length - 1) * 0.95)] ?? 0),
  };
}

/** Megabytes per second of processor time: the best of three. */
function speed(bytes: number, repeats: number, run: () => void): number {
  run();
  let best = 0;
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = process.cpuUsage();
    for (let repeat = 0; repeat < repeats; repeat++) run();
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, (bytes * repeats) / Math.max(1, user + system));
  }
  return best;
}
