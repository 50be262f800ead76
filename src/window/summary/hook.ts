/** The hooks of summarising strategies: one function for `afterStep` and `compact`. */
import type { Locale } from "../../config/locale.ts";
import type { NewRecord } from "../../message/record.ts";
import type { Edit, StrategyContext, View } from "../window.ts";
import { writtenPaths } from "../action/tool-action.ts";
import { isRange } from "../edits.ts";
import { dueNow } from "./due.ts";
import type { Due, DueOptions } from "./due.ts";
import { mergeSummaries, planMerge } from "./hierarchy.ts";
import { bareEdits, leftBy, remaining } from "./left.ts";
import { summaryEdits, summaryOf, summaryRecord } from "./live.ts";
import type { LiveSummary, SummaryMessageOptions } from "./live.ts";
import type { SummaryRange } from "./range.ts";
import { summarise } from "./summarise.ts";
import type { SummariserOptions, SummaryTask } from "./summarise.ts";
import type { SummaryOutcome } from "./summary.ts";
import { summariseByExtract } from "./without-model.ts";

/** How a strategy summarises. */
export interface SummaryHookOptions extends DueOptions {
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
  /** The language of the request and of the label. Default `en`. */
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
  const { mode = "side-by-side", message, locale = "en" } = options;
  const { view, counter, timestamp } = context;
  const { blockTokens, maxTokens } = capsOf(options, context);
  const absorb = mode === "cumulative";
  const due = await dueNow(context, options, { running: absorb, maxTokens }, signal);
  if (!due) return undefined;
  const { range, live, left } = due;
  const messages = await context.read(range.from, range.to);
  const previous = live.at(-1);
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
  edits.push(...summaryEdits(summaryOf(outcome, children), counter, { locale, ...message }));
  records.push(summaryRecord(outcome, { children, timestamp }));
  const { calls, usage } = outcome;
  const none = { ok: false, calls, usage } as const;
  if (signal?.aborted)
    return { ...none, failed: "aborted", message: "The summary was aborted before it was committed." };
  const freed = freedBy(edits, view);
  const takesIn = left.seqs.some((seq) => seq >= outcome.startSeq && seq <= outcome.endSeq);
  if (freed <= 0 && !takesIn) {
    const problem = `The summary would make the window ${-freed} tokens larger.`;
    return failed(context, range, { ...none, failed: "not-shorter", message: problem });
  }
  if (await committed(context, due, edits, records)) return outcome;
  return { ...none, failed: "stale", message: "The range changed while its summary was written." };
}

/** Times that a commit is tried while windows are composed meanwhile. */
const mostTries = 3;

/** Commits a summary with what names the messages that it leaves out; false where its range is not as it was. */
async function committed(
  context: StrategyContext,
  { live, edits: before }: Due,
  edits: readonly Edit[],
  records: readonly NewRecord[],
): Promise<boolean> {
  const { view, counter } = context;
  for (let tries = 0; tries < mostTries; tries++) {
    const now = context.edits;
    if (now.some((edit) => isRange(edit) && !before.includes(edit) && isTorn(edit, edits))) return false;
    // An answer of reasoning alone shows nothing, so it needs no edit.
    const stands = [...view.steps, ...now.filter(isRange)];
    const shown = edits.filter(({ from, to }) => stands.some((one) => one.from <= to && one.to >= from));
    const left = leftBy(bareEdits(now), live);
    const rest = await remaining(left, shown, counter, (from, to) => context.read(from, to));
    if (await context.commit([...shown, ...rest], records)) return true;
    if (context.edits === now) return false;
  }
  return false;
}

/** Whether edits reach a part of a labelled message's range. */
function isTorn({ kind, from, to }: Edit, edits: readonly Edit[]): boolean {
  if (kind !== "replace") return false;
  const touching = edits.filter((edit) => edit.from <= to && edit.to >= from);
  return touching.length > 0 && !touching.some((edit) => edit.from <= from && to <= edit.to);
}

/** Tokens of one summary, and of all together. */
function capsOf(
  { blockTokens = 8_000, asking }: SummaryHookOptions,
  { budget, maxSummaryTokens }: StrategyContext,
): { readonly blockTokens: number; readonly maxTokens: number } {
  const block = Math.min(blockTokens, Math.floor(budget / 4));
  const given = asking?.maxTokens ?? maxSummaryTokens;
  const maxTokens =
    given === undefined
      ? Math.max(64, Math.min(2_000, Math.floor(block / 2)))
      : Math.max(1, Math.min(given, Math.floor(budget / 2)));
  return { blockTokens: Math.max(block, maxTokens), maxTokens };
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
  edits.push(...summaryEdits(summaryOf(outcome, merge.children), counter, { locale, ...message }));
  records.push(summaryRecord(outcome, { children: merge.children, timestamp }));
}
