/**
 * `adaptive` on recorded sessions at several budgets around each named one, because one budget is a matter of where its
 * epochs fall. With the figures of an earlier build it tells the differences, session by session.
 *
 *   npm run bench -- window/recorded
 *   RECORDED_SETS=long:16000,32000 RECORDED_BUDGETS=3   those sets and budgets, at three budgets each
 *   RECORDED_SAVE=base.json                             keeps the figures of each session
 *   RECORDED_BASE=base.json                             compares with figures that were kept
 */
import { readFileSync, writeFileSync } from "node:fs";
import { remembering } from "../loop/study.ts";
import type { Message } from "../../src/message/message.ts";
import { CostTally } from "../../src/replay/cost-metric.ts";
import { readRecording } from "../../src/replay/measure.ts";
import type { Recording } from "../../src/replay/measure.ts";
import { LookbackTally } from "../../src/replay/recall-metric.ts";
import { BrokenRequests } from "../../src/replay/shape-metric.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { loadCounter } from "../../src/tokens/exact.ts";
import { strategyOf } from "../../src/window/by-name.ts";
import { Composer } from "../../src/window/composer.ts";
import { profileOf } from "../../src/window/provider/profile.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { recordedSessions } from "./kit.ts";
import { LabTally, readLab } from "./lab/lab.ts";
import type { LabRecording } from "./lab/lab.ts";

/** A set of sessions, and its named budgets. */
interface RecordedSet {
  readonly files: readonly string[];
  readonly budgets: readonly number[];
  readonly farDistance: number;
}

const sets: Readonly<Record<string, RecordedSet>> = {
  long: { files: ["long-sessions/trajectories.jsonl.gz"], budgets: [16_000, 32_000, 64_000], farDistance: 8_000 },
  pi: { files: ["pi-sessions/trajectories.jsonl.gz"], budgets: [16_000, 32_000, 64_000], farDistance: 8_000 },
  swe: { files: ["swe-smith/trajectories.jsonl.gz"], budgets: [4_000, 8_000], farDistance: 2_000 },
  tau: { files: ["tau-bench-airline/trajectories.jsonl.gz"], budgets: [4_000], farDistance: 1_000 },
  mixed: {
    files: ["openhands/trajectories.jsonl.gz", "claude-code-sessions/trajectories.jsonl.gz"],
    budgets: [6_000, 9_000],
    farDistance: 3_000,
  },
};

/** The share of a named budget by which the budgets around it differ at most. */
const spread = 0.14;

const profile = profileOf("openai-chat");

/** Sums of a session at one budget, of which shares are made. */
interface Sums {
  readonly session: string;
  readonly budget: number;
  readonly farSteps: number;
  readonly far: number;
  readonly strict: number;
  readonly lineReferences: number;
  readonly lines: number;
  readonly quotes: number;
  readonly quotesOf: number;
  readonly hunks: number;
  readonly hunksOf: number;
  readonly cost: number;
  readonly epochs: number;
  readonly broken: number;
  readonly refused: number;
  readonly removed: number;
  readonly removedOf: number;
}

/** Sums by set and named budget. */
type Figures = Readonly<Record<string, readonly Sums[]>>;

/** One row a set and a named budget: means over the budgets around it, with a bootstrap over sessions beside a base. */
export async function benchRecorded(): Promise<BenchReport> {
  const counter = remembering(await loadCounter("o200k"));
  const around = budgetFactors(Number(process.env["RECORDED_BUDGETS"] ?? 7));
  const figures: Record<string, readonly Sums[]> = {};
  for (const [name, budgets] of wantedSets()) {
    const { files, farDistance } = sets[name] as RecordedSet;
    for (const session of await recordedSessions(files)) {
      const recording = readRecording(session, counter, farDistance);
      const lab = readLab(recording);
      for (const budget of budgets) {
        const key = `${name} ${budget}`;
        const sums = around.map((factor) => run(session.id, recording, lab, Math.round(budget * factor), counter));
        figures[key] = [...(figures[key] ?? []), ...sums];
      }
      console.error(`  ${name} ${session.id}`);
    }
  }
  const save = process.env["RECORDED_SAVE"];
  if (save !== undefined) writeFileSync(save, JSON.stringify(figures));
  const from = process.env["RECORDED_BASE"];
  const base = from === undefined ? undefined : (JSON.parse(readFileSync(from, "utf8")) as Figures);
  const rows = Object.entries(figures).flatMap(([key, sums]) => {
    const before = base?.[key];
    return before ? [rowOf(key, sums), differenceOf(sums, before)] : [rowOf(key, sums)];
  });
  const note =
    `means over ${around.length} budgets from ${around[0]} to ${around.at(-1)} of the named one; far, lines and strict in ` +
    "per cent, quotes and hunks a run; cost in millions of input tokens, cached 0.1, written 1.25; o200k" +
    (base ? "; differences with 95 % of 2,000 bootstraps over sessions" : "");
  return { name: "window/recorded", rows, note };
}

/** The sets and named budgets to run: `long:16000,32000;tau`. */
function wantedSets(): readonly (readonly [string, readonly number[]])[] {
  const wanted = process.env["RECORDED_SETS"] ?? Object.keys(sets).join(";");
  return wanted.split(";").map((one) => {
    const [name = "", budgets] = one.split(":");
    const set = sets[name];
    if (!set) throw new Error(`No set is called ${name}. Known: ${Object.keys(sets).join(", ")}.`);
    return [name, budgets === undefined ? set.budgets : budgets.split(",").map(Number)] as const;
  });
}

function budgetFactors(count: number): readonly number[] {
  if (count === 1) return [1];
  return Array.from({ length: count }, (_, at) => Number((1 - spread + (2 * spread * at) / (count - 1)).toFixed(3)));
}

/** A session at one budget, composed before every call as a live agent does. */
function run(session: string, recording: Recording, lab: LabRecording, budget: number, counter: TokenCounter): Sums {
  const { messages, calls, references } = recording;
  const composer = new Composer({ strategy: strategyOf("adaptive"), profile, counter });
  const cost = new CostTally(recording.tokens);
  const lookback = new LookbackTally(recording);
  const seen = new LabTally(lab);
  let [pushed, epochs, broken, refused] = [0, 0, 0, 0];
  for (const index of calls) {
    for (; pushed < index; pushed++) composer.push(pushed + 1, messages[pushed] as Message);
    let shown: readonly Message[] = [];
    let opened = false;
    try {
      const composed = composer.compose({ budget });
      shown = composed.messages;
      opened = composed.report.opened !== undefined;
      if (opened) epochs++;
      cost.add(shown);
      if (new BrokenRequests().isBroken(shown)) broken++;
    } catch {
      refused++;
    }
    lookback.add(references.get(index) ?? [], shown);
    seen.add(index, shown, opened);
  }
  const { quotes, hunks, strict, removed } = seen.result();
  const { far, farLines, farSteps, farLineReferences } = lookback.result();
  return {
    session,
    budget,
    farSteps,
    far: ((far ?? 0) * farSteps) / 100,
    strict: strict.shares,
    lineReferences: farLineReferences,
    lines: ((farLines ?? 0) * farLineReferences) / 100,
    quotes: quotes.found,
    quotesOf: quotes.total,
    hunks: hunks.found,
    hunksOf: hunks.total,
    cost: cost.result().equivalents,
    epochs,
    broken,
    refused,
    removed: removed.titled,
    removedOf: removed.of,
  };
}

/** The figures that are compared, of any sums. */
const measures: Readonly<Record<string, (sums: readonly Sums[]) => number>> = {
  "far %": (sums) => share(sums, "far", "farSteps"),
  "lines %": (sums) => share(sums, "lines", "lineReferences"),
  "strict %": (sums) => share(sums, "strict", "farSteps"),
  "quotes": (sums) => total(sums, "quotes") / runsOf(sums),
  "hunks": (sums) => total(sums, "hunks") / runsOf(sums),
  "cost": (sums) => total(sums, "cost") / runsOf(sums),
};

function rowOf(set: string, sums: readonly Sums[]): BenchRow {
  const figures = Object.entries(measures).map(([name, of]) => [name, Number(of(sums).toFixed(2))] as const);
  const means = [...bySessions(sums).values()]
    .filter((own) => total(own, "farSteps") > 0)
    .map((own) => share(own, "far", "farSteps"));
  return {
    set,
    ...Object.fromEntries(figures),
    "of quotes": total(sums, "quotesOf") / runsOf(sums),
    "of hunks": total(sums, "hunksOf") / runsOf(sums),
    "far, mean of sessions": Number((means.reduce((all, one) => all + one, 0) / means.length).toFixed(2)),
    "epochs": Number((total(sums, "epochs") / runsOf(sums)).toFixed(1)),
    "broken": total(sums, "broken"),
    "refused": total(sums, "refused"),
    "removed lines shown": `${total(sums, "removed")} of ${total(sums, "removedOf")}`,
  };
}

/** The differences from a base, with the interval of 95 % of bootstraps over sessions. */
function differenceOf(sums: readonly Sums[], base: readonly Sums[]): BenchRow {
  const sessions = [...new Set(sums.map(({ session }) => session))];
  const after = bySessions(sums);
  const before = bySessions(base);
  const next = random();
  const draws = Array.from({ length: 2_000 }, () =>
    sessions.map(() => sessions[Math.floor(next() * sessions.length)] ?? ""),
  );
  const cells = Object.entries(measures).map(([name, of]) => {
    const difference = (drawn: readonly string[]): number =>
      of(drawn.flatMap((one) => after.get(one) ?? [])) - of(drawn.flatMap((one) => before.get(one) ?? []));
    const found = draws.map(difference).toSorted((left, right) => left - right);
    const text = (value = 0): string => `${value >= 0 ? "+" : ""}${value.toFixed(2)}`;
    return [name, `${text(difference(sessions))} [${text(found[49])}, ${text(found[1_949])}]`] as const;
  });
  return { set: "  against the base", ...Object.fromEntries(cells) };
}

/** Numbers of 0 to 1, the same in every run: a generator of 32 bits by Marsaglia's shifts. */
function random(): () => number {
  let state = 2_463_534_242;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function total(sums: readonly Sums[], key: Exclude<keyof Sums, "session">): number {
  return sums.reduce((all, one) => all + one[key], 0);
}

function share(sums: readonly Sums[], key: Exclude<keyof Sums, "session">, of: Exclude<keyof Sums, "session">): number {
  return (100 * total(sums, key)) / Math.max(1, total(sums, of));
}

/** The budgets that each session was run at. */
function runsOf(sums: readonly Sums[]): number {
  return new Set(sums.map(({ budget }) => budget)).size;
}

function bySessions(sums: readonly Sums[]): ReadonlyMap<string, readonly Sums[]> {
  const groups = new Map<string, Sums[]>();
  for (const one of sums) groups.set(one.session, [...(groups.get(one.session) ?? []), one]);
  return groups;
}
