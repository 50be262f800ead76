/** Strategies: which passes make windows, when they run, and how far down they go. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { adaptive } from "./strategies/adaptive.ts";
import { none } from "./strategies/none.ts";
import { slidingWindow } from "./strategies/sliding-window.ts";
import type { Strategy } from "./window.ts";

const strategies: Readonly<Record<string, () => Strategy>> = {
  "none": () => none(),
  "adaptive": () => adaptive(),
  "sliding-window": () => slidingWindow(),
};

/** The names `strategy` accepts. */
export const strategyNames: readonly string[] = Object.keys(strategies);

/**
 * A strategy by name.
 *
 * @throws WindrowError `unknown-strategy`, with the nearest name
 */
export function strategyOf(strategy: string | Strategy): Strategy {
  if (typeof strategy !== "string") return strategy;
  const make = Object.hasOwn(strategies, strategy) ? strategies[strategy] : undefined;
  if (make) return make();
  throw new WindrowError("unknown-strategy", `There is no strategy "${strategy}".${nearest(strategy, strategyNames)}`, {
    strategy,
    known: strategyNames,
  });
}
