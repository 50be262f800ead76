/** Makes a single message acceptable to providers: text is well-formed Unicode, and no text is empty. */
import { isObject } from "./json.ts";
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
      return part.text.trim() === "" ? undefined : wellFormed(part);
    case "reasoning": {
      const { text, signature, opaque } = part;
      // Signed reasoning goes back byte-exact or not at all.
      if (signature !== undefined) return wellFormed(part) === part ? part : undefined;
      return text === "" && opaque === undefined ? undefined : wellFormed(part);
    }
    case "tool-call": {
      const { argsText, ...call } = part;
      return argsText === undefined || isJson(argsText) ? wellFormed(part) : wellFormed(call);
    }
    case "tool-result": {
      const { content } = part;
      if (typeof content === "string") return wellFormed(part);
      const kept = content.filter((item: ResultContent) => item.type !== "text" || item.text.trim() !== "");
      return wellFormed(kept.length === content.length ? part : { ...part, content: kept });
    }
    default:
      return wellFormed(part);
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

/** A value without lone surrogates, in keys either; the very value if it has none. */
function wellFormed<Value>(value: Value): Value {
  return withoutLone(value as JsonValue) as Value;
}

function withoutLone(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map(withoutLone);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key.toWellFormed(), withoutLone(item)] as const);
  const isSame = entries.every(([key, item]) => Object.hasOwn(value, key) && item === value[key]);
  return isSame ? value : Object.fromEntries(entries);
}
