/** Totals over several replayed sessions. */
import type { ReplayedSession, ReplayResult } from "./replay.ts";

/** The result of one strategy over all sessions. */
export interface ReplayTotal extends Omit<ReplayResult, "series" | "profile" | "budget" | "tooSmall"> {
  /** The budget; null when the sessions had different ones. */
  readonly budget: number | null;
  readonly sessions: number;
  readonly calls: number;
}

/**
 * Adds up results by their place in each session's list, so all sessions need the same strategies and budgets. Recall
 * is weighted by the number of references.
 */
export function totalsOf(sessions: readonly ReplayedSession[]): readonly ReplayTotal[] {
  const places = sessions[0]?.results.length ?? 0;
  return Array.from({ length: places }, (_, place) =>
    totalOf(sessions.flatMap(({ results, calls }) => (results[place] ? [{ result: results[place], calls }] : []))),
  );
}

interface SessionRun {
  readonly result: ReplayResult;
  readonly calls: number;
}

/** The weights of the shares of recall. */
const weights = { all: "references", far: "farSteps", farLines: "farLineReferences", oneHop: "references" } as const;

function totalOf(runs: readonly SessionRun[]): ReplayTotal {
  const { strategy, budget } = (runs[0] as SessionRun).result;
  const sum = (value: (result: ReplayResult) => number): number =>
    runs.reduce((all, run) => all + value(run.result), 0);
  const mean = (share: keyof typeof weights): number | null => {
    const of = ({ lookback }: ReplayResult): number => (lookback[share] === null ? 0 : lookback[weights[share]]);
    const whole = sum(of);
    return whole === 0
      ? null
      : Math.floor((100 * sum((result) => (result.lookback[share] ?? 0) * of(result))) / whole) / 100;
  };
  const calls = runs.reduce((all, run) => all + run.calls, 0);
  const total = sum((result) => result.tokens.total);
  const refused = sum((result) => result.refused);
  return {
    strategy,
    budget: runs.every(({ result }) => result.budget === budget) ? budget : null,
    sessions: runs.length,
    calls,
    tokens: {
      total,
      average: calls === refused ? 0 : Math.round(total / (calls - refused)),
      peak: runs.reduce((peak, { result }) => Math.max(peak, result.tokens.peak), 0),
    },
    cost: {
      equivalents: sum((result) => result.cost.equivalents),
      dollars: runs.some(({ result }) => result.cost.dollars === null)
        ? null
        : sum((result) => result.cost.dollars ?? 0),
    },
    cachedShare: total === 0 ? 0 : sum((result) => result.cachedShare * result.tokens.total) / total,
    epochs: sum((result) => result.epochs),
    lookback: {
      all: mean("all"),
      far: mean("far"),
      farLines: mean("farLines"),
      oneHop: mean("oneHop"),
      farSteps: sum((result) => result.lookback.farSteps),
      references: sum((result) => result.lookback.references),
      farLineReferences: sum((result) => result.lookback.farLineReferences),
    },
    named: { named: sum((result) => result.named.named), total: sum((result) => result.named.total) },
    broken: sum((result) => result.broken),
    overBudget: sum((result) => result.overBudget),
    refused,
    faults: sum((result) => result.faults),
  };
}
