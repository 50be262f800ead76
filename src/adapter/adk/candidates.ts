/** The messages that a window by importance may still show, so that a long conversation costs no more than a short one. */
import { StepReader } from "../../message/repair.ts";
import type { Message } from "../../message/message.ts";
import type { Step } from "../../message/step.ts";
import { importanceOf } from "../../window/passes/importance.ts";

/**
 * The places of the messages that a window of at most so many messages may show, now or after any that follow, in order.
 *
 * Windows take the newest steps and then the most important that fit. A step that is shown is therefore among the first
 * `most / size` of its size: whatever ranks before it has the same size, is shown as well, and takes as much room.
 */
export function candidatePlaces(messages: readonly Message[], most: number): readonly number[] {
  const reader = new StepReader();
  messages.forEach((message, index) => reader.push(index + 1, message));
  const open = new Set(reader.repairs.filter(({ kind }) => kind === "closed-call").map(({ seq }) => seq));
  const steps = [...reader.closed, ...reader.tail()];
  const newest = messages.length - most;
  const lastUser = steps.findLastIndex(({ kind }) => kind === "user");
  const kept = new Set<Step>();
  const older = new Map<number, Step[]>();
  for (const [index, step] of steps.entries()) {
    const stays = step.kind === "system" || index === lastUser || index >= steps.length - 2;
    // A later response may still be paired with a call that has none.
    const waits = step.messages.some(({ seq }) => seq > newest || open.has(seq));
    const size = step.messages.length;
    if (stays || waits) kept.add(step);
    else older.set(size, [...(older.get(size) ?? []), step]);
  }
  for (const [size, group] of older) {
    const scores = new Map(group.map((step) => [step, importanceOf(step.messages.map(({ message }) => message))]));
    const ranked = group.toSorted((left, right) => {
      return (scores.get(right) ?? 0) - (scores.get(left) ?? 0) || placeOf(right) - placeOf(left);
    });
    for (const step of ranked.slice(0, Math.floor(most / size))) kept.add(step);
  }
  const places = [...kept].flatMap((step) => step.messages.map(({ seq }) => seq - 1));
  return [...new Set(places)].filter((place) => place >= 0).toSorted((left, right) => left - right);
}

function placeOf({ messages }: Step): number {
  return messages[0]?.seq ?? 0;
}
