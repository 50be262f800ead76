/** How many tokens a window may use, what its fixed blocks take of them, and how large one result may be. */
import { WindrowError } from "../errors.ts";
import type { ToolDefinition } from "../message/message.ts";
import { countTools } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { truncateStep } from "./passes/truncate-tool-results.ts";
import type { Edit, ViewStep } from "./window.ts";

/** What a budget is computed from. */
export interface BudgetOptions {
  /** The model's capacity in tokens. */
  readonly contextWindow: number;
  /** Tokens kept free for the answer: the request's own cap, else the model's. */
  readonly maxOutput: number;
  /** Share of the contextWindow a request may fill. Default 0.75 (seed 003). */
  readonly ratio?: number;
  /** Share of the contextWindow kept free for framing the counter does not see. Default 0.02. */
  readonly reserve?: number;
}

/**
 * `min(contextWindow × ratio, contextWindow − maxOutput − reserve)`, in whole tokens.
 *
 * @throws WindrowError `bad-option` when nothing is left
 */
export function budgetOf({ contextWindow, maxOutput, ratio = 0.75, reserve = 0.02 }: BudgetOptions): number {
  const budget = Math.floor(Math.min(contextWindow * ratio, contextWindow - maxOutput - contextWindow * reserve));
  if (Number.isFinite(budget) && budget > 0) return budget;
  throw new WindrowError(
    "bad-option",
    `A contextWindow of ${contextWindow} tokens leaves nothing beside maxOutput ${maxOutput} and the reserve; lower maxOutput.`,
    { contextWindow, maxOutput, ratio, reserve },
  );
}

/**
 * Checks a budget given as a number.
 *
 * @throws WindrowError `bad-option` unless it is a positive number (Infinity is: no limit)
 */
export function checkBudget(budget: number | undefined): number {
  if (typeof budget === "number" && budget > 0) return budget;
  throw new WindrowError("bad-option", `A budget is a positive number of tokens, not ${String(budget)}.`, { budget });
}

/** What one tool's definition costs in every request. */
export interface ToolCost {
  readonly name: string;
  readonly tokens: number;
}

/** What tool definitions cost. */
export interface ToolCosts {
  /** Of all definitions: the block `tools` of a report. */
  readonly tokens: number;
  /** The costliest first. */
  readonly tools: readonly ToolCost[];
  /** Set where they cost more than they may. Definitions are never dropped; the host offers fewer, or shorter ones. */
  readonly warning?: string;
}

/**
 * What each tool's definition costs.
 *
 * @param toolsBudget - tokens that all definitions together may use before there is a warning. Default: any number
 * @throws WindrowError `bad-option` for a toolsBudget that is no positive number
 */
export function toolCosts(
  counter: TokenCounter,
  definitions: readonly ToolDefinition[],
  toolsBudget = Infinity,
): ToolCosts {
  if (!(toolsBudget > 0)) {
    throw new WindrowError("bad-option", `toolsBudget is a positive number of tokens, not ${toolsBudget}.`, {
      toolsBudget,
    });
  }
  const tools = definitions
    .map((tool) => ({ name: tool.name, tokens: countTools(counter, [tool]) }))
    .toSorted((left, right) => right.tokens - left.tokens);
  const tokens = tools.reduce((total, tool) => total + tool.tokens, 0);
  if (tokens <= toolsBudget) return { tokens, tools };
  const first = tools.slice(0, 3).map((tool) => `${tool.name} ${tool.tokens}`);
  const warning = `Tool definitions use ${tokens} tokens of the ${toolsBudget} they may; most by ${first.join(", ")}.`;
  return { tokens, tools, warning };
}

/**
 * Stub edits that show every result above a cap as an excerpt of at most that many tokens: errors, paths, ids and names
 * beside head and tail, with the id that brings the whole back. Made when a step is first shown, they change nothing that
 * was sent, and open no epoch. The same step gives the same edits.
 *
 * @param cap - most tokens of one result
 */
export function ingestEdits(step: ViewStep, cap: number, counter: TokenCounter): readonly Edit[] {
  if (step.kind !== "assistant" || step.tokens <= cap) return [];
  return truncateStep(step, { counter }, cap).map((edit) => ({
    ...edit,
    pass: "ingest-cap",
    reason: `a result of ${edit.tokensBefore} tokens; one may have ${cap}`,
  }));
}
