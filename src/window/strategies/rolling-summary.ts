/** rolling-summary: beyond a number of turns, the earliest become part of one running summary. */
import { dropOldest } from "../passes/drop-oldest.ts";
import type { Locale } from "../../config/locale.ts";
import { extractNote, summaryHooks } from "../summary/strategy-hooks.ts";
import type { SummaryHookOptions } from "../summary/hook.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link rollingSummary}. */
export interface RollingSummaryOptions {
  /** Turns that stand verbatim before the earliest are summarised. Default 10. */
  readonly threshold?: number;
  /** How many of the earliest turns one summary takes in. Default 5. */
  readonly oldest?: number;
  /** The model's name in the preset's configuration, for the host that makes the session's summarizer. */
  readonly compressionModel?: string;
  /** Steps of at least this importance (0 to 1, `importanceOf`) stay verbatim. Default: none. */
  readonly keepImportance?: number;
  /** The language of the request. Default `en`. */
  readonly locale?: Locale;
  /** Whether a labelled message stands for what left without a summary. Default true; the preset leaves none. */
  readonly note?: boolean;
}

/**
 * After a step, beyond the threshold, the earliest turns are worked into one running summary; by the session's summarizer,
 * or of the messages' own sentences. Where no summary comes of it the history stands until the budget is reached, and then
 * the oldest steps leave; a summary leaves last.
 */
export function rollingSummary({
  threshold = 10,
  oldest = 5,
  keepImportance,
  locale = "en",
  note = true,
}: RollingSummaryOptions = {}): Strategy {
  const options: SummaryHookOptions = {
    turns: oldest,
    keepMessages: 0,
    mode: "cumulative",
    locale,
    ...(keepImportance !== undefined && { keepImportance }),
  };
  return {
    name: "rolling-summary",
    passes: [dropOldest({ keepNotes: true, note, reason: "no room, and no summary stands for it" })],
    trigger: { ratio: 1 },
    lowWater: 1,
    keepFirstUser: false,
    ...summaryHooks(options, { turns: threshold }),
    note: extractNote(`the earliest ${oldest} of more than ${threshold} turns`),
  };
}
