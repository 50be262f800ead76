/** Stretches of the log that steps of a view cover. */
import type { View, ViewStep } from "./window.ts";

/** The stretches of the log that dropped steps cover, parted only by messages that stay. */
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
  const kept: number[] = [];
  for (const step of view.steps) {
    if (!dropped.has(step)) for (const { seq } of step.messages) if (seq >= from && seq <= to) kept.push(seq);
  }
  kept.sort((left, right) => left - right);
  const runs: { readonly from: number; readonly to: number }[] = [];
  let start = from;
  for (const seq of [...kept, to + 1]) {
    if (seq > start) runs.push({ from: start, to: seq - 1 });
    start = Math.max(start, seq + 1);
  }
  return runs;
}
