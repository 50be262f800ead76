/** adaptive: the default. Append-only between epochs; at an epoch, edits in one batch down to a low-water mark. */
import { dropOldest } from "../passes/drop-oldest.ts";
import { truncateToolResults } from "../passes/truncate-tool-results.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link adaptive}. */
export interface AdaptiveOptions {
  /** Share of the budget an epoch brings the window down to. Default 0.43. */
  readonly lowWater?: number;
  /** Share of that mark for the newest steps' whole results. Default 0.3. */
  readonly keepShare?: number;
  /** Most tokens an older result keeps. Default 160. */
  readonly resultTokens?: number;
  /** Share of the mark for naming what left. Default 0.15. */
  readonly indexShare?: number;
}

/**
 * Composes append-only until the budget is reached; then older results become excerpts with an id, the oldest steps
 * leave behind one labelled message that names them, and the window grows again from the low-water mark.
 */
export function adaptive(options: AdaptiveOptions = {}): Strategy {
  const { lowWater = 0.43, keepShare = 0.3, resultTokens = 160, indexShare = 0.15 } = options;
  return {
    name: "adaptive",
    passes: [truncateToolResults({ keepShare, maxTokens: resultTokens }), dropOldest({ indexShare })],
    trigger: { ratio: 1 },
    lowWater,
    keepFirstUser: true,
  };
}
