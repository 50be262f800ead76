/** The messages that stand for the answers to calls: results in their place, synthetic ones, and texts of strays. */
import { inlineName, inlineText, jsonLine, quoteHint, quoteText } from "./quote.ts";
import { resultText, toolResults } from "./message.ts";
import type { Message, Part, ToolCallPart, ToolResultPart } from "./message.ts";
import type { NumberedMessage } from "./step.ts";

/** The text of the synthetic result for a call that never got one. */
export const interruptedText = "[interrupted: no result was recorded for this call]";

/** A call of a step, and its result once there is one. */
export interface OpenCall {
  /** The message that makes it. */
  readonly caller: NumberedMessage;
  readonly part: ToolCallPart;
  /** The id that the host wrote, which the results use. */
  readonly hostId: string;
  result?: { readonly numbered: NumberedMessage; readonly part: ToolResultPart };
}

/** The messages that answer a message's calls, in their order; a synthetic one for each that has no result. */
export function answersOf(
  calls: readonly OpenCall[],
  onClosed: (callId: string, seq: number) => void,
): readonly NumberedMessage[] {
  const placed = new Map<Message, ToolResultPart[]>();
  const order: { readonly source: NumberedMessage; readonly parts: ToolResultPart[] }[] = [];
  for (const { caller, part, result } of calls) {
    if (!result) {
      onClosed(part.callId, caller.seq);
      const closing = closingResult(caller.message, part);
      order.push({ source: { seq: caller.seq, message: closing }, parts: [...toolResults(closing)] });
      continue;
    }
    const answer = result.part.callId === part.callId ? result.part : { ...result.part, callId: part.callId };
    const place = placed.get(result.numbered.message);
    if (place) {
      place.push(answer);
      continue;
    }
    const parts = [answer];
    placed.set(result.numbered.message, parts);
    order.push({ source: result.numbered, parts });
  }
  return order.map(({ source, parts }) => withParts(source, parts));
}

function withParts(numbered: NumberedMessage, parts: readonly ToolResultPart[]): NumberedMessage {
  const { seq, message } = numbered;
  const same = message.role === "tool" && message.parts.length === parts.length;
  return same && parts.every((part, index) => part === message.parts[index])
    ? numbered
    : { seq, message: { ...message, role: "tool", parts } };
}

function closingResult(assistant: Message, call: ToolCallPart): Message {
  return {
    id: `${assistant.id}:${call.callId}:interrupted`,
    role: "tool",
    status: "synthetic",
    parts: [{ type: "tool-result", callId: call.callId, name: call.name, content: interruptedText, isError: true }],
  };
}

/** The text that stands for a result without an open call. */
export function noteOfResult(part: ToolResultPart, late: boolean): Part {
  const what = late ? "Late result of" : "Result without its call, of";
  const name = part.name === undefined ? "a tool" : inlineName(part.name);
  const label = `[${what} ${name}, call ${inlineText(part.callId)}, ${quoteHint}]`;
  return { type: "text", text: `${label}\n${quoteText(resultText(part))}` };
}

/** A call in a message of another role gets no answer, so its text is shown instead. */
export function strayCall(part: ToolCallPart): Part {
  return { type: "text", text: `[Call of ${inlineName(part.name)}] ${jsonLine(part.args)}` };
}
