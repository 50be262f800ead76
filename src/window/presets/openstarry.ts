/**
 * Presets openstarry-sliding, openstarry-summary and openstarry-entity, with the literal numbers of docs/presets.md.
 */
import type { Locale } from "../../config/locale.ts";
import { entityState } from "../strategies/entity-state.ts";
import type { EntityStateOptions } from "../strategies/entity-state.ts";
import { rollingSummary } from "../strategies/rolling-summary.ts";
import type { RollingSummaryOptions } from "../strategies/rolling-summary.ts";
import { slidingWindow } from "../strategies/sliding-window.ts";
import type { Strategy } from "../window.ts";
import { presetWith } from "./preset.ts";
import type { Preset } from "./preset.ts";

/** Options of {@link openstarrySummary}. */
export type OpenstarrySummaryOptions = RollingSummaryOptions;
/** Options of {@link openstarryEntity}. */
export type OpenstarryEntityOptions = Omit<EntityStateOptions, "note">;

/** Strategy A, the preset's default: what system, tools and dynamic context leave goes to the newest messages. */
export function openstarrySliding(): Preset {
  return preset("openstarry-sliding", slidingWindow({ note: false }));
}

/** The recommended one of the three: beyond 10 turns a light model folds the earliest 5 into a running summary. */
export function openstarrySummary({ locale = "zh", ...options }: OpenstarrySummaryOptions = {}): Preset {
  return preset("openstarry-summary", rollingSummary({ ...options, locale }), locale);
}

/** Strategy C: no conversation, only the state that a schema describes. */
export function openstarryEntity(options: OpenstarryEntityOptions = {}): Preset {
  return preset("openstarry-entity", entityState({ ...options, note: false }));
}

function preset(name: string, strategy: Strategy, locale: Locale = "zh"): Preset {
  return presetWith(name, strategy, { counter: "estimate", locale });
}
