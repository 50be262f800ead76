/**
 * What is left of dumps of screens: whether the element that was acted on next is still there, and at how many of the
 * dump's tokens. Real web pages with the action a person took, and accessibility dumps of real macOS windows.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { resultText } from "../src/message/message.ts";
import type { Message, Part } from "../src/message/message.ts";
import type { TokenCounter } from "../src/tokens/counter.ts";
import { loadCounter } from "../src/tokens/exact.ts";
import { Composer } from "../src/window/composer.ts";
import { pruneUiTree } from "../src/window/passes/prune-ui-tree.ts";
import { profileOf } from "../src/window/provider/profile.ts";
import type { BenchReport, BenchRow, Goal } from "./bench.ts";
import { goalText } from "./bench.ts";
import { dataFile } from "./window/kit.ts";

const rules = ["interactive-lines", "limits"] as const;
const kept: Goal = { atLeast: 99 };
const share: Goal = { atMost: 45 };

/** A dump, and the elements that must not go: each as an expression that finds it in what is left. */
interface Dump {
  readonly text: string;
  readonly targets: readonly RegExp[];
}

/** One row a set of dumps and a rule. */
export async function benchUi(): Promise<BenchReport> {
  const counter = await loadCounter("o200k");
  const rows: BenchRow[] = [];
  for (const [name, dumps] of [
    ["web pages, the element acted on next", webPages()],
    ["macOS windows, every control", macWindows()],
  ] as const) {
    if (dumps.length > 0) for (const rule of rules) rows.push(rowOf(name, dumps, rule, counter));
  }
  return {
    name: "ui",
    rows,
    note: "goals are for interactive-lines; `limits` are the miki preset's own; o200k tokens; an element is kept when its id is",
  };
}

function rowOf(name: string, dumps: readonly Dump[], rule: (typeof rules)[number], counter: TokenCounter): BenchRow {
  let [before, after, targets, found] = [0, 0, 0, 0];
  for (const dump of dumps) {
    const shown = pruned(dump.text, rule, counter);
    before += counter.count(dump.text);
    after += counter.count(shown);
    targets += dump.targets.length;
    found += dump.targets.filter((target) => target.test(shown)).length;
  }
  const [keptPercent, sharePercent] = [percent(found, targets), percent(after, before)];
  return {
    "dumps": name,
    "rule": rule,
    "count": dumps.length,
    "elements": targets,
    "kept %": keptPercent,
    "tokens %": sharePercent,
    ...(rule === "interactive-lines" && { goal: `${goalText(keptPercent, kept)}, ${goalText(sharePercent, share)}` }),
  };
}

function percent(part: number, whole: number): number {
  return Math.floor((1_000 * part) / whole) / 10;
}

/** What a window shows of a dump once the pass has run. */
function pruned(text: string, rule: (typeof rules)[number], counter: TokenCounter): string {
  const strategy = {
    name: "ui",
    passes: [pruneUiTree({ rule, keepNewest: 0 })],
    trigger: { messages: 0 },
    lowWater: 0.5,
    keepFirstUser: true,
  };
  const composer = new Composer({ strategy, profile: profileOf("openai-chat"), counter });
  const call: Part = { type: "tool-call", callId: "1", name: "get_screen", args: {} };
  const parts: readonly (readonly [Message["role"], Part])[] = [
    ["user", { type: "text", text: "Do it." }],
    ["assistant", call],
    ["tool", { type: "tool-result", callId: "1", name: call.name, content: text }],
    ["assistant", { type: "text", text: "I see." }],
    ["user", { type: "text", text: "Go on." }],
  ];
  parts.forEach(([role, part], index) => composer.push(index + 1, { id: `m${index}`, role, parts: [part] }));
  const results = composer.compose({ budget: 1_000_000 }).messages.flatMap((message) => message.parts);
  const result = results.find((part) => part.type === "tool-result");
  return result ? resultText(result) : "";
}

function webPages(): readonly Dump[] {
  return recordsIn<{ readonly page: string; readonly target: string }>("autowebbench/en-ind.jsonl.gz").flatMap(
    ({ page, target }) => {
      const id = /^\w+\('([A-Z]+)'/.exec(target)?.[1];
      // Some actions are on no element: to finish, to scroll.
      if (id === undefined || !page.includes(`[${id}]|`)) return [];
      return [{ text: page, targets: [new RegExp(`\\[${id}\\]\\||^[ |](?:[A-Z]+ )*${id}(?: |$)`, "m")] }];
    },
  );
}

function macWindows(): readonly Dump[] {
  const control = /"(AX\w+)"\s*:\s*\{([^{}]*"AXRole"\s*:\s*"AX(?:\w*Button|TextField|CheckBox)"[^{}]*)\}/g;
  return recordsIn<{ readonly text: string }>("macos-ax-dumps/dumps.jsonl.gz").map(({ text }) => ({
    text,
    targets: [...text.matchAll(control)].map(([, name = "", fields = ""]) => {
      const id = /"AXIdentifier"\s*:\s*"([^"]+)"/.exec(fields)?.[1] ?? name;
      return new RegExp(`(?<!\\w)(?:${name}|${id.replaceAll(/[^\w]/g, "\\$&")})(?!\\w)`);
    }),
  }));
}

function recordsIn<T>(name: string): readonly T[] {
  const path = dataFile(name);
  if (path === undefined) return [];
  const lines = gunzipSync(readFileSync(path)).toString("utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}
