/** Runs: the ranges of the log that steps of a view cover. */
import type { View, ViewStep } from "../window.ts";

/** The ranges of the log that dropped steps cover, parted only by messages that stay. */
export function runsOf(
  view: View,
  dropped: ReadonlySet<ViewStep>,
): readonly { readonly from: number; readonly to: number }[] {
  let from = Infinity;
  let to = 0;
  for (const step of dropped) {
    from = Math.min(from, step.from);
    to = Math.max(to, step.to);
  }
  const kept: { readonly from: number; readonly to: number }[] = [];
  for (const step of view.steps) {
    if (dropped.has(step)) continue;
    // A labelled message covers all of its range, a step only its own messages.
    if (step.kind === "note") kept.push(step);
    else for (const { seq } of step.messages) kept.push({ from: seq, to: seq });
  }
  const within = kept.filter((one) => one.to >= from && one.from <= to).sort((left, right) => left.from - right.from);
  const runs: { readonly from: number; readonly to: number }[] = [];
  let start = from;
  for (const one of [...within, { from: to + 1, to: to + 1 }]) {
    if (one.from > start) runs.push({ from: start, to: one.from - 1 });
    start = Math.max(start, one.to + 1);
  }
  return runs;
}
