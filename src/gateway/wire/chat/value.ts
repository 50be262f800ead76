/** Messages of the chat-completions API as they are kept and compared. */
import { asArray, asObject, asString, isObject, objectsOf, parseJson, without } from "../../../message/json.ts";
import type { JsonObject, JsonValue } from "../../../message/message.ts";
import { hasReasoning, placeholder } from "../echo.ts";
import type { Spoken } from "../echo.ts";
import { normalised } from "../normalised.ts";

const roles: ReadonlySet<JsonValue | undefined> = new Set([
  "system",
  "developer",
  "user",
  "assistant",
  "tool",
  "function",
]);

/** A message as it is kept; undefined for what is no message of the API. */
export function chatValue(message: JsonObject): JsonObject | undefined {
  const { role, content } = message;
  const isContent = content === undefined || content === null || typeof content === "string" || Array.isArray(content);
  return roles.has(role) && isContent ? normalised(message) : undefined;
}

/** Members in which providers put reasoning. */
export const reasoningFields: readonly string[] = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

const reasoningTypes: ReadonlySet<JsonValue | undefined> = new Set(["thinking", "redacted_thinking", "reasoning"]);

/** A message without reasoning; the same object where it has none. */
export function withoutChatReasoning(message: JsonObject): JsonObject {
  const blocks = asArray(message["content"]);
  const inContent = blocks !== undefined && hasReasoning(blocks, reasoningTypes);
  if (!inContent && !reasoningFields.some((field) => Object.hasOwn(message, field))) return message;
  const bare = without(message, ...reasoningFields);
  if (!inContent) return isEmpty(bare) ? { ...bare, content: placeholder } : bare;
  const kept = blocks.filter((block) => !isObject(block) || !reasoningTypes.has(block["type"]));
  const rest = { ...bare, content: kept };
  return normalised(isEmpty(rest) ? { ...rest, content: placeholder } : rest);
}

function isEmpty({ content, tool_calls: calls, function_call: call, refusal, audio }: JsonObject): boolean {
  const hasContent = Array.isArray(content) ? content.length > 0 : (content ?? "") !== "";
  return !hasContent && [calls, call, refusal, audio].every((value) => (value ?? undefined) === undefined);
}

/** The text and the calls of a message, as an echo is told by them. */
export function spokenChat(message: JsonObject): Spoken {
  const { content, tool_calls: calls, function_call: single } = message;
  const texts = objectsOf(content).map(({ text, refusal }) => asString(text) ?? asString(refusal) ?? "");
  const said = [asString(content) ?? texts.join(""), asString(message["refusal"]) ?? ""].join("");
  const entries = [...objectsOf(calls), ...(isObject(single) ? [{ function: single }] : [])];
  return { text: said, calls: entries.map(calledWith) };
}

/** Arguments are compared as values: clients write them anew. */
function calledWith(call: JsonObject): JsonValue {
  const inner = asObject(call["function"]) ?? asObject(call["custom"]) ?? call;
  const given = inner["arguments"] ?? inner["input"] ?? inner["args"] ?? {};
  const args = typeof given === "string" ? (given === "" ? {} : (parseJson(given) ?? given)) : given;
  return [call["id"] ?? null, inner["name"] ?? null, args];
}
