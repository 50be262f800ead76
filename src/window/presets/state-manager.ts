/** Preset state-manager (docs/presets.md). */
import type { Locale } from "../../config/locale.ts";
import { summarisingStrategy } from "../summary/strategy.ts";
import type { SummarisingOptions, SummaryMessageOptions } from "../summary/summary.ts";
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
  const message: SummaryMessageOptions = { role: "system", prefix: prefixes[locale], ...options.message };
  const hooks = { ...options, locale, message, trigger: { ratio }, keepMessages: 0, keepTurns };
  const strategy = summarisingStrategy("state-manager", "", hooks);
  return {
    ...strategy,
    beforeCompose: withModel(strategy.beforeCompose),
    afterStep: withModel(strategy.afterStep),
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
