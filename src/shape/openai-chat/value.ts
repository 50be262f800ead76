/** Messages of the chat-completions API as they are kept and compared. */
import { asObject, asString, isObject, objectsOf, parseJson, without } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import type { Spoken } from "../shape.ts";
import { normalised, placeholder, saysSame, withoutTypes } from "../value.ts";
import { chatFault } from "./read.ts";

/** A message as it is kept; undefined for what is no message of the API. */
export function chatValue(message: JsonObject): JsonObject | undefined {
  return chatFault(message) === undefined ? normalised(message) : undefined;
}

/** Members in which providers put reasoning. */
const reasoningFields = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

const reasoningTypes: ReadonlySet<JsonValue | undefined> = new Set(["thinking", "redacted_thinking", "reasoning"]);

/** A message without reasoning; the same object where it has none. */
export function withoutChatReasoning(message: JsonObject): JsonObject {
  const isField = reasoningFields.some((field) => Object.hasOwn(message, field));
  const spoken = withoutTypes(message, reasoningTypes);
  if (!isField && spoken === message) return message;
  const bare = without(spoken, ...reasoningFields);
  const left = isEmpty(bare) ? { ...bare, content: placeholder } : bare;
  return spoken === message ? left : normalised(left);
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

/** Whether a message that a client sends back is the answer that it was given. */
export function isChatEcho(sent: JsonObject, answer: JsonObject): boolean {
  return sent["role"] === "assistant" && saysSame(spokenChat(sent), spokenChat(answer));
}
