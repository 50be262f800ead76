/** Fit: a text shortened to at most so many tokens, by its two ends or by the lines that later calls look back for. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { excerpt } from "../digest/excerpt.ts";
import { endsOf, firstOf, lastOf } from "../stub/cut.ts";
import { cutIn, cutMark } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";

interface FitContext {
  readonly counter: TokenCounter;
  readonly mask: TextMask;
}

/** Keeps head and tail around a mark. */
export interface FitEnds extends FitContext {
  readonly keep: "ends";
  /** The id that recalls the whole. */
  readonly id: string;
}

/** Keeps the most useful lines as a quotation, with every gap marked. */
export interface FitWorth extends FitContext {
  readonly keep: "worth";
  /** Lines that stand elsewhere in the window (trimmed); not worth showing twice. */
  readonly seen?: ReadonlySet<string> | undefined;
}

/** Tokens that a mark takes; a text of no more is not worth a cut. */
export const markTokens = 24;

/** Least room for a head and a tail. */
const leastRoom = 8;

/**
 * A text in at most `maxTokens`. Of one that has no room, `ends` leaves the mark alone, and `worth` nothing.
 */
export function fit(text: string, maxTokens: number, options: FitEnds | FitWorth): string {
  if (options.keep === "worth") return excerpt(text, { ...options, maxTokens });
  const { id, counter, mask } = options;
  const tokens = counter.count(text);
  if (tokens <= Math.max(maxTokens, markTokens)) return text;
  const earlier = cutIn(text, id);
  const total = tokens + (earlier?.tokens ?? 0);
  let room = maxTokens - counter.count(cutMark(total, id)) - 2;
  for (let tries = 0; tries < 6 && room > leastRoom; tries++) {
    const half = Math.max(1, Math.floor(((text.length / tokens) * room) / 2));
    const { head, tail } = earlier
      ? { head: firstOf(earlier.head, half), tail: lastOf(earlier.tail, half) }
      : endsOf(text, half, mask);
    const left = counter.count(head) + counter.count(tail);
    const between = text.includes("\n") ? "\n" : " ";
    const shown = [head, cutMark(Math.max(1, total - left), id), tail].join(between);
    const excess = counter.count(shown) - maxTokens;
    if (excess <= 0) return shown;
    room -= excess + 1;
  }
  return cutMark(total, id);
}
