/** The counter and the budget of a window: as they are given, else as its strategy fixes them. */
import { WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import { counterOf, sure } from "../tokens/counters.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { loadCounter } from "../tokens/exact.ts";
import { modelOf } from "../tokens/models.ts";
import type { ModelDescription } from "../tokens/models.ts";
import type { Strategy, StrategySettings } from "./window.ts";
import type { Budget } from "./options.ts";
import { budgetOf, checkBudget } from "./budget.ts";

/**
 * The counter of a strategy: the given one as it is, else the strategy's, with the image tokens that it fixes.
 *
 * @throws WindrowError `unknown-counter`, also where it is an exact one that was not loaded; `bad-option`
 */
export function counterFor(settings: StrategySettings | undefined, given?: string | TokenCounter): TokenCounter {
  return given === undefined ? withImages(counterOf(settings?.counter), settings?.imageTokens) : counterOf(given);
}

/**
 * As {@link counterFor}, and loads an exact counter.
 *
 * @throws WindrowError `unknown-counter`, `package-missing`, `bad-option`
 */
export async function loadCounterFor(
  settings: StrategySettings | undefined,
  given?: string | TokenCounter,
): Promise<TokenCounter> {
  const counter = await loadCounter(given ?? settings?.counter);
  return given === undefined ? withImages(counter, settings?.imageTokens) : counter;
}

/** By counter and image tokens, so that what was counted once stays known. */
const counters = new WeakMap<TokenCounter, Map<number, TokenCounter>>();

function withImages(counter: TokenCounter, imageTokens: number | undefined): TokenCounter {
  if (imageTokens === undefined || counter.imageTokens !== undefined) return counter;
  const known = counters.get(counter) ?? new Map<number, TokenCounter>();
  counters.set(counter, known);
  const found =
    known.get(imageTokens) ??
    sure({
      ...counter,
      name: counter.name,
      imageTokens,
      count: (text: string): number => counter.count(text),
    });
  known.set(imageTokens, found);
  return found;
}

/** The least tokens of a window with the budget `"auto"`, where its strategy sets no other. */
const usualFloor = 16_000;

/** A strategy under a budget: one whose windows size themselves with `"auto"`, unless nothing ever leaves them. */
export function sizedBy(strategy: Strategy, budget: Budget | undefined): Strategy {
  return budget === "auto" && strategy.passes.length > 0 ? { floor: usualFloor, ...strategy } : strategy;
}

/** The budget and the model as they are given beside a strategy. */
interface GivenBudget {
  /** Tokens a window may use, or `"auto"` for as many as the model takes. */
  readonly budget?: Budget | undefined;
  /** A known model's id or a description. */
  readonly model?: string | ModelDescription | undefined;
}

/**
 * The budget of a strategy: the given one, else its share of the model's contextWindow; undefined without both.
 *
 * @throws WindrowError `bad-option` for a budget beside an option that sets the share; `unknown-model`
 */
export function budgetFor(settings: StrategySettings | undefined, { budget, model }: GivenBudget): number | undefined {
  const { ratio, ratioOption: option } = settings ?? {};
  if (budget === undefined || budget === "auto") {
    if (model === undefined) return undefined;
    const { contextWindow, maxOutput } = modelOf(model);
    return budgetOf({ contextWindow, maxOutput, ...defined({ ratio }) });
  }
  if (option === undefined) return checkBudget(budget);
  const message =
    `\`${option}\` is a share of the model's contextWindow, and \`budget\` (${budget}) stands in its place: ` +
    "give one of the two.";
  throw new WindrowError("bad-option", message, { option, budget });
}
