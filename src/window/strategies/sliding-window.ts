/** sliding-window: pure first in, first out, whenever the next window would not fit (seed 002 strategy A, seed 004 §1). */
import { dropOldest } from "../passes/drop-oldest.ts";
import type { Strategy } from "../window.ts";

/**
 * What is left beside system, tools and dynamic context goes to the newest steps; earlier ones leave. It drops no more
 * than the next call needs, so once the budget is reached nearly every step opens an epoch and rewrites the provider's
 * cache: the seeds' rule, kept for comparison and for providers without a cache.
 */
export function slidingWindow(): Strategy {
  return {
    name: "sliding-window",
    passes: [dropOldest()],
    trigger: { ratio: 1 },
    lowWater: 1,
    keepFirstUser: false,
  };
}
