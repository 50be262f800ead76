/** What tool definitions cost in every request. */
import { WindrowError } from "../errors.ts";
import type { ToolDefinition } from "../message/message.ts";
import { countTools } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";

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
