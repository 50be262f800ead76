/** Content blocks of pi as parts and back. Fields that have no place in a part are kept with it. */
import type { JsonObject, JsonValue, Part, ResultContent } from "../../message/message.ts";
import { opaquePart, opaqueRest, textParts } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined } from "../../message/json.ts";

const format = "pi";

/** A value as JSON carries it; undefined for what JSON cannot carry (a cycle, a bigint). */
export function plain(value: JsonValue): JsonValue | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

/** The parts of a message's content; undefined where it is neither a string nor a list. */
export function contentParts(content: JsonValue | undefined): readonly Part[] | undefined {
  if (typeof content === "string") return textParts(content);
  return asArray(content)?.map((block) => blockPart(block));
}

function blockPart(block: JsonValue): Part {
  const object = asObject(block) ?? {};
  const text = asString(object["text"]);
  const thinking = asString(object["thinking"]);
  const data = asString(object["data"]);
  const mediaType = asString(object["mimeType"]);
  switch (object["type"]) {
    case "text":
      if (text !== undefined) return { type: "text", text, ...unread(object, ["type", "text"]) };
      break;
    case "thinking":
      if (thinking !== undefined) {
        const signature = asName(object["thinkingSignature"]);
        const known = ["type", "thinking", ...(signature === undefined ? [] : ["thinkingSignature"])];
        return { type: "reasoning", text: thinking, ...defined({ signature }), ...unread(object, known) };
      }
      break;
    case "image":
      if (data !== undefined && mediaType !== undefined) {
        return { type: "image", mediaType, data, ...unread(object, ["type", "data", "mimeType"]) };
      }
      break;
    case "toolCall": {
      const callId = asName(object["id"]);
      const name = asName(object["name"]);
      const args = object["arguments"] === undefined ? undefined : plain(object["arguments"]);
      if (callId !== undefined && name !== undefined && args !== undefined) {
        const known = ["type", "id", "name", "arguments"];
        return { type: "tool-call", callId, name, args, ...unread(object, known) };
      }
    }
  }
  return opaquePart(plain(block) ?? null, format);
}

function unread(object: JsonObject, known: readonly string[]): { opaque?: JsonValue } {
  const { opaque } = opaqueRest(object, known);
  const copy = opaque === undefined ? undefined : plain(opaque);
  return copy === undefined || Object.keys(copy as JsonObject).length === 0 ? {} : { opaque: copy };
}

/** The text of content that is nothing else: a string, or one bare text block. */
export function plainText(content: JsonValue | undefined): string | undefined {
  const block = asObject(asArray(content)?.length === 1 ? asArray(content)?.[0] : undefined);
  const bare = block?.["type"] === "text" && Object.keys(block).length === 2;
  return asString(content) ?? (bare ? asString(block["text"]) : undefined);
}

/** A part as content of a tool result. */
export function resultItem(part: Part): ResultContent {
  if (part.type === "text" || part.type === "image" || part.type === "opaque") return part;
  return opaquePart(blockOf(part), format);
}

/**
 * Parts as the content of a message.
 *
 * @param text - whether a single text stands there as a string
 */
export function contentOf(parts: readonly Part[], text: boolean): JsonValue {
  const [only] = parts;
  if (text && parts.length === 0) return "";
  if (text && parts.length === 1 && only?.type === "text") return only.text;
  return parts.map((part) => blockOf(part));
}

/** A part as a block. */
export function blockOf(part: Part): JsonObject {
  const opaque = "opaque" in part ? asObject(part.opaque) : undefined;
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...opaque };
    case "reasoning":
      return { type: "thinking", thinking: part.text, ...defined({ thinkingSignature: part.signature }), ...opaque };
    case "image":
      return { type: "image", data: part.data ?? "", mimeType: part.mediaType, ...opaque };
    case "tool-call":
      return { type: "toolCall", id: part.callId, name: part.name, arguments: part.args, ...opaque };
    case "tool-result":
      return { type: "text", text: JSON.stringify(part) };
    case "file":
      return { type: "text", text: `[file ${part.name ?? part.mediaType}]` };
    case "opaque":
      return asObject(part.data) ?? { type: "text", text: JSON.stringify(part.data) };
  }
}
