/**
 * The summary that is due, and its messages. One is due by the trigger, where the window has no room for what stands in
 * it, and where messages left it without one.
 */
import { laterAnswerOf } from "../../handed-in.ts";
import { isTriggered } from "../budget.ts";
import type { Triggering } from "../budget.ts";
import { isRange, summaryPass } from "../edits.ts";
import { handedScore, importanceOf } from "../passes/importance.ts";
import type { Edit, StrategyContext, View, ViewStep } from "../window.ts";
import { liveSummaries, seqsOf } from "./standing.ts";
import type { LiveSummary, SummaryHookOptions } from "./summary.ts";

/** A summary that is due. */
export interface Due {
  /** The messages it is to tell, by `seq`, rising. */
  readonly seqs: readonly number[];
  /** The summaries that stand in the window, oldest first: they are worked into it. */
  readonly live: readonly LiveSummary[];
}

/** Summaries that are read to know which of them stand in the window. */
const mostSummaries = 200;

/**
 * The summary that is due now; undefined where none is.
 *
 * @param maxTokens - most tokens it will have
 */
export async function dueNow(
  context: StrategyContext,
  options: SummaryHookOptions,
  maxTokens: number,
): Promise<Due | undefined> {
  const { view, room, budget, edits } = context;
  const { trigger, turns, keepMessages = 5, keepTurns = 0 } = options;
  const left = new Set(seqsOf(bareEdits(edits)));
  const stands = ({ kind, from }: ViewStep): boolean => kind === "note" && !left.has(from);
  const fresh = view.steps.slice(view.steps.findLastIndex(stands) + 1).filter(isOwn);
  // The summary that stands is rewritten, so messages before it may go into it; other notes stand for what they stand for.
  const barrier = view.steps.findLastIndex((step) => stands(step) && step.edit?.pass !== summaryPass);
  const open = view.steps.slice(barrier + 1).filter(isOwn);
  const gone = [...left].filter((seq) => seq > (view.steps[barrier]?.from ?? 0));

  const isFull = gone.length > 0 || view.tokens > room;
  const isDue = !trigger || isTriggered(trigger, sizeOf(fresh), budget);
  if (!isDue && !isFull) return undefined;
  // Turns are folded in batches where the window is full, or every call would ask for a summary.
  const goal = turns === undefined ? room : room / 2;
  const least = isFull ? lastToGo(view, view.tokens + maxTokens - goal) : 0;
  const batch = turns === undefined ? fresh : oldestTurns(fresh, isDue ? turns : 0);
  const newest = seqsIn(view.steps.filter(isOwn)).at(-keepMessages - 1) ?? 0;
  const newestTurn = keepTurns === 0 ? undefined : fresh.filter(({ kind }) => kind === "user").at(-keepTurns);
  const wanted = Math.min(lastIn(batch), newest, keepTurns === 0 ? Infinity : (newestTurn?.from ?? 1) - 1);
  const end = Math.max(wanted, least, gone.at(-1) ?? 0);
  const reached = open.filter((step) => step.to <= end && step.kind !== "system" && !step.protected);
  const important = await importantSteps(reached, options);
  const taken = reached.filter((step) => !important.has(step));
  const own = [...seqsIn(taken), ...gone];
  if (own.length === 0) return undefined;

  const isSummed = view.steps.some(({ edit }) => edit?.pass === summaryPass);
  const live = isSummed ? liveSummaries(view.steps, await context.summaries(mostSummaries)) : [];
  const others = view.steps.filter((step) => isOwn(step) && !taken.includes(step));
  const out = new Set([...seqsIn(others), ...live.flatMap(({ told }) => told)]);
  return { seqs: seqsOf([{ from: Math.min(...own), to: Math.max(...own) }], out), live };
}

/** Whether a step shows messages of the log. */
function isOwn({ kind }: ViewStep): boolean {
  return kind !== "note" && kind !== "insert";
}

function seqsIn(steps: readonly ViewStep[]): readonly number[] {
  return steps.flatMap(({ messages }) => messages.map(({ seq }) => seq)).toSorted((left, right) => left - right);
}

function lastIn(steps: readonly ViewStep[]): number {
  return steps.reduce((last, { to }) => Math.max(last, to), 0);
}

/** The steps of the oldest turns; a turn is a user message and everything up to the next. */
function oldestTurns(steps: readonly ViewStep[], turns: number): readonly ViewStep[] {
  let begun = 0;
  const end = steps.findIndex(({ kind }) => kind === "user" && ++begun > turns);
  return end < 0 ? steps : steps.slice(0, end);
}

/** The numbers that a trigger compares. */
function sizeOf(steps: readonly ViewStep[]): Triggering {
  const said = steps.filter(({ kind }) => kind !== "system");
  return {
    messages: seqsIn(said).length,
    turns: said.filter(({ kind }) => kind === "user").length,
    tokens: said.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/**
 * The last message, by `seq`, that has to leave so that the unprotected steps before it free some tokens; 0 where none has
 * to, the last unprotected one where all do not suffice.
 */
function lastToGo({ steps }: View, excess: number): number {
  let freed = 0;
  let last = 0;
  for (const step of steps) {
    if (freed >= excess) break;
    if (step.protected || !isOwn(step)) continue;
    freed += step.tokens;
    last = Math.max(last, step.to);
  }
  return last;
}

/** The steps that score high enough to stay. */
async function importantSteps(
  steps: readonly ViewStep[],
  { keepImportance = Infinity, score = importanceOf }: SummaryHookOptions,
): Promise<ReadonlySet<ViewStep>> {
  const kept = new Set<ViewStep>();
  if (keepImportance === Infinity) return kept;
  for (const step of steps) {
    const messages = step.messages.map(({ message }) => message);
    const scored = await laterAnswerOf(
      score,
      handedScore,
      () => score(messages),
      () => importanceOf(messages),
    );
    if (scored >= keepImportance) kept.add(step);
  }
  return kept;
}

/** The pass whose labelled message only names what left. */
const dropPass = "drop-oldest";

/** The edits that took messages out of the window and say nothing of what they held. */
function bareEdits(edits: readonly Edit[]): readonly Edit[] {
  const ranges = edits.filter(isRange);
  const telling = new Set(ranges.filter(({ kind }) => kind === "replace").map(({ pass }) => pass));
  return ranges.filter(({ pass }) => pass === dropPass || (pass !== summaryPass && !telling.has(pass)));
}
