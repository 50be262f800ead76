/** When a summary is due, and for which messages: counted from the log behind the last one, not from the window. */
import { isTriggered } from "../budget.ts";
import type { Triggering } from "../budget.ts";
import type { Edit, StrategyContext, Trigger, View } from "../window.ts";
import { bareEdits, lastToGo, leftBy, stretches } from "./left.ts";
import type { Left } from "./left.ts";
import { liveSummaries, toldBy } from "./live.ts";
import type { LiveSummary } from "./live.ts";
import { summaryRange } from "./range.ts";
import type { RangeOptions, SummaryRange } from "./range.ts";
import { importantSteps } from "./score.ts";
import type { ScoreOptions } from "./score.ts";

/** When a strategy summarises, and what. */
export interface DueOptions extends RangeOptions, ScoreOptions {
  /** When a summary is due, by what the log holds behind the last one, in the window or not. Absent: always. */
  readonly trigger?: Trigger;
  /** Whether one is due, too, where the next window would not fit: for the steps that would leave. Default false. */
  readonly whenFull?: boolean;
  /** Tokens that the trigger's `ratio` is a share of. Default: the budget. */
  readonly size?: number;
}

/** A summary that is due. */
export interface Due {
  readonly range: SummaryRange;
  /** The summaries that stand in the window, oldest first. */
  readonly live: readonly LiveSummary[];
  /** The messages that left the window without one. */
  readonly left: Left;
  /** The edits that were in force. */
  readonly edits: readonly Edit[];
}

/** Summaries that are read to know which of them stand in the window. */
const mostSummaries = 200;

/**
 * The summary that is due now; undefined where none is.
 *
 * @param running - whether it is worked into the one that stands
 * @param maxTokens - most tokens it will have
 */
export async function dueNow(
  context: StrategyContext,
  options: DueOptions,
  { running, maxTokens }: { readonly running: boolean; readonly maxTokens: number },
  signal?: AbortSignal,
): Promise<Due | undefined> {
  const { view, room, edits } = context;
  const live = async (): Promise<readonly LiveSummary[]> =>
    liveSummaries(view.steps, await context.summaries(mostSummaries));
  const bare = bareEdits(edits);
  const left = leftBy(bare, bare.length === 0 ? [] : await live());
  const leftTurns = options.turns === undefined ? 0 : await turnsOf(left, context);
  const isFull = options.whenFull === true && view.tokens > room;
  const triggered = isTriggeredBy(options, context, { left, leftTurns });
  if (!triggered && !isFull) return undefined;
  // Turns are folded in batches where the window is full, or every call would ask for a summary.
  const goal = options.turns === undefined ? room : room / 2;
  const log = {
    left: left.seqs,
    leftTurns,
    running,
    least: isFull ? lastToGo(view, view.tokens + maxTokens - goal) : 0,
  };
  const turns = !triggered && options.turns !== undefined ? { turns: 0 } : {};
  const rangeBeside = (important: ReadonlySet<number>): SummaryRange | undefined =>
    summaryRange(view.steps, { keep: keeperOf(view, important), ...options, ...turns }, log);
  const whole = rangeBeside(new Set());
  if (!whole) return undefined;
  const inside = view.steps.filter(
    ({ kind, from, to }) => (kind === "user" || kind === "assistant") && from >= whole.from && to <= whole.to,
  );
  const found = rangeBeside(await importantSteps(context, inside, options, signal));
  if (!found) return undefined;
  const stand = await live();
  return {
    range: { ...found, kept: [...new Set([...found.kept, ...toldIn(found, stand)])] },
    live: stand,
    left,
    edits,
  };
}

function isTriggeredBy(
  { trigger, size }: DueOptions,
  { view, budget }: StrategyContext,
  { left, leftTurns }: { readonly left: Left; readonly leftTurns: number },
): boolean {
  if (!trigger) return true;
  const { messages, turns, tokens } = unsummarised(view);
  const counted = {
    messages: messages + left.seqs.length,
    turns: turns + leftTurns,
    tokens: tokens + left.tokens,
  };
  return isTriggered(trigger, counted, size ?? budget);
}

/** The numbers of a window's messages behind its last labelled message. */
function unsummarised(view: View): Triggering {
  const last = view.steps.findLastIndex(({ kind }) => kind === "note");
  const open = view.steps.slice(last + 1).filter(({ kind }) => kind === "user" || kind === "assistant");
  return {
    messages: open.reduce((sum, { messages }) => sum + messages.length, 0),
    turns: open.filter(({ kind }) => kind === "user").length,
    tokens: open.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** The turns that began with messages that left. */
async function turnsOf({ seqs }: Left, context: StrategyContext): Promise<number> {
  const [first, last] = [seqs[0], seqs.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const out = new Set(seqs);
  let turns = 0;
  for await (const stretch of stretches(first, last, (from, to) => context.read(from, to)))
    turns += stretch.filter(({ seq, message }) => out.has(seq) && message.role === "user").length;
  return turns;
}

/** Messages of a range that a summary tells already: one behind them was kept when it was made, and leaves now. */
function toldIn({ from, to }: SummaryRange, live: readonly LiveSummary[]): readonly number[] {
  return live.flatMap(toldBy).filter((seq) => seq >= from && seq <= to);
}

/** Steps that no summary takes in: those that must stand, and those that score high. */
function keeperOf({ steps }: View, important: ReadonlySet<number>): (step: { readonly from: number }) => boolean {
  const kept = new Set(steps.filter((step) => step.protected).map(({ from }) => from));
  return ({ from }) => kept.has(from) || important.has(from);
}
