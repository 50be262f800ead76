/** sliding-window: pure first in, first out, whenever the next window would not fit (seed 002 strategy A, seed 004 §1). */
import { dropOldest } from "../passes/drop-oldest.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link slidingWindow}. */
export interface SlidingWindowOptions {
  /** Share of the budget an epoch brings the window down to. Default 1, as the seeds have it. */
  readonly lowWater?: number;
  /** Whether the first user message stays. Default false. */
  readonly keepFirstUser?: boolean;
  /** Whether a labelled message stands for what left. Default true; the seeds' presets leave none. */
  readonly note?: boolean;
}

/**
 * What is left beside system, tools and dynamic context goes to the newest steps; earlier ones leave. It drops no more
 * than the next call needs, so once the budget is reached nearly every step opens an epoch and rewrites the provider's
 * cache: the seeds' rule, kept for comparison and for providers without a cache.
 */
export function slidingWindow({
  lowWater = 1,
  keepFirstUser = false,
  note = true,
}: SlidingWindowOptions = {}): Strategy {
  return {
    name: "sliding-window",
    passes: [dropOldest({ note })],
    trigger: { ratio: 1 },
    lowWater,
    keepFirstUser,
  };
}
