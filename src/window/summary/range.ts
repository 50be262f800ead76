/** The range of a summary: the whole steps that it covers. */
import type { ViewStep } from "../window.ts";

/** The part of a step that a range is chosen by. */
export type RangeStep = Pick<ViewStep, "kind" | "from" | "to"> & {
  readonly messages: readonly { readonly seq: number }[];
};

/** Options of a range: the messages it leaves out. */
export interface RangeOptions {
  /** The number of newest messages that stay out, with the steps they belong to. Default 5. */
  readonly keepMessages?: number;
  /** The number of oldest turns to cover. Default: all. */
  readonly turns?: number;
  /** Steps within the range that stay verbatim: the task, what scores high. Default: none. */
  readonly keep?: (step: RangeStep) => boolean;
}

/** A stretch of the log to summarise. */
export interface SummaryRange {
  readonly from: number;
  readonly to: number;
  /** Messages in it that stay verbatim, by `seq`. */
  readonly kept: readonly number[];
}

/**
 * The range for the next summary: what stands behind the last labelled message, system messages and the newest messages
 * left out. Undefined where nothing is left to summarise.
 */
export function summaryRange(
  steps: readonly RangeStep[],
  { keepMessages = 5, turns, keep = () => false }: RangeOptions = {},
): SummaryRange | undefined {
  const last = steps.findLastIndex(({ kind }) => kind === "note");
  const open = steps.slice(last + 1).filter(({ kind }) => kind !== "insert");
  const candidates = turns === undefined ? open : oldestTurns(open, turns);
  const system = open.findIndex(({ kind }) => kind !== "system");
  const first = system < 0 ? undefined : open.slice(system).find((step) => !keep(step));
  if (!first) return undefined;
  let to = Math.min(lastOf(candidates), seqBefore(steps, keepMessages));
  // A result may come after later messages: a step is in the range whole or not at all.
  for (let changed = true; changed;) {
    changed = false;
    for (const step of open) {
      if (step.from > to || step.to <= to) continue;
      to = step.from - 1;
      changed = true;
    }
  }
  const inside = open.filter((step) => step.from >= first.from && step.to <= to);
  const kept = inside.filter((step) => step.kind === "system" || keep(step));
  if (inside.length === kept.length) return undefined;
  return { from: first.from, to, kept: seqsOf(kept) };
}

/** The steps of the oldest turns; a turn is a user message and everything up to the next. */
function oldestTurns(steps: readonly RangeStep[], turns: number): readonly RangeStep[] {
  let begun = 0;
  const end = steps.findIndex(({ kind }) => kind === "user" && ++begun > turns);
  return end < 0 ? steps : steps.slice(0, end);
}

function lastOf(steps: readonly RangeStep[]): number {
  return steps.reduce((last, { to }) => Math.max(last, to), 0);
}

/** The last message that is not among the newest `count`. */
function seqBefore(steps: readonly RangeStep[], count: number): number {
  const shown = steps.filter(({ kind }) => kind !== "insert" && kind !== "note");
  return seqsOf(shown).at(-count - 1) ?? 0;
}

function seqsOf(steps: readonly RangeStep[]): readonly number[] {
  return steps.flatMap(({ messages }) => messages.map(({ seq }) => seq)).toSorted((left, right) => left - right);
}
