/** The token counters by name. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { chars4Ceil, chars4Floor } from "./chars4.ts";
import type { TokenCounter } from "./counter.ts";
import { estimate } from "./estimate.ts";

const counters: ReadonlyMap<string, TokenCounter> = new Map(
  [estimate, chars4Ceil, chars4Floor].map((counter) => [counter.name, counter]),
);

/** The names {@link counterOf} accepts. */
export const counterNames: readonly string[] = [...counters.keys()];

/**
 * A counter by name; a counter of one's own is handed back as it is.
 *
 * @param counter - a name (default `estimate`) or a {@link TokenCounter}
 * @throws WindrowError `unknown-counter`, with the nearest name
 */
export function counterOf(counter: string | TokenCounter = "estimate"): TokenCounter {
  if (typeof counter !== "string") return counter;
  const found = counters.get(counter);
  if (found) return found;
  throw new WindrowError(
    "unknown-counter",
    `There is no token counter "${counter}".${nearest(counter, counterNames)}`,
    {
      counter,
      known: counterNames,
    },
  );
}
