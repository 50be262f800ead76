/** Messages of the Messages API as they are kept and compared. */
import { asArray, isObject, objectsOf } from "../../../message/json.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import { hasReasoning, placeholder } from "../echo.ts";
import type { Spoken } from "../echo.ts";
import { normalised } from "../normalised.ts";

/**
 * A message without the marks of caching, with the content of one plain text as text; undefined for what is no message of
 * the API.
 */
export function anthropicValue(message: JsonObject): JsonObject | undefined {
  const { role, content } = message;
  if (role !== "user" && role !== "assistant" && role !== "system") return undefined;
  if (typeof content !== "string" && !Array.isArray(content) && !(role === "system" && content === undefined)) {
    return undefined;
  }
  return normalised(message);
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
  const blocks = asArray(message["content"]);
  if (!blocks || !hasReasoning(blocks, reasoningTypes)) return message;
  const kept = blocks.filter((block) => !isObject(block) || !reasoningTypes.has(block["type"]));
  return normalised({ ...message, content: kept.length > 0 ? kept : placeholder });
}

/** The text and the calls of a message, as an echo is told by them. */
export function spokenBlocks(message: JsonObject): Spoken {
  const { content } = message;
  if (typeof content === "string") return { text: content, calls: [] };
  const blocks = objectsOf(content);
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => (typeof text === "string" ? text : ""));
  const calls = blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => [id ?? null, name ?? null, input ?? {}]);
  return { text: texts.join(""), calls };
}
