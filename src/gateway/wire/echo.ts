/** Comparisons of a message that a client sends back with the answer that it was given. */
import { isObject, sameJson } from "../../message/json.ts";
import type { JsonValue } from "../../message/message.ts";

/** Stands for the content of a message that had nothing but reasoning: no provider takes an empty one. */
export const placeholder = "[reasoning]";

/** The words and calls of a message. */
export interface Spoken {
  readonly text: string;
  /** The calls in order, each as the values by which two of them are the same. */
  readonly calls: readonly JsonValue[];
}

/** Whether two messages say the same: the same calls, and the same text but for white space. */
export function saysSame(sent: Spoken, answer: Spoken): boolean {
  if (!sameJson(sent.calls, answer.calls)) return false;
  return sent.text === answer.text || bare(sent.text) === bare(answer.text);
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** Whether any of the blocks is reasoning. */
export function hasReasoning(blocks: readonly JsonValue[], types: ReadonlySet<JsonValue | undefined>): boolean {
  return blocks.some((block) => isObject(block) && types.has(block["type"]));
}
