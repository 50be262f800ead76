/** The guard that every policy stands behind: its window fits the budget, and no call stands without its result. */
import type { Message, Part } from "../../src/message/message.ts";
import { groupSteps } from "../../src/message/step.ts";
import type { MessageTokens } from "../../src/replay/cost-metric.ts";

/** The window without calls that have no result and without results that have no call. */
export function paired(window: readonly Message[]): readonly Message[] {
  const ids = (type: "tool-call" | "tool-result"): ReadonlySet<string> =>
    new Set(window.flatMap(({ parts }) => parts.flatMap((part) => (part.type === type ? [part.callId] : []))));
  const [called, answered] = [ids("tool-call"), ids("tool-result")];
  const isWhole = (part: Part): boolean =>
    (part.type !== "tool-call" || answered.has(part.callId)) &&
    (part.type !== "tool-result" || called.has(part.callId));
  return window.flatMap((message) => {
    if (message.parts.every(isWhole)) return [message];
    const parts = message.parts.filter(isWhole);
    return parts.length === 0 ? [] : [{ ...message, parts }];
  });
}

/**
 * The window with its oldest whole steps dropped until it fits. The system message, the first user message and the
 * newest step stay.
 */
export function withinBudget(window: readonly Message[], budget: number, tokens: MessageTokens): readonly Message[] {
  let excess = tokens.sum(window) - budget;
  if (excess <= 0) return window;
  const task = window.find(({ role }) => role === "user");
  const dropped = new Set<Message>();
  for (const step of groupSteps(window).slice(0, -1)) {
    const messages = step.messages.map(({ message }) => message);
    if (excess <= 0) break;
    if (step.kind === "system" || (task && messages.includes(task))) continue;
    for (const message of messages) dropped.add(message);
    excess -= tokens.sum(messages);
  }
  return window.filter((message) => !dropped.has(message));
}
