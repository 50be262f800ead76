/** What exact counting costs on runs without a break: a megabyte of each, and ten. */
import type { BenchReport } from "./bench.ts";
import { loadCounter } from "../src/tokens/exact.ts";
import type { TokenCounter } from "../src/tokens/counter.ts";

const megabyte = 1_000_000;

/** What is repeated; `random` is letters that never repeat, which no memory of earlier runs helps with. */
const units: Readonly<Record<string, string>> = {
  "one letter": "a",
  "capitals": "A",
  "spaces": " ",
  "bars": "=",
  "slashes and line ends": "/\n",
  "one Han letter": "中",
  "emoji": "😀",
  "half pairs": "\ud800",
  "random letters": "",
  "prose": "The agent read the failing test, and it changed two functions. ",
};

/** One row a kind of run: processor milliseconds of one and of ten megabytes (UTF-8), and their ratio. */
export async function benchExact(): Promise<BenchReport> {
  const rows = [];
  for (const name of ["o200k", "cl100k"]) {
    const counter = await loadCounter(name);
    counter.count(units["prose"]?.repeat(2_000) ?? "");
    for (const [kind, unit] of Object.entries(units)) {
      const [one, ten] = [
        milliseconds(counter, textOf(unit, megabyte)),
        milliseconds(counter, textOf(unit, 10 * megabyte)),
      ];
      rows.push({
        "counter": name,
        "text": kind,
        "1 MB, ms": one,
        "10 MB, ms": ten,
        "times": Number((ten / one).toFixed(1)),
      });
    }
  }
  return {
    name: "exact",
    rows,
    note: "Goal: one letter, 1 MB at most 1,500 ms; ten times the text at most 12 times the time.",
  };
}

function milliseconds(counter: TokenCounter, text: string): number {
  const before = process.cpuUsage();
  counter.count(text);
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / 100) / 10;
}

function textOf(unit: string, bytes: number): string {
  if (unit !== "") return unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)));
  let state = 7;
  const letters = Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return String.fromCharCode(97 + ((state >>> 16) % 26));
  });
  return letters.join("");
}
