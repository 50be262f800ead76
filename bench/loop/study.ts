/** Jobs of several families and seeds through several policies and budgets, and the figures of all together. */
import { WindrowError } from "../../src/errors.ts";
import { nearest } from "../../src/nearest.ts";
import type { TokenCounter } from "../../src/tokens/counter.ts";
import { families } from "./jobs/families.ts";
import { View } from "./jobs/view.ts";
import type { SeenMessage } from "./jobs/view.ts";
import { runLoop } from "./loop.ts";
import type { LoopCall, LoopJob, LoopOptions, LoopResult, LoopSight } from "./loop.ts";
import type { LoopPolicy } from "./policy.ts";
import { Reader } from "./reader.ts";
import type { ReaderFaults } from "./reader.ts";

/** Families of jobs, with the reader of their agents behind `run`. */
export interface LoopBench {
  readonly names: readonly string[];
  /** Runs the job of a family and a seed. */
  run(
    job: { readonly family: string; readonly seed: number; readonly size: number },
    options: Omit<LoopOptions<LoopSight>, "see">,
    signal?: AbortSignal,
  ): Promise<LoopResult>;
}

/** A bench of families, by the names that the figures give them; `see` reads a window for all of their agents. */
export function benchOf<Sight extends LoopSight>(
  made: Readonly<Record<string, (seed: number, size: number) => LoopJob<Sight>>>,
  see: (messages: readonly SeenMessage[], hasRecall: boolean) => Sight,
): LoopBench {
  return {
    names: Object.keys(made),
    run: ({ family, seed, size }, options, signal) =>
      runLoop((made[family] as (typeof made)[string])(seed, size), { ...options, see }, signal),
  };
}

/** The jobs that docs/loop.md lists first. */
export const firstBench: LoopBench = benchOf(families, (messages, hasRecall) => new View(messages, hasRecall));

/** Which jobs are run through which policies. */
export interface StudyOptions {
  readonly policies: readonly LoopPolicy[];
  readonly budgets: readonly number[];
  /** Default `firstBench`. */
  readonly bench?: LoopBench;
  /** Names of families of the bench. */
  readonly families: readonly string[];
  readonly seeds: readonly number[];
  /** Calls that a job takes with its full history, about. */
  readonly size: number;
  readonly counter: TokenCounter;
  /** Default none. */
  readonly faults?: ReaderFaults;
  /** Hears when a job ended, and of how many it was which. */
  readonly onJob?: (done: number, of: number, run: LoopRun) => void;
  /** Hears of every call of every job. */
  readonly onCall?: (run: Omit<LoopRun, "result">, call: LoopCall) => void;
}

/** A job through a policy at a budget. */
export interface LoopRun {
  readonly policy: string;
  /** Null for a policy that keeps to none. */
  readonly budget: number | null;
  readonly family: string;
  readonly seed: number;
  readonly result: LoopResult;
}

/** Several jobs through a policy at a budget, added up. */
export interface LoopTotal extends Omit<LoopResult, "solved" | "isCut"> {
  readonly policy: string;
  readonly budget: number | null;
  /** The one family that it is about; null for all. */
  readonly family: string | null;
  readonly jobs: number;
  readonly solved: number;
  /** Jobs that were ended at their limit of calls. */
  readonly cut: number;
  /** Actions on void facts, per 1,000 actions. */
  readonly voidsPerThousand: number;
  /** Mean tokens of an answer of recall; 0 where nothing was recalled. */
  readonly tokensPerRecall: number;
}

/** Calls that a job may take, for each that it takes with its full history: 400 for 160. */
const callsPerStep = 2.5;

/** The names of the families of the first bench. */
export const familyNames: readonly string[] = firstBench.names;

/** Runs every job through every policy at every budget; the same options give the same figures. */
export async function runStudy(options: StudyOptions, signal?: AbortSignal): Promise<readonly LoopRun[]> {
  const { policies, budgets, seeds, size, bench = firstBench, faults = {}, onJob, onCall } = options;
  const counter = remembering(options.counter);
  const planned = policies.flatMap((policy) =>
    (policy.keepsBudget ? budgets : [null]).flatMap((budget) =>
      options.families.flatMap((family) => seeds.map((seed) => ({ policy, budget, family, seed }))),
    ),
  );
  const runs: LoopRun[] = [];
  for (const { policy, budget, family, seed } of planned) {
    const named = { policy: policy.name, budget, family, seed };
    const loop = {
      policy,
      budget: budget ?? Infinity,
      counter,
      reader: new Reader(faults, seed, counter),
      mostCalls: Math.ceil(size * callsPerStep),
      ...(onCall && { onCall: (call: LoopCall) => onCall(named, call) }),
    };
    const run = { ...named, result: await bench.run({ family, seed, size }, loop, signal) };
    runs.push(run);
    onJob?.(runs.length, planned.length, run);
  }
  return runs;
}

/**
 * Names of families as they are given; all of the bench where none is.
 *
 * @throws WindrowError `bad-option`
 */
export function familiesOf(names?: readonly string[], bench: LoopBench = firstBench): readonly string[] {
  for (const name of names ?? []) {
    if (bench.names.includes(name)) continue;
    throw new WindrowError("bad-option", `There is no family "${name}".${nearest(name, bench.names)}`, {
      family: name,
    });
  }
  return names ?? bench.names;
}

/** Adds up runs by policy and budget, in the order of the runs; with `byFamily` each family alone. */
export function totalsOf(runs: readonly LoopRun[], byFamily = false): readonly LoopTotal[] {
  const groups = new Map<string, LoopRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([run.policy, run.budget, byFamily && run.family]);
    const group = groups.get(key);
    if (group) group.push(run);
    else groups.set(key, [run]);
  }
  return [...groups.values()].map((group) => totalOf(group, byFamily));
}

function totalOf(runs: readonly LoopRun[], byFamily: boolean): LoopTotal {
  const [first] = runs as readonly [LoopRun];
  const results = runs.map(({ result }) => result);
  const sum = (read: (result: LoopResult) => number): number => results.reduce((total, one) => total + read(one), 0);
  const [actions, voids] = [sum((one) => one.actions), sum((one) => one.voids)];
  const [recalls, recallTokens] = [sum((one) => one.recalls), sum((one) => one.recallTokens)];
  return {
    policy: first.policy,
    budget: first.budget,
    family: byFamily ? first.family : null,
    jobs: runs.length,
    solved: sum(({ solved }) => Number(solved)),
    cut: sum(({ isCut }) => Number(isCut)),
    actions,
    wrong: sum((one) => one.wrong),
    voids,
    voidsPerThousand: actions === 0 ? 0 : Math.round((10_000 * voids) / actions) / 10,
    calls: sum((one) => one.calls),
    cost: Math.round(1e4 * sum((one) => one.cost)) / 1e4,
    recalls,
    recallTokens,
    tokensPerRecall: recalls === 0 ? 0 : Math.round(recallTokens / recalls),
    quotedRecalls: sum((one) => one.quotedRecalls),
    refused: sum((one) => one.refused),
    historyTokens: sum((one) => one.historyTokens),
    peakTokens: Math.max(...results.map(({ peakTokens }) => peakTokens)),
  };
}

/** The most texts whose count is remembered. */
const mostRemembered = 200_000;

/** The counter with its answers remembered: windows of one job or recording say the same again and again. */
export function remembering(counter: TokenCounter): TokenCounter {
  const known = new Map<string, number>();
  return {
    ...counter,
    count: (text) => {
      let tokens = known.get(text);
      if (tokens === undefined) {
        if (known.size >= mostRemembered) known.clear();
        known.set(text, (tokens = counter.count(text)));
      }
      return tokens;
    },
  };
}
