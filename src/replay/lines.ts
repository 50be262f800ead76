/** What messages say, line by line, as the metrics compare it. */
import type { JsonValue, Message, Part } from "../message/message.ts";
import { resultText } from "../message/message.ts";

/**
 * What stands before a line and is no part of it: what editors and `grep -n` put there (`  12<tab>`, `12:`, `12→`, `12| `),
 * and spaces and bars, as quotations have. The same for the history and for windows.
 */
const beforeLine = /^[\s|]*(?:\d+(?:\t|:|→|\| ?))?[\s|]*/;

/**
 * What a part says: text, reasoning, a result. Arguments are read leaf by leaf: serialised, a passage of several lines
 * would be one line full of escapes.
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

/** The lines of a text, trimmed, without the number or the mark that was put before them. */
export function linesOf(text: string): readonly string[] {
  return text.split("\n").map((line) => line.replace(beforeLine, "").trim());
}

/** Every line a history has. */
export class HistoryLines {
  readonly #lines = new Set<string>();

  constructor(messages: readonly Message[]) {
    for (const { parts } of messages) {
      for (const part of parts) for (const line of linesOf(readablePart(part))) if (line !== "") this.#lines.add(line);
    }
  }

  /** Whether the history has this line, as {@link linesOf} gives it, word for word. */
  has(line: string): boolean {
    return this.#lines.has(line);
  }
}
