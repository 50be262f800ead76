/** Content blocks and tool calls of the chat-completions API as parts, and back. */
import { parseJson, isObject, without, sameJson } from "../../message/json.ts";
import type { FilePart, ImagePart, JsonObject, JsonValue, OpaquePart, Part, TextPart } from "../../message/message.ts";
import type { ResultContent, ToolCallPart } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { dataOfUrl, opaquePart } from "../../message/parts.ts";
import { asName, asObject, asString } from "../../message/json.ts";
import { absent, orAbsent, keep, keptOf, present, standIn } from "../host-fields.ts";

/** The adapter's name: what its messages and parts keep stands under it. */
export const chat = "openai-chat";

/** The kind of an opaque part that is an entry of `tool_calls`. */
export const callKind = `${chat}:tool_calls`;
/** The kind of an opaque part that is the message's `audio`. */
export const audioKind = `${chat}:audio`;

/** Marks arguments that were no text. */
const asValue = "windrow:value";

/** A content block as a part; what cannot be rebuilt exactly from a known part is carried whole. */
export function blockPart(block: JsonValue): ResultContent {
  const object = asObject(block);
  const part = object && knownPart(object);
  return part && sameJson(partBlock(part), block) ? part : opaquePart(block, chat);
}

function knownPart(block: JsonObject): Exclude<ResultContent, OpaquePart> | undefined {
  const type = asString(block["type"]) ?? "";
  const text = asString(block[type]);
  const inner = asObject(block[type]);
  if ((type === "text" || type === "refusal") && text !== undefined) {
    const fields = without(block, "type", type);
    return { type: "text", text, ...keep(chat, type === "refusal" ? { ...fields, type } : fields) };
  }
  if (!inner) return undefined;
  const url = asName(inner["url"]);
  if (type === "image_url" && url !== undefined) {
    return { type: "image", ...mediaOf(url, "image/*"), ...beside(block, type, "url") };
  }
  const audio = asName(inner["data"]);
  const format = asName(inner["format"]);
  if (type === "input_audio" && audio !== undefined && format !== undefined) {
    return { type: "file", mediaType: `audio/${format}`, data: audio, ...beside(block, type, "data", "format") };
  }
  const file = asName(inner["file_data"]);
  const name = asName(inner["filename"]);
  if (type !== "file" || file === undefined) return undefined;
  const named = name === undefined ? {} : { name };
  return {
    type,
    ...mediaOf(file, "application/octet-stream"),
    ...named,
    ...beside(block, type, "file_data", "filename"),
  };
}

/** Media by its base64 where a `data:` URL can be written again from it, else by the URL. */
function mediaOf(url: string, unknown: string): { readonly mediaType: string; data?: string; url?: string } {
  const inline = dataOfUrl(url);
  if (!inline) return { mediaType: unknown, url };
  return url.startsWith(`data:${inline.mediaType};base64,`) ? inline : { mediaType: inline.mediaType, url };
}

function beside(block: JsonObject, field: string, ...read: readonly string[]): { readonly opaque?: JsonObject } {
  const fields = without(block, "type", field);
  return keep(chat, { ...fields, [field]: without(asObject(block[field]) ?? {}, ...read) }, true);
}

/** The block of a part that came from this API; undefined for a part of another origin that this API may not take. */
function partBlock(part: ResultContent): JsonObject | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${chat}/`) && isObject(part.data) ? part.data : undefined;
  const kept = keptOf(chat, part.opaque);
  if (part.type === "text") return textBlock(part, kept ?? {});
  if (!kept) return undefined;
  if (part.type === "image") return mediaBlock("image_url", kept, { url: urlOf(part) });
  if ("input_audio" in kept) {
    return mediaBlock("input_audio", kept, { data: part.data ?? "", format: part.mediaType.replace("audio/", "") });
  }
  return mediaBlock("file", kept, { file_data: urlOf(part), ...(part.name !== undefined && { filename: part.name }) });
}

function textBlock({ text }: TextPart, kept: JsonObject): JsonObject {
  return kept["type"] === "refusal" ? { ...kept, refusal: text } : { type: "text", text, ...kept };
}

function mediaBlock(type: string, kept: JsonObject, inner: JsonObject): JsonObject {
  return { ...kept, type, [type]: { ...inner, ...asObject(kept[type]) } };
}

function urlOf(part: ImagePart | FilePart): string {
  return part.url ?? `data:${part.mediaType};base64,${part.data ?? ""}`;
}

/**
 * A part of any origin as a content block. Media that the API takes only from the user, and what it does not know at
 * all, stand as text.
 */
export function contentBlock(part: Part, fromUser: boolean): JsonValue {
  if (part.type === "opaque" && part.kind.startsWith(`${chat}/`)) return part.data;
  if (part.type === "reasoning" || part.type === "tool-call" || part.type === "tool-result") return standIn(part);
  return partBlock(part) ?? (fromUser ? foreignMedia(part) : undefined) ?? standIn(part);
}

function foreignMedia(part: ResultContent): JsonObject | undefined {
  const isHeld = part.type !== "opaque" && part.type !== "text" && part.data !== undefined && part.data !== "";
  if (part.type === "image") {
    const isTaken = isHeld ? /^image\/(png|jpeg|gif|webp)$/.test(part.mediaType) : /^https?:/.test(part.url ?? "");
    return isTaken ? { type: "image_url", image_url: { url: urlOf(part) } } : undefined;
  }
  if (part.type !== "file" || !isHeld || part.mediaType !== "application/pdf") return undefined;
  return { type: "file", file: { filename: part.name ?? "document.pdf", file_data: urlOf(part) } };
}

/** An entry of `tool_calls` as a part; an entry of another type is carried whole. */
export function callPart(call: JsonValue, calls: CallPairing): Part {
  const object = asObject(call) ?? {};
  const field = isObject(object["custom"]) ? "custom" : "function";
  const inner = asObject(object[field]);
  if (!inner) return { type: "opaque", kind: callKind, data: call };
  const name = asString(inner["name"]) ?? "";
  const id = asName(object["id"]);
  const args = argumentsOf(inner, field === "custom" ? "input" : "arguments");
  const kept = {
    ...without(object, field, "id", "type"),
    ...(id === undefined && { id: orAbsent(object["id"]) }),
    ...(object["type"] !== field && { type: orAbsent(object["type"]) }),
    ...((field === "custom" || Object.keys(args.kept).length > 0) && { [field]: args.kept }),
  };
  return { type: "tool-call", callId: calls.call(id, name), name, ...args.given, ...keep(chat, kept, args.odd) };
}

/**
 * A call as an entry of `tool_calls`.
 *
 * @param isRequest - the API is to take it, also if the host had an empty id
 */
export function callEntry(part: ToolCallPart, isRequest: boolean): JsonObject {
  const kept = keptOf(chat, part.opaque) ?? {};
  const field = isObject(kept["custom"]) ? "custom" : "function";
  const called = calledWith(part, asObject(kept[field]) ?? {}, field);
  const entry = present({ id: part.callId, type: field, ...kept, [field]: called });
  return isRequest && "id" in entry ? { ...entry, id: part.callId, [field]: { ...called, name: part.name } } : entry;
}

/** The one call of a message in the API's first form, as a part; its result is found by the function's name. */
export function functionCallPart(call: JsonObject, calls: CallPairing): ToolCallPart | undefined {
  const name = asName(call["name"]);
  if (name === undefined) return undefined;
  const args = argumentsOf(call, "arguments");
  const part: ToolCallPart = {
    type: "tool-call",
    callId: calls.call(undefined, name),
    name,
    ...args.given,
    ...keep(chat, { function_call: args.kept }),
  };
  return sameJson(functionCall(part), call) ? part : undefined;
}

/** The `function_call` of a part that came as one. */
export function functionCall(part: ToolCallPart): JsonObject | undefined {
  const kept = asObject(keptOf(chat, part.opaque)?.["function_call"]);
  return kept && calledWith(part, kept, "function_call");
}

interface Arguments {
  readonly given: { readonly args: JsonValue; readonly argsText?: string };
  /** Fields beside name and arguments, and a mark where the arguments were no text. */
  readonly kept: JsonObject;
  /** Arguments that another host's call would not go out with as they are. */
  readonly odd: boolean;
}

function argumentsOf(inner: JsonObject, field: string): Arguments {
  const value = inner[field];
  const named = typeof inner["name"] === "string" ? {} : { name: orAbsent(inner["name"]) };
  const kept = { ...without(inner, "name", field), ...named };
  if (value === undefined) return { given: { args: {} }, kept: { ...kept, [field]: absent }, odd: true };
  if (typeof value !== "string") return { given: { args: value }, kept: { ...kept, [field]: asValue }, odd: true };
  if (field === "input") return { given: { args: value }, kept, odd: true };
  const args = parseJson(value);
  if (args === undefined) return { given: { args: {}, argsText: value }, kept, odd: true };
  const exact = JSON.stringify(args) === value;
  return { given: exact ? { args } : { args, argsText: value }, kept, odd: !isObject(args) };
}

function calledWith(part: ToolCallPart, kept: JsonObject, form: string): JsonObject {
  const field = form === "custom" ? "input" : "arguments";
  const own = keptOf(chat, part.opaque) !== undefined;
  const exact = kept[field] === asValue || form === "custom";
  const value = kept[field] === absent ? absent : exact ? part.args : argumentsText(part, own);
  return present({ name: part.name, ...kept, [field]: value });
}

/** The text as it came, unless an edit changed the arguments since; of another host, an object and nothing else. */
function argumentsText({ args, argsText }: ToolCallPart, own: boolean): string {
  const value = argsText === undefined ? undefined : parseJson(argsText);
  if (argsText !== undefined && (value === undefined ? own : sameJson(value, args))) return argsText;
  return JSON.stringify(own || isObject(args) ? args : { input: args });
}
