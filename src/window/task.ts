/** The task: the user message that says what the work is about, found by its place and its shape. */
import { messageText, toolCalls } from "../message/message.ts";
import { withoutTagged } from "../message/title.ts";
import { termsOf } from "./recall/terms.ts";
import type { ViewStep } from "./window.ts";

/** The least terms of a task message that the assistant answers in words alone, as it does a greeting. */
const manyTerms = 5;
/** The least terms of any other task message. Where no message has as many, the one with the most is the task. */
const someTerms = 2;
/** The most characters of a message that are searched for terms, tagged text included. */
const lookedAt = 100_000;

/** Whether the user wrote a step. A late result in the user's role is not the user's. */
export function isUsers(step: ViewStep): boolean {
  return step.kind === "user" && step.messages.some(({ message }) => message.status !== "synthetic");
}

/**
 * The index of the step that gives the task; -1 where the user wrote nothing. It is the first user message before the
 * work began (before the first tool call, or a note in its place) that has enough words of its own. Text between a tag
 * and its end is a host's.
 */
export function taskIn(steps: readonly ViewStep[]): number {
  let task = -1;
  let most = -1;
  for (const [index, step] of steps.entries()) {
    if (task >= 0 && (step.kind === "note" || works(step))) break;
    if (!isUsers(step)) continue;
    const terms = termsOf(ownWords(step).slice(0, 1_000)).length;
    if (terms >= (isAnswered(steps, index) ? manyTerms : someTerms)) return index;
    if (terms <= most) continue;
    task = index;
    most = terms;
  }
  return task;
}

/** Whether the assistant answers a step in words, without a tool call. */
function isAnswered(steps: readonly ViewStep[], index: number): boolean {
  for (let at = index + 1; at < steps.length; at++) {
    const next = steps[at];
    if (next && next.kind !== "user" && next.kind !== "system") return next.kind === "assistant" && !works(next);
  }
  return false;
}

function works({ messages }: ViewStep): boolean {
  return messages.some(({ message }) => toolCalls(message).length > 0);
}

/** The text of a step without tagged sections, whose tags stand at the start of a line. */
function ownWords({ messages }: ViewStep): string {
  const text = messages
    .map(({ message }) => messageText(message))
    .join("\n")
    .slice(0, lookedAt);
  return withoutTagged(text);
}
