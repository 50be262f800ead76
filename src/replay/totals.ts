/** Totals over several replayed sessions. */
import { addNamed } from "./measure.ts";
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
  return Array.from({ length: places }, (_, place) => {
    const runs = sessions.flatMap(({ results, calls }) => {
      const result = results[place];
      return result ? [{ result, calls }] : [];
    });
    return totalOf(runs);
  });
}

interface SessionRun {
  readonly result: ReplayResult;
  readonly calls: number;
}

function totalOf(runs: readonly SessionRun[]): ReplayTotal {
  const first = (runs[0] as SessionRun).result;
  const sum = (value: (result: ReplayResult) => number): number =>
    runs.reduce((all, run) => all + value(run.result), 0);
  const mean = (
    value: (result: ReplayResult) => number | null,
    weight: (result: ReplayResult) => number,
  ): number | null => {
    const known = runs.map(({ result }) => ({ value: value(result), weight: weight(result) }));
    const counted = known.flatMap((item) => (item.value === null ? [] : [{ ...item, value: item.value }]));
    const whole = counted.reduce((all, item) => all + item.weight, 0);
    if (whole === 0) return null;
    return Math.floor((100 * counted.reduce((all, item) => all + item.value * item.weight, 0)) / whole) / 100;
  };
  const references = (result: ReplayResult): number => result.lookback.references;
  const calls = runs.reduce((all, run) => all + run.calls, 0);
  const total = sum((result) => result.tokens.total);
  const sent = calls - sum((result) => result.refused);
  const cached = sum((result) => result.cachedShare * result.tokens.total);
  return {
    strategy: first.strategy,
    budget: runs.every(({ result }) => result.budget === first.budget) ? first.budget : null,
    sessions: runs.length,
    calls,
    tokens: {
      total,
      average: sent === 0 ? 0 : Math.round(total / sent),
      peak: runs.reduce((peak, { result }) => Math.max(peak, result.tokens.peak), 0),
    },
    cost: {
      equivalents: sum((result) => result.cost.equivalents),
      dollars: runs.some(({ result }) => result.cost.dollars === null)
        ? null
        : sum((result) => result.cost.dollars ?? 0),
    },
    cachedShare: total === 0 ? 0 : cached / total,
    epochs: sum((result) => result.epochs),
    lookback: {
      all: mean((result) => result.lookback.all, references),
      far: mean(
        (result) => result.lookback.far,
        (result) => result.lookback.farSteps,
      ),
      strict: mean(
        (result) => result.lookback.strict,
        (result) => result.lookback.farSteps,
      ),
      farLines: mean(
        (result) => result.lookback.farLines,
        (result) => result.lookback.farLineReferences,
      ),
      oneHop: mean((result) => result.lookback.oneHop, references),
      farSteps: sum((result) => result.lookback.farSteps),
      references: sum(references),
      farLineReferences: sum((result) => result.lookback.farLineReferences),
    },
    named: runs.map(({ result }) => result.named).reduce(addNamed),
    broken: sum((result) => result.broken),
    overBudget: sum((result) => result.overBudget),
    refused: sum((result) => result.refused),
    faults: sum((result) => result.faults),
  };
}
