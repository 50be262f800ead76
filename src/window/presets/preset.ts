/** The contract of presets: a strategy with literal numbers, and the settings that belong to it (docs/presets.md). */
import type { StrategySettings } from "../settings.ts";
import type { Strategy } from "../window.ts";

/** A strategy with literal numbers; its settings stand here and, for those who are given the strategy alone, in it. */
export interface Preset extends StrategySettings {
  readonly name: string;
  readonly strategy: Strategy;
}

/** A preset of a strategy and its settings. */
export function presetWith(name: string, strategy: Omit<Strategy, "name">, settings: StrategySettings): Preset {
  return { name, strategy: { ...strategy, name, settings }, ...settings };
}
