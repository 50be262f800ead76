/** What lines are worth beside each other: how recent they are, and how much calls have to do with their file. */
import type { View } from "../window.ts";
import type { Reader } from "./reading.ts";

/**
 * How recent messages are, 1 for the newest. Inside of what left before, the tokens count as if all messages were as long.
 *
 * @param memory - tokens of history after which it is a third
 */
export function recencyOf(view: View, memory: number): (seq: number) => number {
  const spans: { readonly from: number; readonly to: number; readonly after: number; readonly tokens: number }[] = [];
  let after = 0;
  for (const step of view.steps.toReversed()) {
    spans.push({ from: step.from, to: step.to, after, tokens: step.logTokens });
    after += step.logTokens;
  }
  const known = new Map<number, number>();
  const compute = (seq: number): number => {
    const span = spans.find(({ from }) => from <= seq) ?? spans.at(-1);
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

/**
 * By file: how many calls had to do with it, each counting less the older it is. An earlier digest knows of those that
 * left; it fades as they do.
 */
export function heatsOf(view: View, reader: Reader, recency: (seq: number) => number): ReadonlyMap<string, number> {
  const heats = new Map<string, number>();
  let seen = 0;
  for (const { edit } of view.steps) {
    if (!edit?.digest) continue;
    seen = Math.max(seen, edit.digest.seen);
    const faded = recency(edit.digest.seen) ** 2;
    for (const [path, heat] of Object.entries(edit.digest.heats))
      heats.set(path, (heats.get(path) ?? 0) + heat * faded);
  }
  for (const { path, seq } of reader.named) {
    if (seq > seen) heats.set(path, (heats.get(path) ?? 0) + recency(seq) ** 2);
  }
  return heats;
}
