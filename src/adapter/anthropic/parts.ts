/** Content blocks of the Anthropic Messages API as parts, and back. */
import type {
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  Message,
  Part,
  ReasoningPart,
} from "../../message/message.ts";
import type { ResultContent, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { opaquePart } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, isObject, without, sameJson } from "../../message/json.ts";
import { absent, orAbsent, keep, keptOf, present, standIn } from "../host/host-fields.ts";

/** The adapter's name: what its messages and parts keep stands under it. */
export const anthropic = "anthropic";

/** A content block as a part; what cannot be rebuilt exactly from a known part is carried whole. */
export function blockPart(block: JsonValue, calls: CallPairing): Part {
  const object = asObject(block);
  const part = object && knownPart(object, calls);
  const isPaired = part?.type === "tool-call" || part?.type === "tool-result";
  return part && (isPaired || sameJson(ownBlock(part), block)) ? part : opaquePart(block, anthropic);
}

type KnownPart = Exclude<Part, { readonly type: "opaque" }>;

function knownPart(block: JsonObject, calls: CallPairing): KnownPart | undefined {
  const text = asString(block["text"]);
  switch (block["type"]) {
    case "text":
      return text === undefined
        ? undefined
        : { type: "text", text, ...keep(anthropic, without(block, "type", "text")) };
    case "thinking": {
      const signature = asName(block["signature"]);
      const fields = without(block, "type", "thinking", ...(signature === undefined ? [] : ["signature"]));
      const signed = signature === undefined ? {} : { signature };
      return {
        type: "reasoning",
        text: asString(block["thinking"]) ?? "",
        ...signed,
        ...keep(anthropic, fields, true),
      };
    }
    case "redacted_thinking": {
      const signature = asName(block["data"]);
      const fields = without(block, "data");
      return signature === undefined
        ? undefined
        : { type: "reasoning", text: "", signature, ...keep(anthropic, fields) };
    }
    case "image":
    case "document":
      return mediaPart(block);
    case "tool_use":
      return callPart(block, calls);
    case "tool_result":
      return resultPart(block, calls);
    default:
      return undefined;
  }
}

function callPart(block: JsonObject, calls: CallPairing): ToolCallPart {
  const id = asName(block["id"]);
  const name = asString(block["name"]) ?? "";
  const { input } = block;
  const fields = {
    ...without(block, "type", "id", "name", "input"),
    ...(id === undefined && { id: orAbsent(block["id"]) }),
    ...(typeof block["name"] !== "string" && { name: orAbsent(block["name"]) }),
    ...(input === undefined && { input: absent }),
  };
  // A stream that broke off leaves text where the API wants an object.
  const given = typeof input === "string" ? { args: {}, argsText: input } : { args: input === undefined ? {} : input };
  return {
    type: "tool-call",
    callId: calls.call(id, name),
    name,
    ...given,
    ...keep(anthropic, fields, !isObject(input)),
  };
}

function resultPart(block: JsonObject, calls: CallPairing): ToolResultPart {
  const { content, is_error: isError } = block;
  const id = asName(block["tool_use_id"]);
  const named = calls.result(id);
  const fields = {
    ...without(block, "type", "tool_use_id", "content", ...(typeof isError === "boolean" ? ["is_error"] : [])),
    ...(id === undefined && { tool_use_id: orAbsent(block["tool_use_id"]) }),
  };
  const note = content === undefined ? { content: absent } : content === null ? { content } : {};
  const blocks = asArray(content)?.map((item) => resultItem(item, calls));
  return {
    type: "tool-result",
    ...named,
    content: blocks ?? asString(content) ?? "",
    ...(typeof isError === "boolean" && { isError }),
    ...keep(anthropic, { ...fields, ...note }),
  };
}

function resultItem(block: JsonValue, calls: CallPairing): ResultContent {
  const type = asObject(block)?.["type"];
  if (type !== "text" && type !== "image" && type !== "document") return opaquePart(block, anthropic);
  return blockPart(block, calls) as ResultContent;
}

function mediaPart(block: JsonObject): ImagePart | FilePart | undefined {
  const source = asObject(block["source"]);
  const inline = source?.["type"] === "base64";
  const data = inline ? asName(source["data"]) : undefined;
  const url = source?.["type"] === "url" ? asName(source["url"]) : undefined;
  if (!source || (data === undefined && url === undefined)) return undefined;
  const image = block["type"] === "image";
  const mediaType = (inline ? asName(source["media_type"]) : undefined) ?? (image ? "image/*" : "application/pdf");
  const sourceFields = without(source, "type", "data", "url", ...(inline ? ["media_type"] : []));
  const fields = without(block, "type", "source");
  const kept = keep(
    anthropic,
    Object.keys(sourceFields).length > 0 ? { ...fields, source: sourceFields } : fields,
    true,
  );
  const media = { mediaType, ...(data !== undefined && { data }), ...(url !== undefined && { url }), ...kept };
  if (image) return { type: "image", ...media };
  const name = asName(block["title"]);
  return { type: "file", ...media, ...(name !== undefined && { name }) };
}

/** The block of a part of this API's, with all that the host had. */
function ownBlock(part: KnownPart): JsonObject {
  const kept = keptOf(anthropic, part.opaque) ?? {};
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...kept };
    case "reasoning":
      if (kept["type"] === "redacted_thinking") return { ...kept, data: part.signature ?? "" };
      return {
        type: "thinking",
        thinking: part.text,
        ...(part.signature !== undefined && { signature: part.signature }),
        ...kept,
      };
    case "image":
    case "file":
      return mediaBlock(part, kept);
    case "tool-call":
      return present({
        type: "tool_use",
        id: part.callId,
        name: part.name,
        input: part.argsText ?? part.args,
        ...kept,
      });
    case "tool-result": {
      const bare = part.content === "" && "content" in kept;
      const content =
        typeof part.content === "string"
          ? part.content
          : part.content.map((item) => ownItem(item, part.isError === true));
      const { isError } = part;
      const fields = without(kept, "content");
      const body = bare ? { content: kept["content"] ?? null } : { content };
      return present({
        type: "tool_result",
        tool_use_id: part.callId,
        ...body,
        ...(isError !== undefined && { is_error: isError }),
        ...fields,
      });
    }
  }
}

/** @param onlyText - the result is an error, whose content the API takes as text alone */
function ownItem(part: ResultContent, onlyText: boolean): JsonValue {
  if (part.type === "text") return ownBlock(part);
  if (part.type === "opaque") return part.kind.startsWith(`${anthropic}/`) ? part.data : standIn(part);
  return keptOf(anthropic, part.opaque)
    ? ownBlock(part)
    : ((onlyText ? undefined : foreignMedia(part)) ?? standIn(part));
}

function mediaBlock(part: ImagePart | FilePart, kept: JsonObject): JsonObject {
  const source =
    part.data === undefined
      ? { type: "url", url: part.url ?? "" }
      : { type: "base64", media_type: part.mediaType, data: part.data };
  const type = part.type === "image" ? "image" : "document";
  return { ...kept, type, source: { ...source, ...asObject(kept["source"]) } };
}

/** Media of another origin, where the API takes its kind; "Only HTTPS URLs are supported." */
function foreignMedia(part: ImagePart | FilePart): JsonObject | undefined {
  const kinds = part.type === "image" ? /^image\/(png|jpeg|gif|webp)$/ : /^application\/pdf$/;
  const isImageUrl = part.data === undefined && part.type === "image";
  const isHeld = part.data === undefined ? (part.url ?? "").startsWith("https:") : part.data !== "";
  if (!isHeld || (!isImageUrl && !kinds.test(part.mediaType))) return undefined;
  return mediaBlock(part, part.type === "file" && part.name !== undefined ? { title: part.name } : {});
}

/**
 * A part of any origin as a content block; undefined for reasoning that the API would refuse. Media that it takes only
 * from the user, and what it does not know at all, stand as text.
 *
 * @param isRequest - the API is to take it; otherwise it is as the host had it
 */
export function contentBlock(part: Part, message: Message, isRequest: boolean): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${anthropic}/`) ? part.data : standIn(part);
  switch (part.type) {
    case "text":
      return ownBlock(part);
    case "reasoning":
      return keptOf(anthropic, part.opaque) || isMinted(part, message) ? ownBlock(part) : undefined;
    case "image":
    case "file":
      if (keptOf(anthropic, part.opaque)) return ownBlock(part);
      return (message.role === "assistant" ? undefined : foreignMedia(part)) ?? standIn(part);
    case "tool-call":
      return isRequest
        ? { ...ownBlock(part), id: part.callId, name: part.name, input: isObject(part.args) ? part.args : {} }
        : ownBlock(part);
    case "tool-result":
      return isRequest ? { ...ownBlock(part), tool_use_id: part.callId } : ownBlock(part);
  }
}

/** A signature is only good for the provider that made it; unsigned reasoning is refused. */
function isMinted(part: ReasoningPart, message: Message): boolean {
  return part.signature !== undefined && (message.model === undefined || /claude/i.test(message.model));
}
