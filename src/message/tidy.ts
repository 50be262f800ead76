/** Makes a single message acceptable to providers: text is well-formed Unicode, and no text is empty. */
import { isObject, parseJson } from "./json.ts";
import { withParts } from "./message.ts";
import type { JsonValue, Message, Part, ResultContent } from "./message.ts";
import { isPiece } from "./step.ts";

/**
 * Returns the message itself when it is fine, a repaired copy otherwise, and undefined when nothing is left to send.
 */
export function tidyMessage(message: Message): Message | undefined {
  const parts = message.parts.flatMap((part) => tidyPart(part) ?? []);
  // A piece that holds the reasoning alone is part of an answer; its item is another piece.
  if (parts.every((part) => part.type === "reasoning") && !(parts.length > 0 && isPiece(message))) return undefined;
  const extra = message.extra && wellFormed(message.extra);
  return withParts(extra === message.extra ? message : { ...message, ...(extra && { extra }) }, parts);
}

function tidyPart(part: Part): Part | undefined {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? undefined : wellFormedPart(part);
    case "reasoning": {
      const { text, signature, opaque } = part;
      // Signed reasoning goes back byte-exact or not at all.
      if (signature !== undefined) return wellFormedPart(part) === part ? part : undefined;
      return text === "" && opaque === undefined ? undefined : wellFormedPart(part);
    }
    case "tool-call": {
      const { argsText, ...call } = part;
      return argsText === undefined || isJson(argsText) ? wellFormedPart(part) : wellFormedPart(call);
    }
    case "tool-result": {
      const { content } = part;
      if (typeof content === "string") return wellFormedPart(part);
      const kept = content.filter((item: ResultContent) => item.type !== "text" || item.text.trim() !== "");
      return wellFormedPart(kept.length === content.length ? part : { ...part, content: kept });
    }
    default:
      return wellFormedPart(part);
  }
}

/** Half a call's arguments break every later request of some providers, so the call is sent with `{}`. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return text.isWellFormed();
  } catch {
    return false;
  }
}

/** The part without lone surrogates; the very part if it has none. A result may be JSON whose value the host sends. */
export function wellFormedPart(part: Part): Part {
  return wellFormed(part, part.type === "tool-result" ? wellFormedJson : wellFormedText);
}

function wellFormed<Value>(value: Value, mended = wellFormedText): Value {
  return withoutLone(value as JsonValue, mended) as Value;
}

const wellFormedText = (text: string): string => text.toWellFormed();

/** An escape in JSON: of a whole pair, of half of one, or of another sign. */
const escaped = /\\(?:ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|(?<half>ud[89a-f][\da-f]{2})|.)/gi;

/** A text without lone surrogates, and without escaped ones if it is JSON. */
function wellFormedJson(text: string): string {
  const whole = text.toWellFormed();
  if (!/\\ud[89a-f]/i.test(whole)) return whole;
  const mended = whole.replaceAll(escaped, (sign, half?: string) => (half === undefined ? sign : "\\ufffd"));
  return mended === whole || parseJson(whole) === undefined ? whole : mended;
}

/** A value without lone surrogates, in keys either; the very value if it has none. */
function withoutLone(value: JsonValue, mended: (text: string) => string): JsonValue {
  if (typeof value === "string") return mended(value);
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => withoutLone(item, mended));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key.toWellFormed(), withoutLone(item, mended)] as const);
  const isSame = entries.every(([key, item]) => Object.hasOwn(value, key) && item === value[key]);
  return isSame ? value : Object.fromEntries(entries);
}
