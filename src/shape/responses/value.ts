/** Items of the Responses API as they are kept and compared. */
import { asArray, asName, asString, isObject, objectsOf, parseJson, sameJson, without } from "../../message/json.ts";
import type { JsonObject, JsonValue } from "../../message/message.ts";
import { saysSame } from "../value.ts";

/** Fields that a provider makes for an item, and that clients drop or change when they send it back. */
const made = ["id", "status"];

/** Fields of a text that are empty lists where there is nothing to say. */
const lists = ["annotations", "logprobs"];

const textTypes: ReadonlySet<JsonValue | undefined> = new Set(["input_text", "output_text", "text"]);

/** An item's type; `message` for one that has only a role. */
export function typeOf(item: JsonObject): string | undefined {
  return asName(item["type"]) ?? (asName(item["role"]) === undefined ? undefined : "message");
}

/**
 * An item without the fields that its provider made, with a content of one plain text as text; undefined for what is no
 * item of the API. An item of a hosted tool, which has nothing but its id to be known by, stays as it is.
 */
export function itemValue(item: JsonObject): JsonObject | undefined {
  const type = typeOf(item);
  if (type === undefined) return undefined;
  if (type === "message") {
    const isNamed = item["type"] === "message" && asName(item["role"]) !== undefined;
    return messageValue(without(item, ...made, ...(isNamed ? ["type"] : [])));
  }
  return type === "reasoning" || asName(item["call_id"]) !== undefined ? without(item, ...made) : item;
}

function messageValue(message: JsonObject): JsonObject {
  const blocks = asArray(message["content"]);
  if (!blocks) return message;
  const content = blocks.map((block) => (isObject(block) ? bareBlock(block) : block));
  const [only] = content;
  const isText =
    content.length === 1 && isObject(only) && textTypes.has(only["type"]) && Object.keys(only).length === 2;
  const text = isText ? asString(only["text"]) : undefined;
  return { ...message, content: text ?? content };
}

/** A block without lists that say nothing. */
function bareBlock(block: JsonObject): JsonObject {
  const empty = lists.filter((field) => asArray(block[field])?.length === 0);
  return empty.length === 0 ? block : without(block, ...empty);
}

/** Whether an item that a client sends back is one that it was given. */
export function isSameItem(sent: JsonObject, answer: JsonObject): boolean {
  if (sameJson(sent, answer)) return true;
  const type = typeOf(answer);
  if (type === undefined || typeOf(sent) !== type) return false;
  switch (type) {
    case "message":
      return (
        sent["role"] === answer["role"] &&
        saysSame({ text: textOf(sent), calls: [] }, { text: textOf(answer), calls: [] })
      );
    case "reasoning":
      return isSameReasoning(sent, answer);
    case "function_call":
      return isSameCall(sent, answer) && isSameArguments(sent["arguments"], answer["arguments"]);
    case "custom_tool_call":
      return isSameCall(sent, answer) && sent["input"] === answer["input"];
    default:
      return isNamedSame(sent, answer, "call_id") || isNamedSame(sent, answer, "id");
  }
}

function isNamedSame(left: JsonObject, right: JsonObject, field: string): boolean {
  return left[field] === right[field] && asName(left[field]) !== undefined;
}

function isSameCall(sent: JsonObject, answer: JsonObject): boolean {
  return isNamedSame(sent, answer, "call_id") && sent["name"] === answer["name"];
}

/** Some clients write the arguments of a call anew. */
function isSameArguments(sent: JsonValue | undefined, answer: JsonValue | undefined): boolean {
  if (sent === answer) return true;
  const [left, right] = [parseJson(asString(sent) ?? ""), parseJson(asString(answer) ?? "")];
  return left !== undefined && sameJson(left, right);
}

/** Sealed reasoning is known by its seal, any other by its words. */
function isSameReasoning(sent: JsonObject, answer: JsonObject): boolean {
  const seal = "encrypted_content";
  const [left, right] = [asName(sent[seal]), asName(answer[seal])];
  return left !== undefined && right !== undefined ? left === right : said(sent) === said(answer);
}

function said({ summary, content }: JsonObject): string {
  return [...objectsOf(summary), ...objectsOf(content)].map(({ text }) => asString(text) ?? "").join("");
}

/** The words of a message. */
function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  return objectsOf(content)
    .map(({ text, refusal }) => asString(text) ?? asString(refusal) ?? "")
    .join("");
}
