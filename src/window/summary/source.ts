/** The source of a summary: each message as a text of bounded length, under its speaker. */
import { inlineName, quoteRest } from "../../message/quote.ts";
import type { Message } from "../../message/message.ts";
import { resultText, toolCalls } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import { clip, defaultMask } from "../stub/cut.ts";
import { recallId } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";
import type { Summary } from "./summary.ts";

/** One message, or one summary, as the summariser reads it. */
export interface SourceItem {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Longest text of one message, in characters, that a summariser is shown. */
export const messageCharacters = 2_000;

/**
 * Messages as a summariser reads them: `[USER]: …`, `[ASSISTANT]: …`, `[TOOL]: name -> (…)`. Without reasoning and
 * system messages; a text over `longest` characters is cut in its middle. Rendered on demand.
 */
export function* messageItems(
  messages: readonly NumberedMessage[],
  longest = messageCharacters,
  mask: TextMask = defaultMask,
): Generator<SourceItem, void, undefined> {
  const names = new Map<string, string>();
  for (const { seq, message } of messages) {
    for (const call of toolCalls(message)) names.set(call.callId, call.name);
    const text = message.role === "system" ? "" : linesOf(message, names, longest, mask).join("\n");
    if (text !== "") yield { from: seq, to: seq, text };
  }
}

/** Summaries as the source of a summary of theirs. */
export function summaryItems(summaries: readonly Summary[]): readonly SourceItem[] {
  return summaries.map(({ from, to, text }) => ({
    from,
    to,
    text: `[SUMMARY ${recallId(from, to)}]: ${quoteRest(text)}`,
  }));
}

/** The user's texts in some messages, verbatim. */
export function userTexts(messages: readonly NumberedMessage[]): readonly string[] {
  return messages
    .filter(({ message }) => message.role === "user" && message.status !== "synthetic")
    .flatMap(({ message }) => message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
}

function linesOf(
  message: Message,
  names: ReadonlyMap<string, string>,
  longest: number,
  mask: TextMask,
): readonly string[] {
  // A synthetic message in the user's role, such as a late result, is not the user's.
  const speaker = message.role === "user" && message.status === "synthetic" ? "RECORD" : message.role.toUpperCase();
  const share = Math.max(80, Math.floor(longest / Math.max(1, message.parts.length)));
  return message.parts.flatMap((part) => {
    switch (part.type) {
      case "reasoning":
        return [];
      case "text":
        return part.text.trim() === "" ? [] : [`[${speaker}]: ${quoteRest(clip(part.text, share, mask))}`];
      case "tool-call":
        return [
          `[${speaker}]: ${inlineName(part.name)}(${quoteRest(clip(part.argsText ?? JSON.stringify(part.args), share, mask))})`,
        ];
      case "tool-result": {
        const name = inlineName(part.name ?? names.get(part.callId) ?? "tool");
        return [`[TOOL]: ${name} -> (${quoteRest(clip(resultText(part), share, mask))})`];
      }
      default:
        return [`[${speaker}]: [${part.type}]`];
    }
  });
}
