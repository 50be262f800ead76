/** Contents of Gemini's API as they are kept and compared. */
import { asArray, asObject, asString, isObject, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Spoken } from "../shape.ts";
import { placeholder, saysSame } from "../value.ts";

/** A content as it is kept, which is as it came; undefined for what is none of the API's. */
export function contentValue(content: JsonObject): JsonObject | undefined {
  const { role, parts } = content;
  const isRole = role === undefined || typeof role === "string";
  const isParts = parts === undefined || Array.isArray(parts);
  return isRole && isParts && (role !== undefined || parts !== undefined) ? content : undefined;
}

/** The parts of a content that are objects. */
export function partsOf({ parts }: JsonObject): readonly JsonObject[] {
  return isObject(parts) ? [parts] : objectsOf(parts);
}

function isThought(part: JsonValue): boolean {
  return isObject(part) && part["thought"] === true;
}

/**
 * A content without thoughts; the same object where it has none. A signature on a call or on a text stays: the API asks for
 * it in the turn that runs.
 */
export function withoutThoughts(content: JsonObject): JsonObject {
  const parts = asArray(content["parts"]);
  if (!parts?.some(isThought)) return content;
  const kept = parts.filter((part) => !isThought(part));
  return { ...content, parts: kept.length > 0 ? kept : [{ text: placeholder }] };
}

/** The text and the calls of a content, as an echo is told by them; clients drop thoughts and put texts together. */
function spokenContent(content: JsonObject): Spoken {
  const parts = partsOf(content).filter((part) => !isThought(part));
  const calls = parts.flatMap((part): readonly JsonValue[] => {
    const call = asObject(part["functionCall"]);
    return call ? [[call["name"] ?? null, call["args"] ?? {}]] : [];
  });
  return { text: parts.map(({ text }) => asString(text) ?? "").join(""), calls };
}

/** Whether a content that a client sends back is the answer that it was given. */
export function isContentEcho(sent: JsonObject, answer: JsonObject): boolean {
  return sent["role"] === "model" && saysSame(spokenContent(sent), spokenContent(answer));
}
