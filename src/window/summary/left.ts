/** Left messages: those that left the window with no summary for them, which the next summary takes in. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { sumTokens } from "../../tokens/counter.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { isRange, summaryPass } from "../edits.ts";
import { noteText } from "../stub/stub.ts";
import type { Edit, View } from "../window.ts";
import { toldBy } from "./live.ts";
import type { LiveSummary } from "./live.ts";

/** The messages that left a window without a summary. */
export interface Left {
  /** By `seq`, rising. */
  readonly seqs: readonly number[];
  /** Their tokens, as the log has them. */
  readonly tokens: number;
  /** The edits that took them out. */
  readonly edits: readonly Edit[];
}

/** The pass whose labelled message only names what left. */
const dropPass = "drop-oldest";

/** The edits that took messages out of the window and say nothing of what they held. */
export function bareEdits(edits: readonly Edit[]): readonly Edit[] {
  const ranges = edits.filter(isRange);
  const telling = new Set(ranges.filter(({ kind }) => kind === "replace").map(({ pass }) => pass));
  return ranges.filter(({ pass }) => pass === dropPass || (pass !== summaryPass && !telling.has(pass)));
}

/** The messages that some edits took out and no live summary tells. */
export function leftBy(edits: readonly Edit[], live: readonly LiveSummary[]): Left {
  const told = new Set(live.flatMap(toldBy));
  const seqs: number[] = [];
  for (const { from, to } of edits) for (let seq = from; seq <= to; seq++) if (!told.has(seq)) seqs.push(seq);
  seqs.sort((one, other) => one - other);
  return { seqs, tokens: edits.reduce((sum, { tokensBefore }) => sum + tokensBefore, 0), edits };
}

/**
 * The edits for what is left when a summary takes in a part: what it does not reach is named anew, and what an earlier
 * summary tells stays out.
 *
 * @param summary - the edits of the new summary
 * @param read - reads messages of the log
 */
export async function remaining(
  left: Left,
  summary: readonly Edit[],
  counter: TokenCounter,
  read: (from: number, to: number) => Promise<readonly NumberedMessage[]>,
): Promise<readonly Edit[]> {
  const within = (seq: number): boolean => summary.some(({ from, to }) => from <= seq && seq <= to);
  const touched = left.edits.some(({ from, to }) => summary.some((edit) => edit.from <= to && edit.to >= from));
  if (!touched) return [];
  const runs = left.edits.flatMap(({ from, to }) => runsBetween(from, to, within));
  const named = left.edits.some(({ kind }) => kind === "replace");
  const untold = left.seqs.filter((seq) => !within(seq));
  const shared = { pass: dropPass, reason: "the oldest steps left, and no summary reached them" };
  const drops = runs.map((run): Edit => ({ kind: "drop", ...run, ...shared, tokensBefore: 0, tokensAfter: 0 }));
  const [first, last] = [untold[0], untold.at(-1)];
  const place = drops.findIndex(({ from, to }) => first !== undefined && from <= first && first <= to);
  const holder = drops[place];
  if (first === undefined || last === undefined || !holder) return drops;
  const out = new Set(untold);
  let tokensBefore = 0;
  for await (const stretch of stretches(first, last, read))
    tokensBefore += sumTokens(
      counter,
      stretch.filter(({ seq }) => out.has(seq)),
    );
  const text = noteText({ from: first, to: last, count: untold.length, tokens: tokensBefore });
  const note: Edit = named
    ? { ...holder, kind: "replace", text, tokensBefore, tokensAfter: counter.count(text) + 4 }
    : { ...holder, tokensBefore };
  return drops.with(place, note);
}

/** Messages that are read at once where all that left may be many. */
const longestStretch = 256;

/** The messages of a range, a stretch at a time: they may be most of the log, with its images. */
export async function* stretches(
  from: number,
  to: number,
  read: (from: number, to: number) => Promise<readonly NumberedMessage[]>,
): AsyncGenerator<readonly NumberedMessage[]> {
  for (let first = from; first <= to; first += longestStretch)
    yield await read(first, Math.min(to, first + longestStretch - 1));
}

/** The stretches of a range that another one does not reach. */
function runsBetween(
  from: number,
  to: number,
  within: (seq: number) => boolean,
): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let seq = from; seq <= to; seq++) {
    if (within(seq)) continue;
    const run = runs.at(-1);
    if (run?.to === seq - 1) run.to = seq;
    else runs.push({ from: seq, to: seq });
  }
  return runs;
}

/**
 * The last message, by `seq`, that has to leave so that the unprotected steps before it free some tokens; 0 where none has
 * to, the last unprotected one where all do not suffice.
 */
export function lastToGo({ steps }: View, excess: number): number {
  let freed = 0;
  let last = 0;
  for (const step of steps) {
    if (freed >= excess) break;
    if (step.protected || step.kind === "note" || step.kind === "insert") continue;
    freed += step.tokens;
    last = Math.max(last, step.to);
  }
  return last;
}
