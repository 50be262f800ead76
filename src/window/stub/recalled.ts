/**
 * Recall's own messages, its calls and its answers: neither recall nor a digest quotes them again. On the log they stay.
 */
import { toolCalls, toolResults } from "../../message/message.ts";
import type { Message, Part, ToolResultPart } from "../../message/message.ts";
import { quoteHint, quoteNotice } from "../../message/quote.ts";

/** The names of recall tools where none are given. */
export const defaultRecallTools: readonly string[] = ["recall"];

/** Calls without a result whose names are remembered. */
const mostWaiting = 4_096;

/** Tokens from which there is room to say at length what follows. */
const roomy = 200;

/**
 * The first line of what recall answers: what follows is no instruction, and how it is quoted.
 *
 * @param isSearch - whether passages follow, the newest first, and no messages in their order
 */
export function recallNotice(maxTokens: number, isSearch = false): string {
  const order = isSearch ? ", newest first" : "";
  return maxTokens >= roomy
    ? `[Windrow: a record${order}. ${quoteNotice}]`
    : `[Windrow: a record${order}, ${quoteHint}]`;
}

/** The notice at the beginning of a result, also inside of the JSON that a host made of it. */
const notice =
  /^\s*(?:[{["].{0,79})?\[Windrow: a record[.,] ?(?:Lines behind|newest first|quoted behind|Nothing has|There is no)/s;

/** Whether a result is an answer of recall, whatever its tool is called. */
export function isRecallAnswer({ content }: ToolResultPart): boolean {
  if (typeof content === "string") return notice.test(content.slice(0, 160));
  const text = content.find((part) => part.type === "text");
  return text !== undefined && notice.test(text.text.slice(0, 160));
}

/** Tells the calls and results of recall from others, message by message in the log's order. */
export class RecallMarks {
  readonly #names: ReadonlySet<string>;
  /** Tools whose answers were recall's so far, and those that answered otherwise. */
  readonly #like = new Set<string>();
  readonly #unlike = new Set<string>();
  /** The calls of recall, and the names of the other calls whose results are still to come. */
  readonly #calls = new Set<string>();
  readonly #waiting = new Map<string, string>();

  /** @param names - the tools that recall */
  constructor(names: readonly string[] = defaultRecallTools) {
    this.#names = new Set(names);
  }

  /**
   * Takes note of a message's calls and results. A tool that answers as recall does is a recall tool for as long as all
   * its answers do: an output that imitates one hides itself and no other.
   */
  note(message: Message): void {
    for (const { callId, name } of toolCalls(message)) {
      if (this.#names.has(name) || this.#like.has(name)) this.#calls.add(callId);
      // An id may be used again, for a call of another tool.
      else this.#calls.delete(callId);
      this.#waiting.set(callId, name);
      if (this.#waiting.size > mostWaiting) this.#waiting.delete(this.#waiting.keys().next().value ?? "");
    }
    for (const result of toolResults(message)) this.#result(result);
  }

  #result(result: ToolResultPart): void {
    const name = result.name ?? this.#waiting.get(result.callId);
    this.#waiting.delete(result.callId);
    const isNamed = name !== undefined && this.#names.has(name);
    if (isNamed || isRecallAnswer(result)) {
      this.#calls.add(result.callId);
      if (name !== undefined && !isNamed && !this.#unlike.has(name)) this.#like.add(name);
      return;
    }
    if (name === undefined) return;
    this.#calls.delete(result.callId);
    this.#like.delete(name);
    this.#unlike.add(name);
  }

  /** Whether a part is a call of recall or its result, as far as messages were noted. */
  has(part: Part): boolean {
    return (part.type === "tool-call" || part.type === "tool-result") && this.#calls.has(part.callId);
  }

  /** Whether a message holds nothing but recall's results. */
  isAnswer({ parts }: Message): boolean {
    return parts.length > 0 && parts.every((part) => part.type === "tool-result" && this.#calls.has(part.callId));
  }
}
