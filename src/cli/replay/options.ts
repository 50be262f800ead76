/** The options of `windrow replay`, checked before any work is done. */
import { WindrowError } from "../../errors.ts";
import type { InputPrices } from "../../replay/cost-metric.ts";
import { readLimits } from "../read-limits.ts";
import type { ReadLimits } from "../../transcript/limits.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { loadCounter } from "../../tokens/exact.ts";
import { modelOf } from "../../tokens/models.ts";
import { budgetOf } from "../../window/budget.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { strategyNames, strategyOf } from "../../window/by-name.ts";
import { tokensOf } from "../values.ts";

/** The options as they stand on the command line. */
export interface ReplayFlags {
  readonly strategy?: string;
  readonly budget?: string;
  readonly profile?: string;
  readonly model?: string;
  readonly far?: string;
  readonly counter?: string;
  readonly keep?: string;
  readonly json?: boolean;
  readonly maxBytes?: string;
  readonly maxEntries?: string;
}

/** The options of a replay, parsed and checked. */
export interface ReplaySettings {
  readonly strategies: readonly string[];
  readonly counter: TokenCounter;
  readonly farDistance?: number;
  readonly limits?: ReadLimits;
  /** Folder of the file store that sessions are written to. */
  readonly keep?: string;
  readonly json: boolean;
  /** The budgets for a session that was written by a model, named or not. */
  budgetsFor(model: string | undefined): readonly number[];
  /** The profile for a session that was written by a model, named or not. */
  profileFor(model: string | undefined): Profile;
  /** Input prices of that model, where it is known. */
  pricesFor(model: string | undefined): InputPrices | undefined;
}

/** The strategies compared when none is named. */
export const defaultStrategies: readonly string[] = ["none", "sliding-window", "adaptive"];
/** Tokens a request may use where no budget is named and the session's model is not known. */
export const defaultBudget = 32_000;

/**
 * Checks the options.
 *
 * @throws WindrowError `bad-option`, `unknown-strategy`, `unknown-profile`, `unknown-model`, `unknown-counter`
 */
export async function readReplayFlags(flags: ReplayFlags): Promise<ReplaySettings> {
  const strategies = flags.strategy === undefined ? defaultStrategies : listOf("--strategy", flags.strategy);
  for (const strategy of strategies) strategyOf(strategy);
  const named = flags.model === undefined ? undefined : modelOf(flags.model);
  const profile = flags.profile === undefined ? undefined : profileOf(flags.profile);
  const budgets = flags.budget === undefined ? undefined : budgetsOf(flags.budget);
  const known = (model: string | undefined): ReturnType<typeof modelOf> | undefined => named ?? knownModel(model);
  return {
    strategies,
    counter: await loadCounter(flags.counter),
    ...(flags.far !== undefined && { farDistance: tokensOf("--far", flags.far) }),
    ...(flags.keep !== undefined && { keep: flags.keep }),
    ...readLimits(flags),
    json: flags.json === true,
    budgetsFor: (model) => {
      const facts = known(model);
      return budgets ?? [facts ? budgetOf(facts) : defaultBudget];
    },
    profileFor: (model) => profile ?? profileOf(known(model)?.profile ?? "openai-chat"),
    pricesFor: (model) => {
      const prices = known(model)?.prices;
      return prices && { input: prices.input, cacheRead: prices.cacheRead, cacheWrite: prices.cacheWrite };
    },
  };
}

/** The strategies' names, for help. */
export const knownStrategies: string = strategyNames.join(", ");

function knownModel(model: string | undefined): ReturnType<typeof modelOf> | undefined {
  if (model === undefined) return undefined;
  try {
    return modelOf(model);
  } catch {
    return undefined;
  }
}

function listOf(flag: string, text: string): readonly string[] {
  const items = text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  if (items.length === 0)
    throw new WindrowError("bad-option", `${flag} needs at least one value, for example ${flag} adaptive.`, { flag });
  return [...new Set(items)];
}

function budgetsOf(text: string): readonly number[] {
  return listOf("--budget", text).map((item) => tokensOf("--budget", item));
}
