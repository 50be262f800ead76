/**
 * Recall's own messages, its calls and its answers: neither recall nor a digest quotes them again. On the log they stay.
 */
import { toolCalls, toolResults } from "../../message/message.ts";
import type { Message, Part, ToolResultPart } from "../../message/message.ts";
import { quoteHint, quoteNotice } from "../../message/quote.ts";

/** The names of recall tools where none are given. */
export const defaultRecallTools: readonly string[] = ["recall"];

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
  /** The calls of recall. */
  readonly #calls = new Set<string>();

  /** @param names - the tools that recall */
  constructor(names: readonly string[] = defaultRecallTools) {
    this.#names = new Set(names);
  }

  /** Takes note of a message's calls and results: an output that imitates an answer of recall hides itself and no other. */
  note(message: Message): void {
    for (const { callId, name } of toolCalls(message)) {
      if (this.#names.has(name)) this.#calls.add(callId);
      // An id may be used again, for a call of another tool.
      else this.#calls.delete(callId);
    }
    for (const result of toolResults(message)) {
      if (this.#names.has(result.name ?? "") || isRecallAnswer(result)) this.#calls.add(result.callId);
    }
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
