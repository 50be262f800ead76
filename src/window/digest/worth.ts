/** The worth of lines beside each other: how recent they are, and how much calls use their file. */
import type { View } from "../window.ts";
import type { Reader } from "./reading.ts";

/** Tokens of history after which a line is worth a third of what it was. */
const memory = 80_000;

/**
 * How recent messages are, 1 for the newest. Inside of what left before, the tokens count as if all messages were as long.
 */
export function recencyOf(view: View): (seq: number) => number {
  const spans: { readonly from: number; readonly to: number; readonly after: number; readonly tokens: number }[] = [];
  let after = 0;
  for (const step of view.steps.toReversed()) {
    spans.push({ from: step.from, to: step.to, after, tokens: step.logTokens });
    after += step.logTokens;
  }
  // The first span that begins at or before a message is found by halves: least beginnings only fall.
  const least: number[] = [];
  for (const { from } of spans) least.push(Math.min(from, least.at(-1) ?? Infinity));
  const known = new Map<number, number>();
  const compute = (seq: number): number => {
    let low = 0;
    let high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((least[middle] ?? 0) <= seq) high = middle;
      else low = middle + 1;
    }
    const span = spans[low] ?? spans.at(-1);
    if (!span) return 1;
    const share = Math.min(1, Math.max(0, (span.to - seq) / (span.to - span.from + 1)));
    return Math.exp(-(span.after + share * span.tokens) / memory);
  };
  return (seq) => {
    let recency = known.get(seq);
    if (recency === undefined) known.set(seq, (recency = compute(seq)));
    return recency;
  };
}

/** By file: how many calls had to do with it, each counting less the older it is. */
export function heatsOf(reader: Reader, recency: (seq: number) => number): ReadonlyMap<string, number> {
  const heats = new Map<string, number>();
  for (const { path, seq } of reader.named) heats.set(path, (heats.get(path) ?? 0) + recency(seq) ** 2);
  return heats;
}
