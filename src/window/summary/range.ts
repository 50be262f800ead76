/** The range of a summary: the whole steps that it covers, and messages that left the window before. */
import { summaryPass } from "../edits.ts";
import type { ViewStep } from "../window.ts";

/** The part of a step that a range is chosen by. */
export type RangeStep = Pick<ViewStep, "kind" | "from" | "to" | "edit"> & {
  readonly messages: readonly { readonly seq: number }[];
};

/** Options of a range: the messages it leaves out. */
export interface RangeOptions {
  /** The number of newest messages that stay out, with the steps they belong to. Default 5. */
  readonly keepMessages?: number;
  /** The number of newest turns that stay out. Default 0. */
  readonly keepTurns?: number;
  /** The number of oldest turns to cover. Default: all. */
  readonly turns?: number;
  /** Steps within the range that stay verbatim: the task, what scores high. Default: none. */
  readonly keep?: (step: RangeStep) => boolean;
}

/** The log that a range is chosen in, beside the window's steps. */
export interface RangeLog {
  /** Messages that left the window without a summary, by `seq`: the range takes them in. Default: none. */
  readonly left?: readonly number[];
  /** How many turns of the oldest those are. Default 0. */
  readonly leftTurns?: number;
  /** Whether the summary that stands is rewritten: the range may begin before it. Default false. */
  readonly running?: boolean;
  /** The range takes in at least the steps up to this `seq`. Default 0. */
  readonly least?: number;
}

/** A stretch of the log to summarise. */
export interface SummaryRange {
  readonly from: number;
  readonly to: number;
  /** Messages in it that stay verbatim, by `seq`. */
  readonly kept: readonly number[];
}

/**
 * The range for the next summary: what left without one, and what stands behind the last labelled message; system messages
 * and the newest messages are left out. Undefined where nothing is left to summarise.
 */
export function summaryRange(
  steps: readonly RangeStep[],
  { keepMessages = 5, keepTurns = 0, turns, keep = () => false }: RangeOptions = {},
  { left = [], leftTurns = 0, running = false, least = 0 }: RangeLog = {},
): SummaryRange | undefined {
  const names = new Set(left);
  const stands = (step: RangeStep): boolean => step.kind === "note" && !names.has(step.from);
  const barrier = steps.findLastIndex((step) => stands(step) && !(running && step.edit?.pass === summaryPass));
  const gone = left.filter((seq) => seq > (steps[barrier]?.from ?? 0));
  const open = steps.slice(barrier + 1).filter(isOwn);
  const system = open.findIndex(({ kind }) => kind !== "system");
  const first = system < 0 ? undefined : open.slice(system).find((step) => !keep(step));
  const from = Math.min(first?.from ?? Infinity, gone[0] ?? Infinity);
  const fresh = steps.slice(steps.findLastIndex(stands) + 1).filter(isOwn);
  const candidates = turns === undefined ? fresh : oldestTurns(fresh, Math.max(0, turns - leftTurns));
  const due = Math.min(lastOf(candidates), seqBefore(steps, keepMessages), seqBeforeTurns(fresh, keepTurns));
  let to = Math.max(due, gone.at(-1) ?? 0, least);
  // A result may come after later messages: a step is in the range whole or not at all.
  for (let changed = true; changed;) {
    changed = false;
    for (const step of open) {
      if (step.from > to || step.to <= to) continue;
      to = step.from - 1;
      changed = true;
    }
  }
  const told = open.filter((step) => step.from >= from && step.to <= to && step.kind !== "system" && !keep(step));
  if (from > to || (told.length === 0 && (gone[0] ?? Infinity) > to)) return undefined;
  const stays = steps.filter((step) => isOwn(step) && !told.includes(step));
  return { from, to, kept: seqsOf(stays).filter((seq) => seq >= from && seq <= to) };
}

/** Whether a step shows messages of the log. */
function isOwn({ kind }: RangeStep): boolean {
  return kind !== "note" && kind !== "insert";
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
  return seqsOf(steps.filter(isOwn)).at(-count - 1) ?? 0;
}

/** The last message before the newest `count` turns. */
function seqBeforeTurns(steps: readonly RangeStep[], count: number): number {
  if (count === 0) return Infinity;
  const begun = steps.filter(({ kind }) => kind === "user").at(-count);
  return (begun?.from ?? 1) - 1;
}

function seqsOf(steps: readonly RangeStep[]): readonly number[] {
  return steps.flatMap(({ messages }) => messages.map(({ seq }) => seq)).toSorted((left, right) => left - right);
}
