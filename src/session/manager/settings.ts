/** The settings that a new session's metadata keeps: the names and the numbers that its windows are composed by. */
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { ModelFacts } from "../../tokens/models.ts";
import type { Profile } from "../../window/provider/profile.ts";
import type { Strategy } from "../../window/window.ts";

/** The parts of a manager that its windows are composed by. */
export interface ComposingParts {
  readonly strategy: Strategy;
  readonly profile: Profile;
  readonly counter: TokenCounter;
  readonly model: ModelFacts | undefined;
  readonly budget: number | undefined;
}

/** The settings as metadata.json has them (docs/format.md). */
export function settingsOf({ strategy, profile, counter, model, budget }: ComposingParts): JsonObject {
  const settings: Record<string, JsonValue> = {
    strategy: strategy.name,
    profile: profile.name,
    counter: counter.name,
  };
  if (strategy.options) settings.strategy_options = strategy.options;
  if (model) {
    settings.model = model.id;
    settings.context_length = model.contextWindow;
    settings.llm_provider = model.provider;
  }
  if (budget !== undefined && Number.isFinite(budget)) {
    settings.budget = budget;
    if (model) settings.compression_threshold = Math.round((1_000 * budget) / model.contextWindow) / 1_000;
  }
  return settings;
}
