/** Fates of messages: their letters and words, and the one of a message by its number. */
import type { EpochRow, FateRun, ViewerFate } from "../../src/viewer/viewer.ts";

/** The fates from most to least of a message that is left in the window. */
export const fateOrder: readonly ViewerFate[] = ["whole", "cut", "quoted", "named", "gone", "later"];

/** The meaning of each fate in one sentence. */
export const fateMeanings: Readonly<Record<ViewerFate, string>> = {
  whole: "in the window as it is in the log, its reasoning aside",
  cut: "in the window, shortened to an excerpt",
  quoted: "left, but lines of it stand in a digest or summary",
  named: "left, and a line names it so that it can be recalled",
  gone: "left, and nothing in the window names it",
  later: "came after this call",
};

/** The letter that stands for a fate beside its colour. */
export function fateLetter(fate: ViewerFate): string {
  return fate.charAt(0).toUpperCase();
}

/** The run that holds a message; undefined where none does. */
export function runAt(runs: readonly FateRun[], seq: number): FateRun | undefined {
  let low = 0;
  let high = runs.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const run = runs[middle]!;
    if (seq < run.from) high = middle - 1;
    else if (seq > run.to) low = middle + 1;
    else return run;
  }
  return undefined;
}

/** The fate of a message at a call whose newest message is `lastSeq`. */
export function fateAt(runs: readonly FateRun[], seq: number, lastSeq: number): ViewerFate {
  if (seq > lastSeq) return "later";
  return runAt(runs, seq)?.fate ?? "whole";
}

/** The number of messages of each fate, up to the newest one. */
export function fateCounts(
  runs: readonly FateRun[],
  lastSeq: number,
  messages: number,
): Readonly<Record<ViewerFate, number>> {
  const counts = { whole: 0, cut: 0, quoted: 0, named: 0, gone: 0, later: Math.max(0, messages - lastSeq) };
  let known = 0;
  for (const { from, to, fate } of runs) {
    if (from > lastSeq) break;
    const length = Math.min(to, lastSeq) - from + 1;
    counts[fate] += length;
    known += length;
  }
  counts.whole += Math.max(0, lastSeq - known);
  return counts;
}

/** The epoch that took a message out of the window that it is not whole in now; undefined where it is, or none is known. */
export function lossOf(epochs: readonly EpochRow[], seq: number, epochNow: number): EpochRow | undefined {
  let loss: EpochRow | undefined;
  for (const row of epochs) {
    if (row.epoch > epochNow) break;
    if (seq > row.opened || fateAt(row.fates, seq, row.opened) === "whole") loss = undefined;
    else loss ??= row;
  }
  return loss;
}
