/** Requests that a provider would refuse, by one rule for all providers. */
import { toolCalls, toolResults } from "../message/message.ts";
import type { Message } from "../message/message.ts";
import { groupSteps } from "../message/step.ts";

/**
 * Whether a request is broken: it has a result without its call, a call without its result, a history that begins with
 * someone other than the user, an empty message, or no message at all.
 */
export function isBroken(window: readonly Message[]): boolean {
  const history = window.filter((message) => message.role !== "system");
  if (history[0]?.role !== "user" || window.some(isEmpty)) return true;
  let open = new Set<string>();
  for (const message of history) {
    const results = toolResults(message);
    if (results.some((result) => !open.delete(result.callId))) return true;
    const answersOnly = message.role === "tool" || results.length > 0;
    if (!answersOnly && open.size > 0) return true;
    if (message.role === "assistant") open = new Set(toolCalls(message).map((call) => call.callId));
  }
  return open.size > 0;
}

function isEmpty(message: Message): boolean {
  return message.parts.every((part) => (part.type === "text" || part.type === "reasoning") && !/\S/.test(part.text));
}

/** The parts of a history that no policy may leave out: the system messages, the task, and the newest step. */
export function essentials(history: readonly Message[]): readonly Message[] {
  const system = history.filter((message) => message.role === "system");
  const task = history.find((message) => message.role === "user");
  const newest =
    groupSteps(history)
      .at(-1)
      ?.messages.map(({ message }) => message) ?? [];
  return [...new Set([...system, ...(task ? [task] : []), ...newest])];
}
