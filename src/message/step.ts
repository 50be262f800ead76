/** Steps: the unit that no edit splits. */
import { toolCalls, toolResults } from "./message.ts";
import type { Message } from "./message.ts";

/** A message with its place in the log, from 1. */
export interface NumberedMessage {
  readonly seq: number;
  readonly message: Message;
}

/** One step: an assistant message with all its calls and all their results, a user message, or a system message. */
export interface Step {
  readonly kind: "system" | "user" | "assistant";
  readonly messages: readonly NumberedMessage[];
}

/**
 * Groups a history into steps. Results join the assistant message that made their call. A result without an earlier
 * call forms a step of kind `user`; repair.ts handles it in a window.
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
    const step = { kind: message.role, messages: [numbered] };
    steps.push(step);
    for (const call of toolCalls(message)) callers.set(call.callId, step);
  });
  return steps;
}
