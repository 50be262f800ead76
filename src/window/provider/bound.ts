/** Reasoning that is bound to its prefix: it leaves where an edit changes that prefix. */
import type { NumberedMessage } from "../../message/step.ts";
import { isBound } from "./signed.ts";

/** A stretch of the log, by `seq`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches with signed reasoning: all there is, or around the unsigned that stays.
 *
 * @param thinking - the messages with reasoning
 * @param dropped - the stretches whose reasoning leaves anyway
 */
export function boundRanges(
  thinking: readonly NumberedMessage[],
  whole: Range,
  dropped: readonly Range[],
): readonly Range[] {
  const ranges: { from: number; to: number }[] = [];
  let isNew = true;
  let anyStays = false;
  for (const { seq, message } of thinking) {
    const own = { from: seq, to: seq };
    if (message.parts.some(isBound)) {
      const newest = ranges.at(-1);
      if (isNew || !newest) ranges.push(own);
      else newest.to = seq;
      isNew = false;
    } else if (!dropped.some((one) => isWithin(own, one))) isNew = anyStays = true;
  }
  return ranges.length > 0 && !anyStays ? [whole] : ranges;
}

/** Whether a stretch lies in another. */
export function isWithin(inner: Range, outer: Range): boolean {
  return outer.from <= inner.from && inner.to <= outer.to;
}
