/** Messages of the Messages API as they are kept and compared. */
import { asArray, asString, isObject, objectsOf } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Spoken } from "../shape.ts";
import { normalised, placeholder, withoutTypes } from "../value.ts";

/** The reason why a value is no message of the API; undefined for one that is. */
export function anthropicFault({ role, content }: JsonObject): string | undefined {
  if (role !== "user" && role !== "assistant" && role !== "system")
    return "its role is none of user, assistant, system";
  const isContent = typeof content === "string" || Array.isArray(content);
  return isContent || (role === "system" && content === undefined)
    ? undefined
    : "its content is neither text nor an array of blocks";
}

/**
 * A message without the marks of caching, with the content of one plain text as text; undefined for what is no message of
 * the API.
 */
export function anthropicValue(message: JsonObject): JsonObject | undefined {
  return anthropicFault(message) === undefined ? normalised(message) : undefined;
}

const reasoningTypes: ReadonlySet<JsonValue | undefined> = new Set(["thinking", "redacted_thinking"]);

/** The thinking that a message begins with. */
export function leadingThinking({ content }: JsonObject): readonly JsonValue[] {
  const blocks = asArray(content) ?? [];
  const end = blocks.findIndex((block) => !isObject(block) || !reasoningTypes.has(block["type"]));
  return end === -1 ? blocks : blocks.slice(0, end);
}

/** A message without thinking; the same object where it has none. */
export function withoutThinking(message: JsonObject): JsonObject {
  const bare = withoutTypes(message, reasoningTypes);
  if (bare === message) return message;
  return normalised(asArray(bare["content"])?.length === 0 ? { ...bare, content: placeholder } : bare);
}

/** The text and the calls of a message, as an echo is told by them. */
export function spokenBlocks({ content }: JsonObject): Spoken {
  if (typeof content === "string") return { text: content, calls: [] };
  const blocks = objectsOf(content);
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => asString(text) ?? "");
  const calls = blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => [id ?? null, name ?? null, input ?? {}]);
  return { text: texts.join(""), calls };
}
