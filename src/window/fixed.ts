/** The fixed blocks of a window: system, tools, and the ephemeral tail. Counted again only where they changed. */
import { WindrowError } from "../errors.ts";
import { textMessage } from "../message/message.ts";
import type { Message, ToolDefinition } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { ToolCosts } from "./window.ts";
import { hashName, hashText } from "../message/hash.ts";
import { ListHashes } from "./hash.ts";
import { countTools, countOnce } from "../tokens/counter.ts";

/** The input of the fixed blocks. */
export interface FixedInput {
  /** The system prompt. Absent: the history's own leading system messages. */
  readonly system?: string;
  /** Text behind the system prompt. */
  readonly systemNote?: string;
  readonly own: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
  /** The most tokens of all definitions before there is a warning. */
  readonly toolsBudget?: number;
  /** The ephemeral tail. */
  readonly tail: readonly Message[];
}

/** The blocks, their tokens and hashes. */
export interface Fixed {
  readonly systemMessages: readonly Message[];
  readonly dynamicMessages: readonly Message[];
  readonly system: number;
  readonly tools: number;
  readonly dynamic: number;
  /** The cost of each tool's definition. */
  readonly toolCosts: ToolCosts;
  readonly systemHash: string;
  readonly toolsHash: string;
}

function jsonOf(tools: readonly ToolDefinition[]): string {
  try {
    return JSON.stringify(tools);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new WindrowError("bad-option", `\`tools\` cannot be written as JSON: ${reason}.`, {}, { cause: error });
  }
}

/** Counts and hashes the fixed blocks, and remembers those of the last call. */
export class FixedBlocks {
  readonly #counter: TokenCounter;
  #system: { readonly text: string; readonly message: Message } | undefined;
  readonly #systemHashes = new ListHashes();
  #tools: { readonly json: string; readonly budget: number; readonly costs: ToolCosts; readonly hash: string };

  constructor(counter: TokenCounter) {
    this.#counter = counter;
    this.#tools = { json: "[]", budget: Infinity, costs: toolCosts(counter, []), hash: hashName(hashText("[]")) };
  }

  /** The blocks of a call. */
  of({ system, systemNote, own, tools = [], toolsBudget = Infinity, tail }: FixedInput): Fixed {
    const prompt = system === undefined ? own : system.trim() === "" ? [] : [this.#systemMessage(system)];
    const note =
      systemNote === undefined ? [] : [textMessage({ id: "windrow:system-note", role: "system" }, systemNote)];
    const systemMessages = [...prompt, ...note];
    // A host may change the array in place, so the JSON text is compared.
    const json = jsonOf(tools);
    if (json !== this.#tools.json || toolsBudget !== this.#tools.budget) {
      const costs = toolCosts(this.#counter, tools, toolsBudget);
      this.#tools = { json, budget: toolsBudget, costs, hash: hashName(hashText(json)) };
    }
    return {
      systemMessages,
      dynamicMessages: tail,
      system: this.#count(systemMessages),
      tools: this.#tools.costs.tokens,
      toolCosts: this.#tools.costs,
      dynamic: this.#count(tail),
      systemHash: this.#systemHashes.nameOf(systemMessages),
      toolsHash: this.#tools.hash,
    };
  }

  #systemMessage(text: string): Message {
    if (this.#system?.text !== text) {
      this.#system = { text, message: textMessage({ id: "windrow:system", role: "system" }, text) };
    }
    return this.#system.message;
  }

  #count(messages: readonly Message[]): number {
    return messages.reduce((total, message) => total + countOnce(this.#counter, message), 0);
  }
}

/**
 * The tokens of each tool's definition.
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
