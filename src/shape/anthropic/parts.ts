/** Content blocks of the Anthropic Messages API as parts, and back. */
import { asArray, asName, asObject, asString, isObject, sameJson, textOf, without } from "../../message/json.ts";
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
import { callArguments, opaquePart, textParts } from "../../message/parts.ts";
import type { CallPairing } from "../../message/parts.ts";
import { absent, orAbsent, present, standIn } from "../host-fields.ts";
import { exactly } from "../keeper.ts";
import type { Keeper } from "../keeper.ts";

/** The shape's name: what its messages and parts keep stands under it. */
export const anthropic = "anthropic";

const whole = exactly(anthropic);

/** The content of a message, text or blocks, as parts. */
export function contentParts(content: JsonValue | undefined, calls: CallPairing, keeper = whole): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  return (asArray(content) ?? []).map((block) => blockPart(block, calls, keeper));
}

/** A content block as a part; where it has to come back exactly, one that would not is carried whole. */
function blockPart(block: JsonValue, calls: CallPairing, keeper: Keeper): Part {
  if (typeof block === "string" && !keeper.isExact) return { type: "text", text: block };
  const part = isObject(block) ? knownPart(block, calls, keeper) : undefined;
  const isPaired = part?.type === "tool-call" || part?.type === "tool-result";
  const isHeld = part && (!keeper.isExact || isPaired || sameJson(ownBlock(part, keeper), block));
  return isHeld ? part : opaquePart(block, keeper.kind);
}

type KnownPart = Exclude<Part, { readonly type: "opaque" }>;

function knownPart(block: JsonObject, calls: CallPairing, keeper: Keeper): KnownPart | undefined {
  const text = asString(block["text"]);
  switch (block["type"]) {
    case "text":
      return text === undefined ? undefined : { type: "text", text, ...keeper.keep(without(block, "type", "text")) };
    case "thinking": {
      const signature = asName(block["signature"]);
      const isSigned = signature !== undefined;
      const fields = without(block, "type", "thinking", ...(isSigned || !keeper.isExact ? ["signature"] : []));
      const signed = isSigned ? { signature } : {};
      return {
        type: "reasoning",
        text: asString(block["thinking"]) ?? "",
        ...signed,
        ...keeper.keep(fields, { isOwn: true }),
      };
    }
    case "redacted_thinking": {
      const signature = asName(block["data"]);
      const kept = keeper.keep(without(block, "data"));
      return signature === undefined ? undefined : { type: "reasoning", text: "", signature, ...kept };
    }
    case "image":
    case "document":
      return mediaPart(block, keeper);
    case "tool_use":
      return callPart(block, calls, keeper);
    case "tool_result":
      return resultPart(block, calls, keeper);
    default:
      return undefined;
  }
}

function callPart(block: JsonObject, calls: CallPairing, keeper: Keeper): ToolCallPart {
  const id = asName(block["id"]);
  const name = asString(block["name"]) ?? "";
  const { input } = block;
  const odd = {
    ...(id === undefined && { id: orAbsent(block["id"]) }),
    ...(typeof block["name"] !== "string" && { name: orAbsent(block["name"]) }),
    ...(input === undefined && { input: absent }),
  };
  const isRead = !keeper.isExact || input === undefined;
  // A stream that broke off leaves text where the API wants an object.
  const given = typeof input === "string" ? { args: {}, argsText: input } : { args: input ?? null };
  return {
    type: "tool-call",
    callId: calls.call(id, name),
    name,
    ...(isRead ? callArguments(input) : given),
    ...keeper.keep(without(block, "type", "id", "name", "input"), { odd, isOwn: !isObject(input) }),
  };
}

function resultPart(block: JsonObject, calls: CallPairing, keeper: Keeper): ToolResultPart {
  const { content, is_error: isError } = block;
  const { isExact } = keeper;
  const id = asName(block["tool_use_id"]);
  const isFlag = isExact ? typeof isError === "boolean" : isError === true;
  const read = [...(isFlag || !isExact ? ["is_error"] : []), ...(isExact ? [] : ["name"])];
  const odd = {
    ...(id === undefined && { tool_use_id: orAbsent(block["tool_use_id"]) }),
    ...(typeof content !== "string" && !Array.isArray(content) && { content: orAbsent(content) }),
  };
  return {
    type: "tool-result",
    ...calls.result(id, isExact ? undefined : asName(block["name"])),
    // Where nothing is kept beside it, what is no text stands as JSON.
    content:
      asArray(content)?.map((item) => resultItem(item, calls, keeper)) ??
      (isExact ? (asString(content) ?? "") : textOf(content)),
    ...(isFlag && { isError: isError === true }),
    ...keeper.keep(without(block, "type", "tool_use_id", "content", ...read), { odd }),
  };
}

function resultItem(block: JsonValue, calls: CallPairing, keeper: Keeper): ResultContent {
  const type = asObject(block)?.["type"];
  const isContent = type === "text" || type === "image" || type === "document" || !isObject(block);
  return isContent ? (blockPart(block, calls, keeper) as ResultContent) : opaquePart(block, keeper.kind);
}

function mediaPart(block: JsonObject, keeper: Keeper): ImagePart | FilePart | undefined {
  const source = asObject(block["source"]);
  const inline = source?.["type"] === "base64";
  const data = inline ? asName(source["data"]) : undefined;
  const url = source?.["type"] === "url" ? asName(source["url"]) : undefined;
  if (!source || (data === undefined && url === undefined)) return undefined;
  const image = block["type"] === "image";
  const mediaType = (inline ? asName(source["media_type"]) : undefined) ?? (image ? "image/*" : "application/pdf");
  const rest = without(source, "type", "data", "url", ...(inline ? ["media_type"] : []));
  const fields = without(block, "type", "source", ...(keeper.isExact ? [] : ["title"]));
  const odd = Object.keys(rest).length > 0 ? { source: rest } : {};
  const kept = keeper.keep(fields, { odd, isOwn: true });
  const media = { mediaType, ...(data !== undefined && { data }), ...(url !== undefined && { url }), ...kept };
  if (image) return { type: "image", ...media };
  const name = asName(block["title"]);
  return { type: "file", ...media, ...(name !== undefined && { name }) };
}

/** The block of a part of this API's, with all that was kept of it. */
function ownBlock(part: KnownPart, keeper: Keeper): JsonObject {
  const kept = keeper.of(part.opaque) ?? {};
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...kept };
    case "reasoning":
      if (kept["type"] === "redacted_thinking") return { ...kept, data: part.signature ?? "" };
      return {
        type: "thinking",
        thinking: part.text,
        ...((part.signature !== undefined || !keeper.isExact) && { signature: part.signature ?? "" }),
        ...kept,
      };
    case "image":
    case "file":
      return mediaBlock(part, kept);
    case "tool-call": {
      const input = (keeper.isExact ? part.argsText : undefined) ?? part.args;
      return present({ type: "tool_use", id: part.callId, name: part.name, input, ...kept });
    }
    case "tool-result": {
      const { content, isError } = part;
      const isBare = content === "" && "content" in kept;
      const blocks = typeof content === "string" ? content : content.flatMap((item) => itemBlock(item, part, keeper));
      return present({
        type: "tool_result",
        tool_use_id: part.callId,
        content: isBare ? (kept["content"] ?? null) : blocks,
        ...(isError !== undefined && (isError || keeper.isExact) && { is_error: isError }),
        ...without(kept, "content"),
      });
    }
  }
}

function itemBlock(part: ResultContent, { isError }: ToolResultPart, keeper: Keeper): readonly JsonValue[] {
  if (!keeper.isExact) return recordedBlock(part, keeper);
  if (part.type === "text") return [ownBlock(part, keeper)];
  if (part.type === "opaque") return [part.kind.startsWith(`${anthropic}/`) ? part.data : standIn(part)];
  if (keeper.of(part.opaque)) return [ownBlock(part, keeper)];
  // The API takes the content of an error as text alone.
  return [(isError === true ? undefined : foreignMedia(part)) ?? standIn(part)];
}

function mediaBlock(part: ImagePart | FilePart, kept: JsonObject): JsonObject {
  const source =
    part.data === undefined
      ? { type: "url", url: part.url ?? "" }
      : { type: "base64", media_type: part.mediaType, data: part.data };
  const type = part.type === "image" ? "image" : "document";
  return { ...kept, type, source: { ...source, ...asObject(kept["source"]) } };
}

function titleOf(part: ImagePart | FilePart): JsonObject {
  return part.type === "file" && part.name !== undefined ? { title: part.name } : {};
}

/** Media of another origin, where the API takes its kind; "Only HTTPS URLs are supported." */
function foreignMedia(part: ImagePart | FilePart): JsonObject | undefined {
  const kinds = part.type === "image" ? /^image\/(png|jpeg|gif|webp)$/ : /^application\/pdf$/;
  const isImageUrl = part.data === undefined && part.type === "image";
  const isHeld = part.data === undefined ? (part.url ?? "").startsWith("https:") : part.data !== "";
  if (!isHeld || (!isImageUrl && !kinds.test(part.mediaType))) return undefined;
  return mediaBlock(part, titleOf(part));
}

/**
 * A part of any origin as a content block; undefined for reasoning that the API would refuse. Media that it takes only
 * from the user, and what it does not know at all, stand as text.
 *
 * @param isRequest - the API is to take it; otherwise it is as the host had it
 */
export function contentBlock(part: Part, message: Message, isRequest: boolean): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${anthropic}/`) ? part.data : standIn(part);
  const own = (): JsonObject => ownBlock(part, whole);
  switch (part.type) {
    case "text":
      return own();
    case "reasoning":
      return whole.of(part.opaque) || isMinted(part, message) ? own() : undefined;
    case "image":
    case "file":
      if (whole.of(part.opaque)) return own();
      return (message.role === "assistant" ? undefined : foreignMedia(part)) ?? standIn(part);
    case "tool-call":
      return isRequest
        ? { ...own(), id: part.callId, name: part.name, input: isObject(part.args) ? part.args : {} }
        : own();
    case "tool-result":
      return isRequest ? { ...own(), tool_use_id: part.callId } : own();
  }
}

/** A signature is only good for the provider that made it; unsigned reasoning is refused. */
function isMinted(part: ReasoningPart, message: Message): boolean {
  return part.signature !== undefined && (message.model === undefined || /claude/i.test(message.model));
}

/** A part of any origin as a block of a transcript; none for what the API has no block for. */
export function recordedBlock(part: Part, keeper: Keeper): readonly JsonValue[] {
  if (part.type === "opaque") {
    const isOwn = [keeper.kind, anthropic].some((kind) => part.kind.startsWith(`${kind}/`));
    return isOwn ? [part.data] : [];
  }
  if (part.type !== "image" && part.type !== "file") return [ownBlock(part, keeper)];
  if (part.data === undefined && part.url === undefined) return [];
  return [{ ...mediaBlock(part, {}), ...titleOf(part), ...keeper.of(part.opaque) }];
}
