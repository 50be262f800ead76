/** The task: the user message that says what the work is about, found by its place and its shape. */
import { messageText, toolCalls } from "../message/message.ts";
import { termsOf } from "./recall/terms.ts";
import type { ViewStep } from "./window.ts";

/** Terms that a message has to have to be the task where it is answered in words alone, as a greeting is. */
const manyTerms = 5;
/** Terms that any other has to have. Where none has as many, the one with the most is the task. */
const someTerms = 2;
/** Characters of a message that are looked at for them, those between tags among them. */
const lookedAt = 100_000;

/** Whether the user wrote a step. A late result in the user's role is not the user's. */
export function isUsers(step: ViewStep): boolean {
  return step.kind === "user" && step.messages.some(({ message }) => message.status !== "synthetic");
}

/**
 * The index of the step that gives the task, or -1 where the user wrote nothing: the first of the user's messages before
 * the work began (the first tool call behind a message of the user's, or what stands for it) that says something in words
 * of its own. What stands between a tag and its end was put there by a host.
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

/** Whether the assistant answers in words, without going to work. */
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

/** A text without what stands between a tag at the start of a line and its end. */
function ownWords({ messages }: ViewStep): string {
  const text = messages
    .map(({ message }) => messageText(message))
    .join("\n")
    .slice(0, lookedAt);
  const open = new Set<string>();
  let own = "";
  let next = 0;
  for (const { 0: tag, 1: name = "", index } of text.matchAll(/^[ \t]*<([\w-]+)[^<>\n]*>/gm)) {
    if (index < next || open.has(name)) continue;
    const end = text.indexOf(`</${name}>`, index + tag.length);
    if (end < 0) open.add(name);
    else {
      own += text.slice(next, index);
      next = end + name.length + 3;
    }
  }
  return own + text.slice(next);
}
