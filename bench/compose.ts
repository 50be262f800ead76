/**
 * What composing costs as a session grows: one call at 100 to 100,000 messages, all calls together, and memory; beside
 * other libraries on the same messages.
 *
 *   npm run bench:compose
 *   COMPOSE_SUBJECTS=adaptive npm run bench:compose   that strategy alone, without peers
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Message } from "../src/message/message.ts";
import { MessageTokens } from "../src/replay/cost-metric.ts";
import { estimate } from "../src/tokens/estimate.ts";
import { composeWindow } from "../src/window/compose.ts";
import { Composer } from "../src/window/composer.ts";
import { profileOf } from "../src/window/provider/profile.ts";
import { strategyNames, strategyOf } from "../src/window/by-name.ts";
import type { WindowState } from "../src/window/window.ts";
import type { BenchReport, BenchRow } from "./bench.ts";
import { goalRow, median } from "./bench.ts";
import { loadWindowPeers } from "./window/peer.ts";
import type { WindowPeer } from "./window/peer.ts";

const budget = 32_000;
const profile = profileOf("openai-chat");
/** Messages at which a row is taken; the environment variable makes it a shorter run. */
const sizes = (process.env["COMPOSE_SIZES"] ?? "100,1000,10000,100000").split(",").map(Number);
/** The strategies other than the default are grown to here. */
const othersStop = 1_000;
/** Peers are grown to here, and composed at this size once more with the whole history given at once. */
const peersStop = 10_000;
/** Seconds after which growing a peer's session is stopped. */
const longestSeconds = 60;

/** One way to make windows of a growing session: takes the two messages of the next step, and composes. */
type Grower = (...messages: readonly Message[]) => unknown;

/** One row a subject and a size; `adaptive` beside its goals. */
export async function benchCompose(): Promise<BenchReport> {
  const missing: string[] = [];
  const rows: BenchRow[] = [];
  // Compiled code is what a running agent has.
  await grow("warm-up", composing("adaptive"), 2_000);
  const asked = process.env["COMPOSE_SUBJECTS"]?.split(",");
  for (const strategy of strategyNames.filter((name) => (asked ? asked.includes(name) : name !== "none"))) {
    try {
      rows.push(...(await grow(strategy, composing(strategy), strategy === "adaptive" ? Infinity : othersStop)));
    } catch (error) {
      missing.push(`${strategy} was left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (!asked) rows.push(...(await grow("adaptive, composeWindow", composingAnew(), peersStop)));
  const { peers, missing: absent } = asked ? { peers: [], missing: [] } : await loadWindowPeers();
  const peerRows: BenchRow[] = [];
  for (const peer of peers) {
    const grown = await grow(peer.name, asking(peer), peersStop, longestSeconds);
    const single = await composeOnce(peer);
    peerRows.push(...[...grown, single].map((row) => ({ ...row, budget: peer.keepsBudget ? "kept" : "not kept" })));
  }
  rows.push(...peerRows);
  const note =
    `budget ${budget}, counter estimate, steps of a call and its result of some 500 tokens; ms: of adding a step and ` +
    "composing, the middle and the worst since the row before, epochs included, by the clock or the processor, whichever " +
    "says less (a busy machine stops the one, helper threads add to the other); CPU s: of the whole session up to there; " +
    `MB: what stays in memory; peers stop growing at ${longestSeconds} s; single: the whole history given at once`;
  return {
    name: "compose",
    rows: [...rows, ...goalRows(rows, peerRows)],
    note: [note, ...missing, ...absent].join("; "),
  };
}

function composing(name: string): Grower {
  const composer = new Composer({ strategy: strategyOf(name), profile, counter: estimate });
  let seq = 0;
  return (...messages) => {
    for (const message of messages) composer.push(++seq, message);
    composer.compose({ budget });
  };
}

function asking(peer: WindowPeer): Grower {
  const history: Message[] = [];
  const tokens = new MessageTokens(estimate);
  return async (...messages) => {
    history.push(...messages);
    return await peer.window(history, budget, tokens);
  };
}

/** A peer's compose of a long history: the second of two, when every message is converted and counted. */
async function composeOnce(peer: WindowPeer): Promise<BenchRow> {
  const history = [...firstMessages];
  while (history.length < peersStop) history.push(...step(history.length));
  const tokens = new MessageTokens(estimate);
  await peer.window(history, budget, tokens);
  const time = await timed(async () => await peer.window(history, budget, tokens));
  return { "subject": peer.name, "messages": `${history.length} single`, "median ms": figure(time.milliseconds) };
}

/** As a server that keeps nothing but the state: the whole history goes in anew on every call. */
function composingAnew(): Grower {
  const history: Message[] = [];
  let state: WindowState | undefined;
  return (...messages) => {
    history.push(...messages);
    state = composeWindow({ messages: history, budget, strategy: "adaptive", profile, counter: estimate, state }).state;
  };
}

/** Grows a session step by step up to a size, or as far as it comes in so many seconds. */
async function grow(name: string, next: Grower, until: number, mostSeconds = Infinity): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const heapBefore = heapInUse();
  const started = performance.now();
  let seconds = 0;
  let count = 0;
  const add = async (messages: readonly Message[]): Promise<number> => {
    const time = await timed(async () => await next(...messages));
    seconds += time.cpuSeconds;
    count += messages.length;
    return time.milliseconds;
  };
  await add(firstMessages);
  for (const size of sizes.filter((one) => one <= until)) {
    const times: number[] = [];
    while (count < size && performance.now() - started < mostSeconds * 1_000) times.push(await add(step(count)));
    rows.push({
      "subject": name,
      "messages": count,
      "median ms": figure(median(times)),
      "worst ms": figure(times.reduce((worst, time) => Math.max(worst, time), 0)),
      "CPU s": figure(seconds),
      "MB": Number(((heapInUse() - heapBefore) / 1e6).toFixed(1)),
    });
    if (count < size) break;
  }
  return rows;
}

/** Work by the clock or the processor, whichever says less, and its CPU seconds. */
export async function timed(
  run: () => Promise<unknown>,
): Promise<{ readonly milliseconds: number; readonly cpuSeconds: number }> {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await run();
  const clock = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { milliseconds: Math.min(clock, (user + system) / 1_000), cpuSeconds: (user + system) / 1e6 };
}

/** The beginning of the sessions that are grown. */
export const firstMessages: readonly Message[] = [
  { id: "task", role: "user", parts: [{ type: "text", text: "Make the parser of src/module_0/file_0.ts faster." }] },
  { id: "plan", role: "assistant", parts: [{ type: "text", text: "I will read the modules one by one." }] },
];

/** A call that reads a file, and its result: lines of which some are new and some were seen before. */
export function step(number: number): readonly Message[] {
  const callId = `call_${number}`;
  const path = `src/module_${number % 97}/file_${number % 13}.ts`;
  const lines = Array.from({ length: 36 }, (_, line) =>
    line % 3 === 0
      ? `  const value_${number}_${line} = readValue(source, ${number * line}); // of ${path}`
      : `  if (source.has("name_${(number * 7 + line) % 500}")) return parseName(source, ${line});`,
  );
  const text = `Now the part of ${path} that step ${number} is about.`;
  return [
    {
      id: `a${number}`,
      role: "assistant",
      parts: [
        { type: "text", text },
        { type: "tool-call", callId, name: "read", args: { path } },
      ],
    },
    {
      id: `t${number}`,
      role: "tool",
      parts: [{ type: "tool-result", callId, name: "read", content: lines.join("\n") }],
    },
  ];
}

function goalRows(rows: readonly BenchRow[], peers: readonly BenchRow[]): readonly BenchRow[] {
  const own = rows.filter((row) => row["subject"] === "adaptive");
  const figureAt = (messages: number, column: string): number =>
    Number(own.find((row) => row["messages"] === messages)?.[column]);
  const largest = (column: string): number => Math.max(...own.map((row) => Number(row[column])));
  const keeping = peers.filter((row) => row["budget"] === "kept");
  const single = keeping.filter((row) => String(row["messages"]).endsWith("single"));
  // Of a peer that was stopped on its way, what it had used by then: the whole way would have been more.
  const grown = single.map(({ subject }) => keeping.findLast((row) => row["subject"] === subject && "CPU s" in row));
  const least = (found: readonly (BenchRow | undefined)[], column: string): number =>
    Math.min(...found.map((row) => Number(row?.[column])));
  const total = figureAt(10_000, "CPU s");
  const ownGoals = [
    goalRow("one compose, median ms at any size", largest("median ms"), { atMost: 0.1 }),
    goalRow("one compose, worst ms at any size", largest("worst ms"), { atMost: 10 }),
    goalRow("growing to 10,000, CPU s", total, { atMost: 1.5 }),
    goalRow("growing to 100,000, CPU s", figureAt(100_000, "CPU s"), { atMost: 15 }),
    goalRow("growing to 10,000 beside 1,000, times", total / figureAt(1_000, "CPU s"), { atMost: 12 }),
  ];
  if (single.length === 0) return ownGoals;
  return [
    ...ownGoals,
    goalRow("best peer's compose at 10,000, times", least(single, "median ms") / figureAt(10_000, "median ms"), {
      atLeast: 100,
    }),
    goalRow("best peer's growing to 10,000, times", least(grown, "CPU s") / total, { atLeast: 5 }),
  ];
}

function figure(value: number): number {
  return Number(value.toPrecision(3));
}

let collect: (() => void) | undefined;

/** Bytes in use after a collection. */
function heapInUse(): number {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
  return process.memoryUsage().heapUsed;
}
