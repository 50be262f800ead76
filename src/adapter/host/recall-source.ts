/** The recall tool of a loop that calls its model itself: over a session, or over the messages that windows are made of. */
import { WindrowError } from "../../errors.ts";
import type { Message, ToolDefinition } from "../../message/message.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { counterOf } from "../../tokens/counters.ts";
import { aboveZero, anyOf, checkGiven, kinds } from "../../window/options.ts";
import type { Kind } from "../../window/options.ts";
import { recallInTurns } from "../../window/recall/recall.ts";
import type { Recalled, RecallQuery } from "../../window/recall/query.ts";
import type { TextMask } from "../../window/window.ts";
import { recallDeclaration, recallTool } from "./recall-tool.ts";
import type { RecallDeclaration, RecallTool } from "./recall-tool.ts";

/** The most that an answer of a session may take. */
interface SourceLimits {
  readonly maxTokens?: number;
}

/**
 * The messages that a recall tool searches: a session, or a function that gives the messages as `composeWindow` gets
 * them, such as `() => fromChat(history)`. Message n of them is `m<n>`, as in the window's notes.
 */
export type RecallSource =
  | { readonly recall: (query: RecallQuery, limits?: SourceLimits) => Promise<Recalled> }
  | (() => readonly Message[]);

/** How a recall tool is named, and how much it answers with. */
export interface RecallToolOptions {
  /** Default `recall`. Another name goes into the `recallTools` of `composeWindow` or `SessionManager.open`, too. */
  readonly name?: string;
  /** The most tokens of an answer. Default: an eighth of the budget, and at most 4,000. */
  readonly maxTokens?: number;
  /** Tokens of the windows. Default: the session's; for messages not known. */
  readonly budget?: number;
  /** The counter of the answers, for messages alone: an object or a name. Default `estimate`. A session has its own. */
  readonly counter?: string | TokenCounter;
  /** Replaces secrets in lines that are cut, for messages alone. Default: those of a known form. */
  readonly mask?: TextMask;
}

const optionKinds = {
  name: kinds.text,
  maxTokens: aboveZero,
  budget: aboveZero,
  counter: anyOf(kinds.text, kinds.counter),
  mask: kinds.action,
} as const satisfies Record<keyof RecallToolOptions, Kind>;

/**
 * The recall tool over a source.
 *
 * @param owner - the function that was called, for errors
 * @throws WindrowError `bad-option`, `unknown-counter`
 */
export function recallToolOver(owner: string, source: RecallSource, options: RecallToolOptions = {}): RecallTool {
  checkGiven(owner, options, optionKinds);
  const { name = recallDeclaration.name, maxTokens, budget, mask } = options;
  const limits = { ...(maxTokens !== undefined && { maxTokens }), ...(budget !== undefined && { budget }) };
  if (typeof source === "function") {
    const counter = counterOf(options.counter);
    const given = { ...limits, counter, recallTools: [name], ...(mask && { mask }) };
    return recallTool((query) => recallInTurns(source(), query, given), { name });
  }
  if (typeof source?.recall !== "function") {
    const message = `${owner} takes a session, or a function that gives the messages: () => fromChat(history).`;
    throw new WindrowError("bad-option", message);
  }
  const own = (["budget", "counter", "mask"] as const).find((option) => options[option] !== undefined);
  if (own !== undefined) {
    const message = `\`${own}\` has no effect beside a session: give it to \`SessionManager.open\`.`;
    throw new WindrowError("bad-option", message, { option: own });
  }
  return recallTool((query) => source.recall(query, limits), { name });
}

/** The declaration of a recall tool as a window counts it. */
export function definitionOf({ name, description, inputSchema }: RecallDeclaration): ToolDefinition {
  return { name, description, inputSchema };
}
