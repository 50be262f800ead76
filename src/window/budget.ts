/** Budgets and triggers: how many tokens a window may use, and whether a strategy edits it now. */
import { WindrowError } from "../errors.ts";
import { shown } from "../shown.ts";
import type { Trigger } from "./window.ts";

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
