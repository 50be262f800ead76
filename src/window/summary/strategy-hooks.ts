/** The hooks and the options of strategies that summarise. */
import type { Locale } from "../../config/locale.ts";
import { dropOldest } from "../passes/drop-oldest.ts";
import type { Strategy, StrategyHook, Trigger } from "../window.ts";
import type { SummaryHookOptions } from "./hook.ts";
import type { SummaryMessageOptions } from "./live.ts";
import type { ScoreOptions } from "./score.ts";

/** Options of every strategy and preset that summarises. */
export interface SummarisingOptions extends ScoreOptions {
  /** Most tokens of a summary, at most half of the budget. Default 2,000, and at most an eighth of the budget. */
  readonly maxSummaryTokens?: number;
  /** The role that carries a summary, and its first words. */
  readonly message?: SummaryMessageOptions;
  /** The task of the request, in place of the words that every language has for it: what a summary is to hold. */
  readonly prompt?: string;
  /** The language of the request and of the label. Default `en`. */
  readonly locale?: Locale;
}

/** The options of a strategy as those of its hooks. */
export function summarising({
  maxSummaryTokens,
  message,
  prompt,
  keepImportance,
  score,
  locale = "en",
}: SummarisingOptions): SummaryHookOptions {
  return {
    mode: "cumulative",
    locale,
    ...(message && { message }),
    ...(keepImportance !== undefined && { keepImportance }),
    ...(score !== undefined && { score }),
    asking: {
      ...(maxSummaryTokens !== undefined && { maxTokens: maxSummaryTokens }),
      ...(prompt !== undefined && { prompt }),
    },
  };
}

/**
 * The pass of strategies that summarise: the oldest steps leave where no summary was made in time, under a message that
 * names them, and the next summary takes them in. A summary stays.
 */
export const dropUntilSummarised = dropOldest({
  keepNotes: true,
  reason: "no room, and no summary stands for it",
});

/** The note of a strategy whose session has no summarizer. */
export function extractNote(due: string): string {
  return `There is no model to summarise: ${due} are summed up in their own sentences, after a step of a session; composeWindow alone makes no summary.`;
}

/** The hooks of a strategy that summarises. */
export type SummaryHooks = Required<Pick<Strategy, "beforeCompose" | "afterStep" | "compact">>;

/**
 * A summary after a step where one is due, before a window where one is due or the window would not fit, and by hand
 * whether it is or not.
 */
export function summaryHooks(options: SummaryHookOptions, trigger: Trigger): SummaryHooks {
  const { turns: _, ...byHand } = options;
  return {
    beforeCompose: hook({ ...options, trigger, whenFull: true }),
    afterStep: hook({ ...options, trigger }),
    compact: hook(byHand),
  };
}

function hook(options: SummaryHookOptions): StrategyHook {
  return async (context, signal) => {
    const { summariseStep } = await import("./hook.ts");
    await summariseStep(context, options, signal);
  };
}
