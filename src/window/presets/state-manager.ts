/** Preset state-manager (docs/presets.md). */
import type { Locale } from "../../config/locale.ts";
import { dropUntilSummarised, summarising, summaryHooks } from "../summary/strategy-hooks.ts";
import type { SummarisingOptions } from "../summary/strategy-hooks.ts";
import type { Strategy, StrategyHook } from "../window.ts";

/** Options of {@link stateManager}. */
export interface StateManagerOptions extends SummarisingOptions {
  /** Share of the budget over which a summary is due. Default 0.8. */
  readonly ratio?: number;
  /** Newest turns that no summary takes in. Default 1. */
  readonly keepTurns?: number;
}

/** The first words of a summary, by language; the Japanese ones are the preset's own. */
const prefixes: Readonly<Record<Locale, string>> = {
  ja: "前文の要約：",
  en: "Summary of what went before: ",
  zh: "前文摘要：",
};

/**
 * Over the limit, messages leave from the head, a call never without its result; the system prompt stays. With the
 * session's summarizer, whole turns become a summary before: a system message that begins `前文の要約：`, or so in the language of `locale`.
 */
export function stateManager({
  ratio = 0.8,
  keepTurns = 1,
  locale = "ja",
  ...options
}: StateManagerOptions = {}): Strategy {
  const message = { role: "system", prefix: prefixes[locale], ...options.message } as const;
  const { beforeCompose, afterStep, compact } = summaryHooks(
    { ...summarising({ ...options, locale, message }), keepMessages: 0, keepTurns },
    { ratio },
  );
  return {
    name: "state-manager",
    passes: [dropUntilSummarised],
    trigger: { ratio: 1 },
    lowWater: 1,
    keepFirstUser: false,
    beforeCompose: withModel(beforeCompose),
    afterStep: withModel(afterStep),
    compact,
    note: `There is no model to summarise: over the budget the oldest steps leave; with one, turns do over ${Math.round(ratio * 100)} %.`,
    settings: { counter: "estimate", locale },
  };
}

/** A hook that does nothing without a summarizer. */
function withModel(hook: StrategyHook): StrategyHook {
  return async (context, signal) => {
    if (context.summarizer) await hook(context, signal);
  };
}
