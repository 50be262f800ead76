/** Budgets and triggers: how many tokens a window may use, whether a strategy edits it now, and which budget is too small. */
import { WindrowError } from "../errors.ts";
import { shown } from "../shown.ts";
import type { ForcedEpoch, Report, Trigger, ViewStep, WindowState } from "./window.ts";

/** The numbers that {@link budgetOf} computes a budget from. */
export interface BudgetOptions {
  /** The model's capacity in tokens. */
  readonly contextWindow: number;
  /** Tokens kept free for the answer: the request's own cap, else the model's. */
  readonly maxOutput: number;
  /** Share of the contextWindow a request may fill. Default 0.75. */
  readonly ratio?: number;
  /** Share of the contextWindow kept free for framing the counter does not see. Default 0.02. */
  readonly reserve?: number;
}

/**
 * `min(contextWindow × ratio, contextWindow − maxOutput − reserve)`, in whole tokens.
 *
 * @throws WindrowError `bad-option` when nothing is left
 */
export function budgetOf(options: BudgetOptions): number {
  checkNumbers(options);
  const { contextWindow, maxOutput, ratio = 0.75, reserve = 0.02 } = options;
  const budget = Math.floor(Math.min(contextWindow * ratio, contextWindow - maxOutput - contextWindow * reserve));
  if (Number.isFinite(budget) && budget > 0) return budget;
  throw new WindrowError(
    "bad-option",
    `A contextWindow of ${contextWindow} tokens leaves nothing beside maxOutput ${maxOutput} and the reserve; lower maxOutput.`,
    { contextWindow, maxOutput, ratio, reserve },
  );
}

/** Both sizes are numbers; a share that is undefined has its default. */
function checkNumbers(options: BudgetOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new WindrowError("bad-option", `budgetOf takes { contextWindow, maxOutput }, not ${shown(options)}.`);
  }
  const { contextWindow, maxOutput, ratio = 0, reserve = 0 } = options;
  for (const [name, value] of Object.entries({ contextWindow, maxOutput, ratio, reserve })) {
    if (typeof value === "number" && value >= 0) continue;
    throw new WindrowError("bad-option", `budgetOf: \`${name}\` is a number of at least 0, not ${shown(value)}.`, {
      option: name,
    });
  }
}

/**
 * Checks a budget given as a number.
 *
 * @throws WindrowError `bad-option` unless it is a positive number (Infinity is: no limit)
 */
export function checkBudget(budget: number | undefined): number {
  if (typeof budget === "number" && budget > 0) return budget;
  throw new WindrowError(
    "bad-option",
    `A budget is a positive number of tokens, such as 32_000, not ${shown(budget)}.`,
    { budget },
  );
}

/** The numbers of a window that triggers compare. */
export interface Triggering {
  readonly messages: number;
  readonly turns: number;
  readonly tokens: number;
}

/** Whether one of a trigger's conditions holds, or all of them with `mode: "all"`. False without conditions. */
export function isTriggered(trigger: Trigger, window: Triggering, budget: number): boolean {
  const { messages, turns, tokens, ratio, mode = "any" } = trigger;
  const conditions = [
    messages === undefined ? undefined : window.messages > messages,
    turns === undefined ? undefined : window.turns > turns,
    tokens === undefined ? undefined : window.tokens > tokens,
    ratio === undefined ? undefined : window.tokens > ratio * budget,
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0) return false;
  return mode === "all" ? conditions.every(Boolean) : conditions.some(Boolean);
}

/** Epochs that are looked back on: the fewest, and the most. */
const fewestEpochs = 3;
const mostEpochs = 8;
/** Calls between two epochs up to which a budget is too small. */
const fewCalls = 3;
/** A budget that is named is a multiple of it. */
const roundTo = 1_000;

/** Model calls since an epoch opened at message `opened`. */
function callsSince(steps: readonly ViewStep[], opened: number): number {
  return steps.filter(({ kind, from }) => kind === "assistant" && from > opened).length;
}

/**
 * The state of an epoch that the budget forced, with its sizes behind those of the epochs before it.
 *
 * @param past - the state before it, and `steps` its window
 * @param layouts - with the tokens of the whole request, before it and behind it
 */
export function withForced(
  state: WindowState,
  { forced = [], opened }: WindowState,
  steps: readonly ViewStep[],
  [before, after]: readonly [Pick<Report, "tokens">, Pick<Report, "tokens">],
): WindowState {
  const brought = before.tokens - (forced.at(-1)?.left ?? before.tokens);
  const epoch = { calls: callsSince(steps, opened), brought, left: after.tokens };
  return { ...state, forced: [...forced, epoch].slice(-mostEpochs) };
}

/** The advice of {@link smallBudget} on the newest epochs of a state; none if more than three calls came since. */
export function adviceOn(
  { forced = [], opened }: WindowState,
  budget: number,
  lowWater: number,
  steps: () => readonly ViewStep[],
): Pick<Report, "tooSmall"> {
  const advice = smallBudget(forced, budget, lowWater);
  return advice.tooSmall && callsSince(steps(), opened) <= fewCalls ? advice : {};
}

/**
 * The advice on a budget whose epochs are three or more, and three calls apart or fewer on the mean. None for any other.
 *
 * It derives the budget that would do from the means of two measured sizes. `left` is the tokens that stand behind an
 * epoch: system, tools, task, newest steps, digest. `growth` is the tokens that a call brings. For epochs more than three
 * calls apart, four calls have to fit between them: `4 × growth` tokens. Now `budget − left` are free. Of each further token
 * an epoch fills the share `lowWater`, and the rest is free. So this would do, up to the next thousand, while calls stay as
 * large: `budget + (4 × growth − (budget − left)) / (1 − lowWater)`.
 *
 * A strategy whose `lowWater` is 1 frees no room at any budget, and gets no advice.
 */
export function smallBudget(
  forced: readonly ForcedEpoch[],
  budget: number,
  lowWater: number,
): Pick<Report, "tooSmall"> {
  // The first of a stretch has no epoch to be measured from.
  const since = forced.filter(({ brought }) => brought > 0);
  const sum = (of: (epoch: ForcedEpoch) => number): number => since.reduce((total, epoch) => total + of(epoch), 0);
  const between = sum(({ calls }) => calls);
  if (since.length < fewestEpochs - 1 || between > fewCalls * since.length) return {};
  const growth = sum(({ brought }) => brought) / Math.max(1, between);
  const free = budget - sum(({ left }) => left) / since.length;
  const enough = budget + ((fewCalls + 1) * growth - free) / (1 - lowWater);
  if (!Number.isFinite(enough) || enough <= budget) return {};
  const rounded = Math.ceil(enough / roundTo) * roundTo;
  const apart = (between / since.length).toFixed(1);
  const warning =
    `At a budget of ${budget} tokens an epoch follows after ${apart} calls, and each breaks the prompt cache. ` +
    `A budget of ${rounded} would do.`;
  return { tooSmall: { budget: rounded, warning } };
}
