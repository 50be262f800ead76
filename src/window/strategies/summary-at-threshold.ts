/**
 * summary-at-threshold: over a share of the contextWindow, all but the newest messages become one summary. The window
 * is system, summary, and the newest messages that fit.
 */
import { summarisingStrategy } from "../summary/strategy.ts";
import type { SummarisingOptions } from "../summary/summary.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link summaryAtThreshold}. */
export interface SummaryAtThresholdOptions extends SummarisingOptions {
  /**
   * Share of the budget at which a summary is due. Default 0.95: it is looked at after a step, before its results come in,
   * and before a window where the host calls `session.prepare()`.
   */
  readonly ratio?: number;
  /** Fewest messages without a summary. Default 10. */
  readonly minMessages?: number;
  /** Newest messages that no summary takes in. Default 5. */
  readonly keepRecent?: number;
  /** Whether both conditions must hold (`all`, default), or one is enough (`any`). */
  readonly mode?: "any" | "all";
}

/**
 * The window is filled by priority: system block, the latest summary, then messages from the newest back to the first
 * that does not fit. Without a model, the summary is made of the messages' own sentences.
 */
export function summaryAtThreshold({
  ratio = 0.95,
  minMessages = 10,
  keepRecent = 5,
  mode = "all",
  ...options
}: SummaryAtThresholdOptions = {}): Strategy {
  const both = mode === "all" ? "and" : "or";
  const due = `over ${Math.round(ratio * 100)} % of the budget ${both} ${minMessages} messages, all but the newest ${keepRecent} messages`;
  return summarisingStrategy("summary-at-threshold", due, {
    ...options,
    trigger: { messages: minMessages - 1, ratio, mode },
    keepMessages: keepRecent,
  });
}
