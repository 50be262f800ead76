/** What the mark before quoted lines costs: digests of real sessions with several marks, by three counters. */
import { isQuoted, looksStructural, unquoteLine } from "../src/message/quote.ts";
import type { TokenCounter } from "../src/tokens/counter.ts";
import { estimate } from "../src/tokens/estimate.ts";
import { loadCounter } from "../src/tokens/exact.ts";
import { Composer } from "../src/window/composer.ts";
import { profileOf } from "../src/window/provider/profile.ts";
import { adaptive } from "../src/window/strategies/strategies.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { recordedSessions } from "./window/kit.ts";

const files = ["pi-sessions/trajectories.jsonl.gz", "long-sessions/trajectories.jsonl.gz"];
const budgets = [16_000, 32_000];
/** Sessions of each file, and calls between two windows that are looked at. */
const sessionsEach = 2;
const every = 15;

/** Marks by their names; empty lines have none. */
const marks: Readonly<Record<string, (line: string) => string>> = {
  "none": (line) => line,
  "space, or | before what looks like structure": (line) => `${looksStructural(line) ? "|" : " "}${line}`,
  "space": (line) => ` ${line}`,
  "tab": (line) => `\t${line}`,
  "two spaces": (line) => `  ${line}`,
  ">": (line) => `>${line}`,
  "|": (line) => `|${line}`,
  "| and a space": (line) => `| ${line}`,
};

/** One row a mark: per cent of the digests' tokens that it adds. */
export async function benchForgery(): Promise<BenchReport> {
  const texts = await digests();
  const counters = [estimate, await loadCounter("o200k"), await loadCounter("cl100k")];
  const bare = counters.map((counter) => tokensWith(texts, counter, (line) => line));
  const rows = Object.entries(marks).map(([name, mark]): BenchRow => {
    const costs = counters.map((counter, index) => {
      const added = tokensWith(texts, counter, mark) / (bare[index] ?? 1) - 1;
      return [`${counter.name} %`, Number((100 * added).toFixed(2))] as const;
    });
    return {
      mark: name,
      ...Object.fromEntries(costs),
    };
  });
  return {
    name: "forgery",
    rows,
    note: `${texts.length} digests of adaptive at 16k and 32k; tokens added to the whole digest`,
  };
}

function tokensWith(
  texts: readonly (readonly string[])[],
  counter: TokenCounter,
  mark: (line: string) => string,
): number {
  const marked = (line: string): string => (line === "" || !isQuoted(line) ? line : mark(unquoteLine(line)));
  return texts.reduce((sum, lines) => sum + counter.count(lines.map(marked).join("\n")), 0);
}

/** The lines of the digests that real sessions come to. */
async function digests(): Promise<readonly (readonly string[])[]> {
  const texts = new Set<string>();
  for (const file of files) {
    for (const { messages } of (await recordedSessions([file])).slice(0, sessionsEach)) {
      for (const budget of budgets) {
        const composer = new Composer({ strategy: adaptive(), profile: profileOf("openai-chat"), counter: estimate });
        for (const [index, message] of messages.entries()) {
          composer.push(index + 1, message);
          if (message.role !== "assistant" || index % every > 1) continue;
          composer.compose({ budget });
          for (const { pass, text } of composer.state.edits)
            if (pass === "digest" && text !== undefined) texts.add(text);
        }
      }
    }
  }
  return [...texts].map((text) => text.split("\n"));
}
