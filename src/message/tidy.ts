/** Makes a single message acceptable to providers: text is well-formed Unicode, and no text is empty. */
import type { JsonValue, Message, Part, ResultContent, ToolResultPart } from "./message.ts";
import { isObject } from "./json.ts";
import { isPiece } from "./step.ts";

/**
 * Returns the message itself when it is fine, a repaired copy otherwise, and undefined when nothing is left to send.
 */
export function tidyMessage(message: Message): Message | undefined {
  let changed = false;
  const parts: Part[] = [];
  for (const part of message.parts) {
    const tidy = tidyPart(part);
    if (tidy !== part) changed = true;
    if (tidy) parts.push(tidy);
  }
  // A piece that holds the reasoning alone is part of an answer; its item is another piece.
  if (parts.every((part) => part.type === "reasoning") && !(parts.length > 0 && isPiece(message))) return undefined;
  return changed ? { ...message, parts } : message;
}

function tidyPart(part: Part): Part | undefined {
  switch (part.type) {
    case "text":
      if (part.text.trim() === "") return undefined;
      return wellFormed(part.text) ? part : { ...part, text: part.text.toWellFormed() };
    case "reasoning":
      // Signed reasoning goes back byte-exact or not at all.
      if (part.text === "" && part.signature === undefined && part.opaque === undefined) return undefined;
      if (wellFormed(part.text)) return part;
      return part.signature === undefined ? { ...part, text: part.text.toWellFormed() } : undefined;
    case "tool-call": {
      const args = tidyJson(part.args);
      const whole = part.argsText === undefined || isJson(part.argsText);
      if (args === part.args && whole) return part;
      const { argsText, ...call } = part;
      return { ...call, args, ...(whole && argsText !== undefined && { argsText }) };
    }
    case "tool-result":
      return tidyResult(part);
    default:
      return part;
  }
}

function tidyResult(part: ToolResultPart): ToolResultPart {
  if (typeof part.content === "string") {
    return wellFormed(part.content) ? part : { ...part, content: part.content.toWellFormed() };
  }
  let changed = false;
  const content: ResultContent[] = [];
  for (const item of part.content) {
    if (item.type !== "text" || (item.text.trim() !== "" && wellFormed(item.text))) {
      content.push(item);
      continue;
    }
    changed = true;
    if (item.text.trim() !== "") content.push({ ...item, text: item.text.toWellFormed() });
  }
  return changed ? { ...part, content } : part;
}

function tidyJson(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  // JSON.stringify writes a lone surrogate as \udXXX; only then is the deep copy worth making.
  if (!/\\ud[89a-f]/.test(text)) return value;
  return wellFormedJson(JSON.parse(text) as JsonValue);
}

function wellFormedJson(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedJson(item)]));
}

/** Half a call's arguments break every later request of some providers, so the call is sent with `{}`. */
function isJson(text: string): boolean {
  if (!wellFormed(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a text holds no lone surrogate. */
export function wellFormed(text: string): boolean {
  return text.isWellFormed();
}
