/** sliding-window: the oldest steps leave whenever the next window would not fit. */
import { dropOldest } from "../passes/drop-oldest.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link slidingWindow}. */
export interface SlidingWindowOptions {
  /** Share of the budget an epoch brings the window down to. Default 1. */
  readonly lowWater?: number;
  /** Whether the first user message stays. Default false. */
  readonly keepFirstUser?: boolean;
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/**
 * The newest steps get the room beside system, tools and dynamic text; earlier ones leave. No more leaves than the next
 * call needs, so at the budget nearly every step opens an epoch and rewrites the provider's cache. For comparison, and
 * for providers without a cache.
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
