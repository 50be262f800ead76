/** The lines of messages, as the metrics compare them. */
import type { JsonValue, Part } from "../message/message.ts";
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
  return text.split("\n").map((line) => (beginsInWord(line) ? line : line.replace(beforeLine, "")).trim());
}

/** Whether a line begins with a letter of ASCII, before which {@link beforeLine} finds nothing. */
function beginsInWord(line: string): boolean {
  const code = line.charCodeAt(0) | 32;
  return code >= 97 && code <= 122;
}
