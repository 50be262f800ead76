/**
 * The layout of a window: its blocks and their tokens, the cost of the request, and the error of a window that is too
 * large.
 */
import { WindrowError } from "../errors.ts";
import { hashName, hashText } from "../message/hash.ts";
import { textMessage } from "../message/message.ts";
import type { Message, ToolDefinition } from "../message/message.ts";
import { countOnce, countTools } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { ComposeOptions } from "./compose-options.ts";
import { isRange } from "./edits.ts";
import { ListHashes } from "./hash.ts";
import type { Shape } from "./history.ts";
import type { Profile } from "./provider/profile.ts";
import type { DynamicBlock, Edit, EpochReason, Report, ToolCosts, WindowState } from "./window.ts";

/** The input of the fixed blocks. */
export interface FixedInput extends Pick<ComposeOptions, "system" | "systemNote" | "tools" | "toolsBudget"> {
  /** The history's own leading system messages, in place of a system prompt that is not given. */
  readonly own: readonly Message[];
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
      system: countAll(systemMessages, this.#counter),
      tools: this.#tools.costs.tokens,
      toolCosts: this.#tools.costs,
      dynamic: countAll(tail, this.#counter),
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

/** A window's blocks, before anything is decided. */
export interface Layout extends Omit<Shape, "messages" | "notes"> {
  readonly fixed: Fixed;
  /** The messages behind the system prompt and before the tail, and their number. */
  readonly history: readonly Message[];
  readonly messages: number;
  readonly sticky: readonly DynamicBlock[];
  readonly blocks: Report["blocks"];
  /** Tokens of the whole request. */
  readonly tokens: number;
}

/** The parts of a layout. */
export interface LayoutParts {
  readonly fixed: Fixed;
  readonly sticky: readonly DynamicBlock[];
  readonly shape: Shape;
  /** The messages before the history, and whether they are a pinned block's. */
  readonly lead: readonly Message[];
  readonly pinned: boolean;
}

/** A window's layout, with the tokens of its blocks and of the whole request. */
export function layoutOf({ fixed, sticky, shape, lead, pinned }: LayoutParts, counter: TokenCounter): Layout {
  const { system, tools, dynamic } = fixed;
  const { notes, turns, answers } = shape;
  const history = [...lead, ...shape.messages];
  const leading = countAll(lead, counter);
  const [slot, own] = pinned ? [leading, shape.tokens] : [0, shape.tokens + leading];
  const blocks = { system, tools, pinned: slot, notes, history: own - notes, dynamic };
  const tokens = system + tools + slot + own + dynamic;
  return { fixed, history, messages: history.length, sticky, turns, answers, blocks, tokens };
}

/** The tokens of messages; one that is not there has none. */
export function countAll(messages: readonly (Message | undefined)[], counter: TokenCounter): number {
  return messages.reduce((total, message) => total + (message ? countOnce(counter, message) : 0), 0);
}

/** Repairs of a history, counted by kind. */
export function countRepairs(repairs: readonly { readonly kind: string }[]): Report["repairs"] {
  const counts: Record<string, number> = {};
  for (const { kind } of repairs) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The messages of a log, counted by fate. */
export function countFates(last: number, edits: readonly Edit[]): Report["counts"] {
  const stubbed = new Set(edits.filter(({ kind }) => kind === "stub").map(({ from }) => from)).size;
  const gone = (kind: Edit["kind"]): number =>
    edits.reduce((sum, edit) => (isRange(edit) && edit.kind === kind ? sum + edit.to - edit.from + 1 : sum), 0);
  const [replaced, dropped] = [gone("replace"), gone("drop")];
  return { kept: last - replaced - dropped - stubbed, stubbed, replaced, dropped };
}

/**
 * The predicted cost of a request by the profile's cache prices.
 *
 * @param before - the state that the last request left: what both have at their beginning is cached
 * @param opened - whether an epoch opened: of the last request only the system prompt and the tools stand
 */
export function costOf(
  { fixed, blocks, tokens }: Layout,
  before: WindowState,
  opened: boolean,
  { cache }: Profile,
): Report["cost"] {
  const same = fixed.systemHash === before.systemHash && fixed.toolsHash === before.toolsHash;
  const kept = opened ? (same ? blocks.system + blocks.tools : 0) : (before.cached ?? 0);
  const tail = blocks.dynamic;
  const cached = Math.min(kept, tokens - tail);
  const fresh = tokens - tail - cached;
  return { cached, fresh, equivalents: Math.round(cached * cache.read + fresh * cache.write + tail) };
}

/** The reason of an epoch where a request does not begin as the last one did; undefined where it does. */
export function changeOf(
  { fixed }: Layout,
  { systemHash, toolsHash, length, prefixHash }: WindowState,
  prefixHashOf: (length: number) => string,
): EpochReason | undefined {
  if (length === 0) return undefined;
  if (fixed.systemHash !== systemHash) return "system-changed";
  if (fixed.toolsHash !== toolsHash) return "tools-changed";
  return prefixHashOf(length) === prefixHash ? undefined : "history-changed";
}

/** A state with what the next window is compared with. */
export function remembering(
  state: WindowState,
  { fixed: { systemHash, toolsHash }, history, blocks, tokens }: Layout,
  prefixHash: string,
): WindowState {
  return { ...state, systemHash, toolsHash, length: history.length, prefixHash, cached: tokens - blocks.dynamic };
}

/** The error of a window that is larger than its budget, with the size of each block. */
export function overBudget(blocks: Report["blocks"], tokens: number, budget: number): WindrowError {
  return new WindrowError(
    "over-budget",
    `The window needs ${tokens} tokens and the budget is ${budget}: system ${blocks.system}, tools ${blocks.tools}, ` +
      `pinned ${blocks.pinned}, history ${blocks.history}, notes ${blocks.notes}, dynamic ${blocks.dynamic}. ` +
      `Raise the budget or take a strategy that edits.`,
    { budget, ...blocks },
  );
}
