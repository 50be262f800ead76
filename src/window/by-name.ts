/** Strategies and presets by name: which passes make windows, when they run, and how far down they go. */
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { checkOptions, named } from "./options.ts";
import type { Named } from "./options.ts";
import { isPreset, presetNames, presetOf } from "./presets.ts";
import { adaptive } from "./strategies/adaptive.ts";
import type { AdaptiveOptions } from "./strategies/adaptive.ts";
import { entityState } from "./strategies/entity-state.ts";
import type { EntityStateOptions } from "./strategies/entity-state.ts";
import { importance } from "./strategies/importance.ts";
import type { ImportanceOptions } from "./strategies/importance.ts";
import { layered } from "./strategies/layered.ts";
import type { LayeredOptions } from "./strategies/layered.ts";
import { none } from "./strategies/none.ts";
import { rollingSummary } from "./strategies/rolling-summary.ts";
import type { RollingSummaryOptions } from "./strategies/rolling-summary.ts";
import { slidingWindow } from "./strategies/sliding-window.ts";
import type { SlidingWindowOptions } from "./strategies/sliding-window.ts";
import { summaryAtThreshold } from "./strategies/summary-at-threshold.ts";
import type { SummaryAtThresholdOptions } from "./strategies/summary-at-threshold.ts";
import type { Strategy } from "./window.ts";

/** A strategy or preset by name, with options of its own; `{ use: "rolling-summary", threshold: 20 }`. */
export interface StrategyChoice {
  readonly use: string;
  readonly [option: string]: unknown;
}

const strategies: Readonly<Record<string, Named<Strategy>>> = {
  "none": named<object, Strategy>(none, {}),
  "adaptive": named<AdaptiveOptions, Strategy>(adaptive, { lowWater: true, tailShare: true, indexShare: true }),
  "sliding-window": named<SlidingWindowOptions, Strategy>(slidingWindow, {
    lowWater: true,
    keepFirstUser: true,
    note: true,
  }),
  "rolling-summary": named<RollingSummaryOptions, Strategy>(rollingSummary, {
    threshold: true,
    oldest: true,
    compressionModel: true,
    locale: true,
    keepImportance: true,
    note: true,
  }),
  "summary-at-threshold": named<SummaryAtThresholdOptions, Strategy>(summaryAtThreshold, {
    ratio: true,
    minMessages: true,
    keepRecent: true,
    mode: true,
    locale: true,
    keepImportance: true,
    note: true,
  }),
  "entity-state": named<EntityStateOptions, Strategy>(entityState, {
    schema: true,
    extract: true,
    role: true,
    note: true,
  }),
  "importance": named<ImportanceOptions, Strategy>(importance, {
    messages: true,
    keepRecentRatio: true,
    weights: true,
    ties: true,
    lowWater: true,
  }),
  "layered": named<LayeredOptions, Strategy>(layered, {
    keepRecentToolResults: true,
    keepRecentThinking: true,
    keepRecentMessages: true,
    headLines: true,
    tailLines: true,
    lowWater: true,
  }),
};

/** The names `strategy` accepts: strategies, then presets. */
export const strategyNames: readonly string[] = [...Object.keys(strategies), ...presetNames];

/**
 * A strategy by name, or by name with options; a Strategy is handed back as it is. A preset's name gives its strategy;
 * `presetOf` gives the rest of it.
 *
 * @throws WindrowError `unknown-strategy` with the nearest name, `bad-option` for an option it does not have
 */
export function strategyOf(strategy: string | Strategy | StrategyChoice): Strategy {
  if (typeof strategy === "object" && !isChoice(strategy)) return strategy;
  const { use, ...options } = typeof strategy === "string" ? { use: strategy } : strategy;
  if (isPreset(use)) return presetOf(use, options).strategy;
  const found = Object.hasOwn(strategies, use) ? strategies[use] : undefined;
  if (!found) {
    throw new WindrowError("unknown-strategy", `There is no strategy "${use}".${nearest(use, strategyNames)}`, {
      strategy: use,
      known: strategyNames,
    });
  }
  checkOptions(`Strategy ${use}`, options, found.options);
  return found.make(options);
}

function isChoice(strategy: Strategy | StrategyChoice): strategy is StrategyChoice {
  return "use" in strategy;
}
