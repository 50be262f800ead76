/** Steps: the unit that no edit splits. */
import { toolCalls, toolResults } from "./message.ts";
import type { Message } from "./message.ts";

/** A message with its place in the log, from 1. */
export interface NumberedMessage {
  readonly seq: number;
  readonly message: Message;
}

/**
 * One step: an assistant message with all its calls and all their results, a user message, or a system message. A message
 * that is held as pieces is one; so is a turn with the system messages that belong to it.
 */
export interface Step {
  readonly kind: "system" | "user" | "assistant";
  readonly messages: readonly NumberedMessage[];
}

/** The field of `extra` that says a message is one piece of an answer; {@link isPiece} reads it. */
export const pieceMark = "windrow:piece";

/**
 * Whether a message is one piece of an answer that its host holds as several messages, such as the items of OpenAI's
 * Responses API. Neighbours that are pieces are one answer, and one step.
 */
export function isPiece({ role, extra }: Message): boolean {
  return role === "assistant" && extra?.[pieceMark] === true;
}

/**
 * Groups a history into steps. Results join the assistant message that made their call, and the pieces of one answer each
 * other. A result without an earlier call forms a step of kind `user`; repair.ts handles it in a window.
 */
export function groupSteps(messages: readonly Message[]): readonly Step[] {
  const steps: { kind: Step["kind"]; messages: NumberedMessage[] }[] = [];
  const callers = new Map<string, (typeof steps)[number]>();
  messages.forEach((message, index) => {
    const numbered = { seq: index + 1, message };
    if (message.role === "tool") {
      const caller = toolResults(message)
        .map((result) => callers.get(result.callId))
        .find((step) => step !== undefined);
      if (caller) caller.messages.push(numbered);
      else steps.push({ kind: "user", messages: [numbered] });
      return;
    }
    const before = steps.at(-1);
    const newest = before?.messages.at(-1);
    const goesOn = before && newest && isPiece(newest.message) && isPiece(message);
    const step = goesOn ? before : { kind: message.role, messages: [numbered] };
    if (goesOn) before.messages.push(numbered);
    else steps.push(step);
    for (const call of toolCalls(message)) callers.set(call.callId, step);
  });
  return steps;
}
