/** The options of `windrow replay`, checked before any work is done. */
import { WindrowError } from "../../errors.ts";
import { readLimits } from "../read-limits.ts";
import type { ReadLimits } from "../../transcript/limits.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { loadCounter } from "../../tokens/exact.ts";
import { modelOf } from "../../tokens/models.ts";
import type { ModelPrices } from "../../tokens/models.ts";
import { budgetOf } from "../../window/budget.ts";
import { profileOf } from "../../window/provider/profile.ts";
import type { Profile } from "../../window/provider/profile.ts";
import { strategyNames, strategyOf } from "../../window/by-name.ts";
import { isObject, parseJson } from "../../message/json.ts";
import type { Strategy, StrategyChoice } from "../../window/window.ts";
import type { Budget } from "../../window/options.ts";
import { budgetListOf, tokensOf } from "../values.ts";

/** The options as they stand on the command line. */
export interface ReplayFlags {
  readonly strategy?: string;
  readonly budget?: string;
  readonly profile?: string;
  readonly model?: string;
  readonly far?: string;
  readonly counter?: string;
  readonly store: string;
  readonly keep?: string;
  readonly html?: string;
  readonly json?: boolean;
  readonly maxBytes?: string;
  readonly maxEntries?: string;
}

/** The options of a replay, parsed and checked. */
export interface ReplaySettings {
  readonly strategies: readonly (string | StrategyChoice)[];
  readonly counter: TokenCounter;
  readonly farDistance?: number;
  readonly limits?: ReadLimits;
  /** The store of sessions that are named by id. */
  readonly store: string;
  /** Folder of the file store that sessions are written to. */
  readonly keep?: string;
  /** A new file for a browser, with every window. */
  readonly html?: string;
  readonly json: boolean;
  /** The budgets for a session that was written by a model, named or not. */
  budgetsFor(model: string | undefined): readonly Budget[];
  /** The profile for a session that was written by a model, named or not. */
  profileFor(model: string | undefined): Profile;
  /** The prices of the model that `--model` names. */
  readonly prices?: ModelPrices;
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
  const strategies = flags.strategy === undefined ? defaultStrategies : strategiesOf(flags.strategy);
  for (const strategy of strategies) strategyOf(strategy);
  const named = flags.model === undefined ? undefined : modelOf(flags.model);
  const profile = flags.profile === undefined ? undefined : profileOf(flags.profile);
  const budgets = flags.budget === undefined ? undefined : budgetListOf("--budget", flags.budget);
  const known = (model: string | undefined): ReturnType<typeof modelOf> | undefined => named ?? knownModel(model);
  return {
    strategies,
    counter: await loadCounter(flags.counter),
    ...(flags.far !== undefined && { farDistance: tokensOf("--far", flags.far) }),
    store: flags.store,
    ...(flags.keep !== undefined && { keep: flags.keep }),
    ...(flags.html !== undefined && { html: flags.html }),
    ...readLimits(flags),
    json: flags.json === true,
    budgetsFor: (model) => {
      const facts = known(model);
      return budgets ?? [facts ? budgetOf(facts) : defaultBudget];
    },
    profileFor: (model) => profile ?? profileOf(known(model)?.profile ?? "openai-chat"),
    ...(named?.prices && { prices: named.prices }),
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

/** Names, and JSON objects with `use` and options. */
function strategiesOf(text: string): readonly (string | StrategyChoice)[] {
  return listOf("--strategy", text).map((item) => {
    if (!item.startsWith("{")) return item;
    const choice = parseJson(item);
    if (isObject(choice) && typeof choice["use"] === "string") return choice as unknown as StrategyChoice;
    const example = `--strategy '{"use":"adaptive","lowWater":0.5}'`;
    const message = `--strategy ${item} is no JSON object with \`use\`, for example ${example}.`;
    throw new WindrowError("bad-option", message, { flag: "--strategy" });
  });
}

/** The strategy that runs: one with options is named with them, so that rows can be told apart. */
export function namedByOptions(strategy: string | StrategyChoice): string | Strategy {
  if (typeof strategy === "string") return strategy;
  const { use, ...options } = strategy;
  const shown = Object.entries(options).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return { ...strategyOf(strategy), name: [use, ...shown].join(" ") };
}

/** The items of a list; a comma inside of a JSON object parts none. */
function itemsOf(text: string): readonly string[] {
  const items = [""];
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^]/gu)) {
    if (token === "," && depth === 0) {
      items.push("");
      continue;
    }
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth = Math.max(0, depth - 1);
    items.push(`${items.pop() ?? ""}${token}`);
  }
  return items;
}

function listOf(flag: string, text: string): readonly string[] {
  const items = itemsOf(text)
    .map((item) => item.trim())
    .filter((item) => item !== "");
  if (items.length === 0)
    throw new WindrowError("bad-option", `${flag} needs at least one value, for example ${flag} adaptive.`, { flag });
  return [...new Set(items)];
}
