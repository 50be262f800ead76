/**
 * Presets openstarry-sliding, openstarry-summary and openstarry-entity, with the literal numbers of docs/presets.md.
 */
import type { Locale } from "../../config/locale.ts";
import { entityState } from "../strategies/entity-state.ts";
import type { EntityStateOptions } from "../strategies/entity-state.ts";
import { rollingSummary } from "../strategies/rolling-summary.ts";
import type { RollingSummaryOptions } from "../strategies/rolling-summary.ts";
import { slidingWindow } from "../strategies/sliding-window.ts";
import type { StrategySettings } from "../window.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link openstarrySummary}. */
export type OpenstarrySummaryOptions = RollingSummaryOptions;
/** Options of {@link openstarryEntity}. */
export type OpenstarryEntityOptions = Omit<EntityStateOptions, "note">;

/** Strategy A, the preset's default: what system, tools and dynamic context leave goes to the newest messages. */
export function openstarrySliding(): Strategy {
  return { ...slidingWindow({ note: false }), name: "openstarry-sliding", settings: settings() };
}

/** The recommended one of the three: beyond 10 turns a light model folds the earliest 5 into a running summary. */
export function openstarrySummary({ locale = "zh", ...options }: OpenstarrySummaryOptions = {}): Strategy {
  return { ...rollingSummary({ ...options, locale }), name: "openstarry-summary", settings: settings(locale) };
}

/** Strategy C: no conversation, only the state that a schema describes. */
export function openstarryEntity(options: OpenstarryEntityOptions = {}): Strategy {
  return { ...entityState({ ...options, note: false }), name: "openstarry-entity", settings: settings() };
}

function settings(locale: Locale = "zh"): StrategySettings {
  return { counter: "estimate", locale };
}
