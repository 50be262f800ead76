/** The hooks of summarising strategies: one function for `afterStep` and `compact`. */
import type { Locale } from "../../config/locale.ts";
import type { NewRecord } from "../../message/record.ts";
import { importanceOf } from "../passes/importance.ts";
import { isTriggered } from "../budget.ts";
import type { Triggering } from "../budget.ts";
import type { Edit, StrategyContext, Trigger, View } from "../window.ts";
import { writtenPaths } from "../action/tool-action.ts";
import { mergeSummaries, planMerge } from "./hierarchy.ts";
import { liveSummaries, summaryEdits, summaryOf, summaryRecord, toldBy } from "./live.ts";
import type { LiveSummary, SummaryMessageOptions } from "./live.ts";
import { summaryRange } from "./range.ts";
import type { RangeOptions, SummaryRange } from "./range.ts";
import { summarise } from "./summarise.ts";
import type { SummariserOptions, SummaryTask } from "./summarise.ts";
import type { SummaryOutcome } from "./summary.ts";
import { summariseByExtract } from "./without-model.ts";

/** How a strategy summarises. */
export interface SummaryHookOptions extends RangeOptions {
  /** When a summary is due, by what stands in the window without one. Absent: always. */
  readonly trigger?: Trigger;
  /** Tokens that the trigger's `ratio` is a share of. Default: the budget. */
  readonly size?: number;
  /**
   * `side-by-side` (default): each summary covers its range, and neighbours are summarised again when all together
   * exceed `blockTokens`. `cumulative`: one summary, rewritten with every range.
   */
  readonly mode?: "side-by-side" | "cumulative";
  /** Most tokens of all summaries together. Default 8,000, and never more than a quarter of the budget. */
  readonly blockTokens?: number;
  /** The role that carries a summary, and its first words. */
  readonly message?: SummaryMessageOptions;
  /** Facts that every summary has to name as they stand, for example a ticket's number. Pins need none: they have a slot. */
  readonly facts?: readonly string[];
  /** Steps of at least this importance (0 to 1, `importanceOf`) stay verbatim. Default: none but what must. */
  readonly keepImportance?: number;
  /** The language of the request. Default `en`. */
  readonly locale?: Locale;
  /** How the model is asked. */
  readonly asking?: Omit<SummariserOptions, "model" | "counter" | "locale" | "mask">;
}

/**
 * Summarises the messages that are due and commits the summary, or records why it could not. The session's summarizer
 * writes it; without one it consists of the messages' own sentences. If the range changed meanwhile, nothing is committed.
 *
 * @returns what came of it; undefined where nothing was due
 */
export async function summariseStep(
  context: StrategyContext,
  options: SummaryHookOptions = {},
  signal?: AbortSignal,
): Promise<SummaryOutcome | undefined> {
  const { trigger, mode = "side-by-side", message } = options;
  const { view, counter, timestamp } = context;
  if (trigger && !isTriggered(trigger, unsummarised(view), options.size ?? context.budget)) return undefined;
  const found = summaryRange(view.steps, { keep: keeperOf(view, options.keepImportance), ...options });
  if (!found) return undefined;

  const live = liveSummaries(view.steps, await context.summaries(mostSummaries));
  const range = { ...found, kept: [...new Set([...found.kept, ...toldIn(found, live)])] };
  const messages = await context.read(range.from, range.to);
  const blockTokens = Math.min(options.blockTokens ?? 8_000, Math.floor(context.budget / 4));
  const maxTokens = Math.max(64, Math.min(options.asking?.maxTokens ?? 2_000, Math.floor(blockTokens / 2)));
  const previous = live.at(-1);
  const absorb = mode === "cumulative";
  const task: SummaryTask = {
    messages,
    kept: range.kept,
    ...(previous && { previous: { text: previous.text, absorb } }),
    facts: options.facts ?? [],
    paths: writtenPaths(messages),
  };
  const outcome = await make(context, task, { ...options, asking: { ...options.asking, maxTokens } }, signal);
  if (!outcome.ok) return failed(context, range, outcome);

  const children = absorb && previous ? [previous] : [];
  const edits: Edit[] = [];
  const records: NewRecord[] = [];
  if (!absorb) await mergeInto(edits, records, live, blockTokens - outcome.summaryTokens, context, options, signal);
  edits.push(...summaryEdits(summaryOf(outcome, children), counter, message));
  records.push(summaryRecord(outcome, { children, timestamp }));
  const { calls, usage } = outcome;
  const none = { ok: false, calls, usage } as const;
  if (signal?.aborted)
    return { ...none, failed: "aborted", message: "The summary was aborted before it was committed." };
  const freed = freedBy(edits, view);
  if (freed <= 0) {
    const problem = `The summary would make the window ${-freed} tokens larger.`;
    return failed(context, range, { ...none, failed: "not-shorter", message: problem });
  }
  // An answer of reasoning alone shows nothing, so it needs no edit.
  const shown = edits.filter(({ from, to }) => view.steps.some((step) => step.from <= to && step.to >= from));
  if (await context.commit(shown, records)) return outcome;
  return { ...none, failed: "stale", message: "The range changed while its summary was written." };
}

/** Records why there is no summary, unless somebody wanted it to stop. */
async function failed(
  context: StrategyContext,
  { from, to }: SummaryRange,
  outcome: Extract<SummaryOutcome, { ok: false }>,
): Promise<SummaryOutcome> {
  const data = { start_seq: from, end_seq: to, calls: outcome.calls, problem: outcome.message };
  if (outcome.failed !== "aborted") await context.fail(outcome.failed, data);
  return outcome;
}

/** Tokens by which the edits make the window smaller. */
function freedBy(edits: readonly Edit[], view: View): number {
  const gone = view.steps.filter((step) => edits.some(({ from, to }) => from <= step.from && step.to <= to));
  const before = gone.reduce((sum, { tokens }) => sum + tokens, 0);
  return before - edits.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);
}

/** Messages of a range that a summary tells already: one behind them was kept when it was made, and leaves now. */
function toldIn({ from, to }: SummaryRange, live: readonly LiveSummary[]): readonly number[] {
  return live.flatMap(toldBy).filter((seq) => seq >= from && seq <= to);
}

/** The numbers of a window's messages that no summary covers; triggers compare them. */
export function unsummarised(view: View): Triggering {
  const last = view.steps.findLastIndex(({ kind }) => kind === "note");
  const open = view.steps.slice(last + 1).filter(({ kind }) => kind === "user" || kind === "assistant");
  return {
    messages: open.reduce((sum, { messages }) => sum + messages.length, 0),
    turns: open.filter(({ kind }) => kind === "user").length,
    tokens: open.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** Summaries that are read to know which of them stand in the window. */
const mostSummaries = 200;

/** Steps that no summary takes in: those that must stand, and those that score high. */
function keeperOf({ steps }: View, least = Infinity): (step: { readonly from: number }) => boolean {
  const kept = new Set<number>();
  for (const step of steps) {
    const scores = step.kind !== "note" && importanceOf(step.messages.map(({ message }) => message)) >= least;
    if (step.protected || scores) kept.add(step.from);
  }
  return ({ from }) => kept.has(from);
}

async function make(
  context: StrategyContext,
  task: SummaryTask,
  { asking, locale = "en" }: SummaryHookOptions,
  signal: AbortSignal | undefined,
): Promise<SummaryOutcome> {
  const { summarizer, counter, mask } = context;
  if (!summarizer) return summariseByExtract(task, { ...asking, counter });
  const outcome = await summarise(task, { ...asking, locale, model: summarizer, counter, mask }, signal);
  for (const usage of outcome.usage) await context.spend("summary", usage, summarizer.id);
  return outcome;
}

/** Summarises older summaries again until they fit what the new one leaves. */
async function mergeInto(
  edits: Edit[],
  records: NewRecord[],
  live: readonly LiveSummary[],
  room: number,
  context: StrategyContext,
  { asking, locale = "en", message }: SummaryHookOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { summarizer, counter, mask, timestamp } = context;
  const merge = planMerge(live, room);
  if (!merge) return;
  const outcome = await mergeSummaries(
    merge,
    { ...asking, locale, counter, mask, ...(summarizer && { model: summarizer }) },
    signal,
  );
  for (const usage of outcome.usage) await context.spend("summary", usage, summarizer?.id);
  edits.push(...summaryEdits(summaryOf(outcome, merge.children), counter, message));
  records.push(summaryRecord(outcome, { children: merge.children, timestamp }));
}
