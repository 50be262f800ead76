/** adaptive: the default strategy. Windows are append-only between epochs; an epoch turns older steps into a digest. */
import { digest } from "../passes/digest.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link adaptive}. */
export interface AdaptiveOptions {
  /**
   * Share of the budget an epoch brings the window down to. Default: 0.5 or more, by how many calls the budget holds.
   */
  readonly lowWater?: number;
  /** Share of that mark for the newest steps, whole. Default 0.15. */
  readonly tailShare?: number;
}

/**
 * Composes append-only until the budget is reached; then everything but the task and the newest steps becomes one labelled
 * message, the digest: what was done, with ids for recall, and the lines of it that are worth most. From there the window
 * grows again.
 */
export function adaptive({ lowWater, ...options }: AdaptiveOptions = {}): Strategy {
  return {
    name: "adaptive",
    passes: [digest({ ...options, elastic: lowWater === undefined })],
    trigger: { ratio: 1 },
    lowWater: lowWater ?? 0.5,
    keepFirstUser: true,
    keepTask: true,
  };
}
