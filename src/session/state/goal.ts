/** The goal of a session: the task as the user first gave it, and every revision, in the user's own words. Pure. */
import { WindrowError } from "../../errors.ts";
import { quoteHint, quoteText } from "../../message/quote.ts";
import type { Message } from "../../message/message.ts";
import type { EditRecord } from "../../message/record.ts";
import { recallId } from "../../window/stub/stub.ts";

/** One wording of the goal. */
export interface GoalText {
  readonly text: string;
  /** The message it is, for the original. */
  readonly seq?: number;
  /** When it was set (ISO 8601), for a revision. */
  readonly time?: string;
}

/** The goal: the first user message, and its revisions. */
export interface Goal {
  /** The first user message; absent while there is none. */
  readonly original?: GoalText;
  /** The texts that `session.goal.set` recorded, oldest first; the newest holds. */
  readonly revisions: readonly GoalText[];
}

/** The goal of a session that has none yet. */
export const noGoal: Goal = { revisions: [] };

/** The goal with a message of the log taken into account: the first user message with a text is the original. */
export function goalWithMessage(goal: Goal, seq: number, message: Message): Goal {
  if (goal.original || message.role !== "user" || message.status === "synthetic") return goal;
  const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return text.trim() === "" ? goal : { ...goal, original: { text, seq } };
}

/** The goal with a record of the log taken into account; one that is no readable revision changes nothing. */
export function goalWithRecord(goal: Goal, { type, data, timestamp }: EditRecord): Goal {
  if (type !== "goal" || typeof data.text !== "string") return goal;
  return { ...goal, revisions: [...goal.revisions, { text: data.text, time: timestamp }] };
}

/**
 * The record that revises the goal.
 *
 * @throws WindrowError `bad-option` for an empty text
 */
export function goalRecord(text: string, timestamp: string): EditRecord {
  const shown = typeof text === "string" ? text.toWellFormed() : "";
  if (shown.trim() === "") throw new WindrowError("bad-option", "A goal needs a text.");
  return { kind: "edit", type: "goal", data: { text: shown }, timestamp };
}

/**
 * The goal as the window shows it: each wording verbatim, under a line that says which it is.
 *
 * @param originalShown - whether the first user message stands in the window itself and is not to be repeated
 * @returns empty where there is nothing to show
 */
export function renderGoal({ original, revisions }: Goal, originalShown = false): string {
  const blocks: string[] = [];
  if (original && !originalShown) {
    const id = original.seq === undefined ? "" : ` (${recallId(original.seq)})`;
    blocks.push(
      `[The task as the user first gave it${id}, in the user's words, ${quoteHint}]\n${quoteText(original.text)}`,
    );
  }
  revisions.forEach(({ text, time }, index) => {
    const newest = index === revisions.length - 1 ? "; this one holds" : "";
    const when = time === undefined ? "" : `, set ${time}`;
    blocks.push(
      `[The goal, revision ${index + 1} of ${revisions.length}${when}, ${quoteHint}${newest}]\n${quoteText(text)}`,
    );
  });
  return blocks.join("\n\n");
}
