/** The lines of messages, as the metrics compare them. */
import type { JsonValue, Message, Part } from "../message/message.ts";
import { resultText } from "../message/message.ts";

/**
 * Prefixes that are no part of a line: numbers of editors and of `grep -n` (`  12<tab>`, `12:`, `12→`, `12| `), spaces,
 * and bars of quotations. History and windows are treated alike.
 */
const beforeLine = /^[\s|]*(?:\d+(?:\t|:|→|\| ?))?[\s|]*/;

/**
 * The text of a part: text, reasoning, a result. Arguments are read value by value, because a serialised passage of
 * several lines would be one line full of escapes.
 */
export function readablePart(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return leaves(part.args).join("\n");
    case "tool-result":
      return resultText(part);
    default:
      return "";
  }
}

function leaves(value: JsonValue): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (value === null || typeof value === "boolean") return [];
  return Object.values(value).flatMap((item: JsonValue) => leaves(item));
}

/** The lines of a text, trimmed, without their prefixes. */
export function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.replace(beforeLine, "").trim());
}

/** The set of all lines of a history. */
export class HistoryLines {
  readonly #lines = new Set<string>();

  constructor(messages: readonly Message[]) {
    for (const { parts } of messages) {
      for (const part of parts) for (const line of linesOf(readablePart(part))) if (line !== "") this.#lines.add(line);
    }
  }

  /** Whether the history has this line word for word, as {@link linesOf} gives it. */
  has(line: string): boolean {
    return this.#lines.has(line);
  }
}
