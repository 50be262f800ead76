/** Messages in the one form in which they are kept and compared, for the APIs whose messages have `content`. */
import { asArray, isObject, sameJson, without } from "../message/json.ts";
import type { JsonObject, JsonValue } from "../message/message.ts";
import type { Spoken } from "./shape.ts";

/** The mark of a place up to which a provider caches; it moves from call to call. */
const mark = "cache_control";

/** Members that hold a tool's arguments, whose names are the tool's own. */
const argumentNames: ReadonlySet<string> = new Set(["input", "arguments"]);

/** Stands for the content of a message that had nothing but reasoning: no provider takes an empty one. */
export const placeholder = "[reasoning]";

/** A message or block without marks of caching, whose texts alone stand as text. */
export function normalised(message: JsonObject): JsonObject {
  const bare = unmarked(message) as JsonObject;
  const blocks = asArray(bare["content"]);
  if (!blocks) return bare;
  const inner = blocks.map((block) => (isObject(block) && block["type"] === "tool_result" ? normalised(block) : block));
  const tidy = inner.map((block) => (isObject(block) && block["type"] === "text" ? bareText(block) : block));
  const content = textAlone(tidy) ?? (tidy.some((block, index) => block !== blocks[index]) ? tidy : blocks);
  return content === blocks ? bare : { ...bare, content };
}

/** Answers carry `citations: null`, which clients leave out. */
function bareText(block: JsonObject): JsonObject {
  return block["citations"] === null ? without(block, "citations") : block;
}

function textAlone(blocks: readonly JsonValue[]): string | undefined {
  const [only] = blocks;
  if (blocks.length !== 1 || !isObject(only) || only["type"] !== "text") return undefined;
  const { text } = only;
  return typeof text === "string" && Object.keys(only).length === 2 ? text : undefined;
}

/** The value without its marks; the same value where it has none. */
function unmarked(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map(unmarked);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  let changed = Object.hasOwn(value, mark);
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === mark) continue;
    const bare = argumentNames.has(key) ? item : unmarked(item);
    changed ||= bare !== item;
    entries.push([key, bare]);
  }
  return changed ? Object.fromEntries(entries) : value;
}

/** Whether two messages say the same: the same calls, and the same text but for white space. */
export function saysSame(sent: Spoken, answer: Spoken): boolean {
  if (!sameJson(sent.calls, answer.calls)) return false;
  return sent.text === answer.text || bareWords(sent.text) === bareWords(answer.text);
}

function bareWords(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** A message without content blocks of some types; the same object where it has none. */
export function withoutTypes(message: JsonObject, types: ReadonlySet<JsonValue | undefined>): JsonObject {
  const blocks = asArray(message["content"]);
  const kept = blocks?.filter((block) => !isObject(block) || !types.has(block["type"]));
  return kept?.length === blocks?.length ? message : { ...message, content: kept ?? [] };
}
