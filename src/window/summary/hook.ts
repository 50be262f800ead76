/** One summary from beginning to end: due, written by the summarizer or extracted, and committed or given up. */
import { sumTokens } from "../../tokens/counter.ts";
import { isRange } from "../edits.ts";
import type { StrategyContext } from "../window.ts";
import { dueNow } from "./due.ts";
import { extractedSummary } from "./extract.ts";
import { summaryEdits, summaryOf, summaryRecord } from "./standing.ts";
import { noSummary } from "./summary.ts";
import type { SummaryHookOptions, SummaryOutcome, SummaryTask, WrittenSummary } from "./summary.ts";
import { writeSummary } from "./write.ts";

/**
 * Summarises the messages that are due and commits the summary, or records why it could not. The session's summarizer
 * writes it; without one it consists of the messages' own sentences. It takes the place of the summary that stands, whose
 * text is worked into it. If the range changed meanwhile, nothing is committed.
 *
 * @returns what came of it; undefined where nothing was due
 */
export async function summariseStep(
  context: StrategyContext,
  options: SummaryHookOptions = {},
  signal?: AbortSignal,
): Promise<SummaryOutcome | undefined> {
  const { counter, summarizer } = context;
  const maxTokens = capOf(options, context);
  const due = await dueNow(context, options, maxTokens);
  if (!due) return undefined;
  const { seqs, live } = due;
  const [from = 0, to = 0] = [seqs[0], seqs.at(-1)];
  const isDue = new Set(seqs);
  const messages = (await context.read(from, to)).filter(({ seq }) => isDue.has(seq));
  const task: SummaryTask = { messages, originalTokens: sumTokens(counter, messages), live, maxTokens };
  const written = summarizer
    ? await writeSummary(task, context, summarizer, options, signal)
    : extractedSummary(task, counter);
  const outcome = written.ok ? await commit(context, written, task, options, signal) : written;
  if (!outcome.ok && outcome.failed !== "aborted" && outcome.failed !== "stale") {
    const { failed, calls, message } = outcome;
    await context.fail(failed, { start_seq: from, end_seq: to, calls, problem: message });
  }
  return outcome;
}

/** Most tokens of a summary. */
function capOf(
  { maxSummaryTokens }: SummaryHookOptions,
  { budget, maxSummaryTokens: general }: StrategyContext,
): number {
  const given = maxSummaryTokens ?? general;
  if (given === undefined) return Math.max(64, Math.min(2_000, Math.floor(budget / 8)));
  return Math.max(1, Math.min(given, Math.floor(budget / 2)));
}

/** Commits a summary, unless it is no smaller than what it stands for, or that does not stand as it did. */
async function commit(
  context: StrategyContext,
  written: WrittenSummary,
  task: SummaryTask,
  options: SummaryHookOptions,
  signal: AbortSignal | undefined,
): Promise<SummaryOutcome> {
  const { calls } = written;
  if (signal?.aborted) return noSummary("aborted", "The summary was aborted before it was committed.", calls);
  const edits = summaryEdits(summaryOf(written, task), context.counter, options);
  const after = edits.reduce((sum, { tokensAfter }) => sum + tokensAfter, 0);
  const before = task.live.reduce((sum, { tokens }) => sum + tokens, task.originalTokens);
  if (after >= before) {
    const problem = `The summary has ${after} tokens with its label, what it stands for ${before}.`;
    return noSummary("not-shorter", problem, calls);
  }
  // An answer of reasoning alone shows nothing, so it needs no edit.
  const stands = [...context.view.steps, ...context.edits.filter(isRange)];
  const shown = edits.filter((edit) => stands.some(({ from, to }) => edit.from <= to && edit.to >= from));
  const record = summaryRecord(written, task, context.timestamp);
  if (await context.commit(shown, [record])) return written;
  return noSummary("stale", "The range changed while its summary was written.", calls);
}
