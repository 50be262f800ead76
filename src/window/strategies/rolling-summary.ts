/** rolling-summary: beyond a number of turns, the earliest become part of one running summary. */
import { summarisingStrategy } from "../summary/strategy.ts";
import type { SummarisingOptions } from "../summary/summary.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link rollingSummary}. */
export interface RollingSummaryOptions extends SummarisingOptions {
  /** Turns that stand verbatim before the earliest are summarised. Default 10. */
  readonly threshold?: number;
  /** How many of the earliest turns one summary takes in. Default 5. */
  readonly oldest?: number;
  /** The model's name in the preset's configuration, for the host that makes the session's summarizer. */
  readonly compressionModel?: string;
}

/**
 * After a step, beyond the threshold, the earliest turns are worked into one running summary; by the session's summarizer,
 * or of the messages' own sentences. Where no summary comes of it in time, the oldest steps leave at the budget under a
 * message that names them, and the next summary takes them in.
 */
export function rollingSummary({ threshold = 10, oldest = 5, ...options }: RollingSummaryOptions = {}): Strategy {
  const due = `the earliest ${oldest} of more than ${threshold} turns`;
  return summarisingStrategy("rolling-summary", due, {
    ...options,
    trigger: { turns: threshold },
    turns: oldest,
    keepMessages: 0,
  });
}
