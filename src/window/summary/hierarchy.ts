/** Summaries of summaries, which keep the block of summaries under its cap, however long the session. */
import type { Model } from "../../model/model.ts";
import { askInTurn } from "./ask.ts";
import { defaultMask } from "../stub/cut.ts";
import { chunkItems, cutToRoom } from "./chunks.ts";
import { extractText } from "./extractive.ts";
import { spanOf } from "./live.ts";
import type { LiveSummary } from "./live.ts";
import { summaryItems } from "./source.ts";
import { askingOf, roomOf } from "./summarise.ts";
import type { SummariserOptions } from "./summarise.ts";
import { ratioOf } from "./summary.ts";
import type { SummaryOutcome } from "./summary.ts";

/** Summaries that one summary is to take the place of. */
export interface Merge {
  /** The neighbouring summaries, oldest first. */
  readonly children: readonly LiveSummary[];
  /** Most tokens of the summary that takes their place. */
  readonly maxTokens: number;
}

/** Most summaries that one of the next level takes the place of. */
const fanIn = 4;

/**
 * The merge that brings all summaries together under `maxTokens`; undefined if they already are. It takes the oldest
 * neighbours of the lowest level that has two. If those are too small, it takes all summaries. The merged summary is at
 * most half as long as its children.
 */
export function planMerge(summaries: readonly LiveSummary[], maxTokens: number): Merge | undefined {
  const excess = tokensOf(summaries) - maxTokens;
  if (excess <= 0) return undefined;
  const runs = runsOfOneLevel(summaries).filter((run) => run.length > 1);
  const [lowest] = runs.toSorted((one, other) => (one[0]?.level ?? 0) - (other[0]?.level ?? 0));
  const few = (lowest ?? summaries).slice(0, fanIn);
  const children = tokensOf(few) / 2 >= excess ? few : summaries;
  const taken = tokensOf(children);
  return { children, maxTokens: Math.max(1, Math.min(Math.floor(taken / 2), taken - excess)) };
}

/**
 * One summary of several. With a model it is asked for and checked like any other; where that fails, and without a model,
 * it is the best sentences of the summaries: a merge always succeeds.
 */
export async function mergeSummaries(
  { children, maxTokens }: Merge,
  options: Omit<SummariserOptions, "model"> & { readonly model?: Model },
  signal?: AbortSignal,
): Promise<Extract<SummaryOutcome, { ok: true }>> {
  const { model, counter, mask = defaultMask } = options;
  const sourceTokens = tokensOf(children);
  const texts = children.map(({ text }) => text);
  const asking = model && askingOf({ ...options, model, maxTokens });
  const room = asking ? roomOf({ facts: [], paths: [] }, asking) : 0;
  const chunks = room > 0 ? chunkItems(summaryItems(children), room, counter, mask) : [];
  const asked =
    asking && (await askInTurn({ chunks, said: texts, facts: [], paths: [], sourceTokens }, asking, signal));
  const shared = { ...rangeOf(children), calls: asked?.calls ?? 0, usage: asked?.usage ?? [] };
  if (asked?.ok === true) {
    const { text, tokens, struck } = asked;
    return { ok: true, text, ...shared, ...sizes(tokens, shared.originalTokens), struck, by: "model" };
  }
  const whole = texts.join("\n");
  const text = extractText(whole, { maxTokens, counter }) || cutToRoom(whole, maxTokens, counter, mask);
  return { ok: true, text, ...shared, ...sizes(counter.count(text), shared.originalTokens), struck: [], by: "extract" };
}

function rangeOf(children: readonly LiveSummary[]): {
  readonly startSeq: number;
  readonly endSeq: number;
  readonly kept: readonly number[];
  readonly originalTokens: number;
} {
  const { from, to, kept } = spanOf(children);
  return {
    startSeq: from,
    endSeq: to,
    kept,
    originalTokens: children.reduce((sum, { originalTokens }) => sum + originalTokens, 0),
  };
}

function sizes(summaryTokens: number, originalTokens: number): { summaryTokens: number; compressionRatio: number } {
  return { summaryTokens, compressionRatio: ratioOf(summaryTokens, originalTokens) };
}

function runsOfOneLevel(summaries: readonly LiveSummary[]): readonly (readonly LiveSummary[])[] {
  const runs: LiveSummary[][] = [];
  for (const summary of summaries) {
    const run = runs.at(-1);
    if (run?.[0]?.level === summary.level) run.push(summary);
    else runs.push([summary]);
  }
  return runs;
}

function tokensOf(summaries: readonly { readonly tokens: number }[]): number {
  return summaries.reduce((sum, { tokens }) => sum + tokens, 0);
}
