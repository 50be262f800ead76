/** Stretches of the log that steps of a view cover. */
import type { View, ViewStep } from "./window.ts";

/** The stretches of the log that dropped steps cover, parted only by messages that stay. */
export function runsOf(
  view: View,
  dropped: ReadonlySet<ViewStep>,
): readonly { readonly from: number; readonly to: number }[] {
  const kept = new Set<number>();
  for (const step of view.steps) {
    if (!dropped.has(step)) for (const { seq } of step.messages) kept.add(seq);
  }
  let from = Infinity;
  let to = 0;
  for (const step of dropped) {
    from = Math.min(from, step.from);
    to = Math.max(to, step.to);
  }
  const runs: { from: number; to: number }[] = [];
  let start: number | undefined;
  for (let seq = from; seq <= to + 1; seq++) {
    if (seq <= to && !kept.has(seq)) start ??= seq;
    else if (start !== undefined) {
      runs.push({ from: start, to: seq - 1 });
      start = undefined;
    }
  }
  return runs;
}
