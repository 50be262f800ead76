/** Parts of Gemini's `Content` as Windrow's, and back. */
import { parseJson, isObject, without, sameJson } from "../../message/json.ts";
import type { FilePart, ImagePart, JsonObject, JsonValue, Message, Part } from "../../message/message.ts";
import type { ResultContent, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { callArguments, opaquePart, thoughtSignature } from "../../message/parts.ts";
import type { CallPairing } from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined } from "../../message/json.ts";
import { absent, keptOf, orAbsent, present, standIn } from "../host-fields.ts";
import { exactly } from "../keeper.ts";
import type { Keeper } from "../keeper.ts";

/** The provider's name, under which messages and parts have the fields of this API. */
export const google = "google";

/** Kinds of opaque parts begin with it. */
const kind = "gemini";

/** Fields of a function response that say nothing but its text. */
const textFields = ["result", "output", "error", "content"];

const whole = exactly(google, kind);

type KnownPart = Exclude<Part, { readonly type: "opaque" }>;

/** A part of the API as one of Windrow's; where it has to come back exactly, one that would not is carried whole. */
export function partOf(block: JsonValue, calls: CallPairing, keeper = whole): Part {
  if (typeof block === "string" && !keeper.isExact) return { type: "text", text: block };
  const part = isObject(block) ? knownPart(block, calls, keeper) : undefined;
  const isHeld = part && (!keeper.isExact || part.type === "tool-call" || sameJson(ownBlock(part, keeper), block));
  return isHeld ? part : opaque(block, keeper);
}

function opaque(block: JsonValue, keeper: Keeper): Extract<Part, { type: "opaque" }> {
  if (!keeper.isExact) return opaquePart(block, keeper.kind);
  const [first] = Object.entries(asObject(block) ?? {}).filter(([, value]) => isObject(value));
  return { type: "opaque", kind: `${kind}/${first?.[0] ?? "value"}`, data: block };
}

function knownPart(block: JsonObject, calls: CallPairing, keeper: Keeper): KnownPart | undefined {
  const text = asString(block["text"]);
  if (text !== undefined) return textPart(block, text, keeper);
  const call = asObject(block["functionCall"]);
  if (call) return callPart(block, call, calls, keeper);
  const response = asObject(block["functionResponse"]);
  if (response) return resultPart(block, response, calls, keeper);
  return mediaPart(block, keeper);
}

function textPart(block: JsonObject, text: string, keeper: Keeper): KnownPart | undefined {
  if (block["thought"] !== true) {
    // A signature may stand on a part without text; as text it would be tidied away with it.
    const isBare = keeper.isExact && text === "" && "thoughtSignature" in block;
    return isBare ? undefined : { type: "text", text, ...keeper.keep(without(block, "text")) };
  }
  const signature = asName(block["thoughtSignature"]);
  const rest = without(block, "text", "thought", ...(signature === undefined ? [] : ["thoughtSignature"]));
  return { type: "reasoning", text, ...defined({ signature }), ...keeper.keep(rest, { isOwn: true }) };
}

function callPart(block: JsonObject, call: JsonObject, calls: CallPairing, { isExact, keep }: Keeper): ToolCallPart {
  const id = asName(call["id"]);
  const name = asString(call["name"]) ?? "";
  const { args } = call;
  const own = {
    ...without(call, "id", "name", "args"),
    ...(id === undefined && { id: orAbsent(call["id"]) }),
    ...(typeof call["name"] !== "string" && { name: orAbsent(call["name"]) }),
    ...((args ?? undefined) === undefined && { args: orAbsent(args) }),
  };
  const odd = Object.keys(own).length > 0 ? { functionCall: own } : {};
  const given = isExact ? { args: args ?? {} } : callArguments(args);
  const kept = keep(without(block, "functionCall"), { odd, isOwn: true });
  return { type: "tool-call", callId: calls.call(id, name), name, ...given, ...kept };
}

function resultPart(
  block: JsonObject,
  given: JsonObject,
  calls: CallPairing,
  keeper: Keeper,
): ToolResultPart | undefined {
  const id = asName(given["id"]);
  const name = asName(given["name"]);
  const { response } = given;
  if (response !== undefined && !isObject(response)) return undefined;
  const field = response && textFields.find((one) => typeof response[one] === "string");
  const alone = response && field !== undefined && Object.keys(response).length === 1;
  const text = alone ? (response[field] as string) : response ? JSON.stringify(response) : "";
  const media = asArray(given["parts"]);
  const own = {
    ...without(given, "id", "name", "response", "parts"),
    ...(id === undefined && { id: absent }),
    ...(name === undefined && { name: absent }),
    ...(response === undefined ? { response: absent } : alone && { response: field }),
  };
  const named = Object.keys(own).length > 0 && { functionResponse: own };
  return {
    type: "tool-result",
    ...calls.result(id, name),
    content: media ? [{ type: "text", text }, ...media.map((item) => resultItem(item, calls, keeper))] : text,
    ...(alone && field === "error" && text !== "" && { isError: true }),
    ...keeper.keep({}, { odd: { ...without(block, "functionResponse"), ...named }, isOwn: true }),
  };
}

function resultItem(block: JsonValue, calls: CallPairing, keeper: Keeper): ResultContent {
  const part = partOf(block, calls, keeper);
  return part.type === "image" || part.type === "file" ? part : opaque(block, keeper);
}

function mediaPart(block: JsonObject, keeper: Keeper): ImagePart | FilePart | undefined {
  const inline = asObject(block["inlineData"]);
  const source = inline ?? asObject(block["fileData"]);
  const mediaType = asName(source?.["mimeType"]);
  const data = inline && asName(inline["data"]);
  const url = inline ? undefined : asName(source?.["fileUri"]);
  if (!source || mediaType === undefined || (data ?? url) === undefined) return undefined;
  const rest = without(source, "mimeType", "data", "fileUri");
  const odd = { ...without(block, "inlineData", "fileData"), ...(Object.keys(rest).length > 0 && { source: rest }) };
  const media = { mediaType, ...defined({ data, url }), ...keeper.keep({}, { odd, isOwn: true }) };
  const name = asName(source["displayName"]);
  return mediaType.startsWith("image/")
    ? { type: "image", ...media }
    : { type: "file", ...media, ...defined({ name }) };
}

/** The part of the API that one of Windrow's came from, or stands for. */
function ownBlock(part: KnownPart, keeper = whole): JsonObject {
  const kept = keeper.of(part.opaque) ?? {};
  switch (part.type) {
    case "text":
      return { text: part.text, ...kept };
    case "reasoning":
      return {
        text: part.text,
        thought: true,
        ...(part.signature !== undefined && { thoughtSignature: part.signature }),
        ...kept,
      };
    case "image":
    case "file":
      return mediaBlock(part, kept);
    case "tool-call": {
      const call = { id: part.callId, name: part.name, args: part.args, ...asObject(kept["functionCall"]) };
      const signature = thoughtSignature(part);
      return {
        functionCall: present(call),
        ...without(kept, "functionCall"),
        ...(signature !== undefined && { thoughtSignature: signature }),
      };
    }
    case "tool-result":
      return resultBlock(part, kept);
  }
}

/** A call as the API takes it: named, and without an id if the host gave none. */
export function asCall(part: ToolCallPart): ToolCallPart {
  const kept = keptOf(google, part.opaque) ?? {};
  const own = asObject(kept["functionCall"]);
  if (!own || ["id", "name", "args"].every((field) => own[field] === undefined || own[field] === absent)) return part;
  const id = own["id"] === undefined ? {} : { id: absent };
  return {
    ...part,
    opaque: {
      ...asObject(part.opaque),
      [google]: { ...kept, functionCall: { ...without(own, "id", "name", "args"), ...id } },
    },
  };
}

/** A result with its call's name, and with an id if its call goes with one. */
export function asAnswer(part: ToolResultPart, { name, opaque }: ToolCallPart): ToolResultPart {
  const named = part.name === name ? part : { ...part, name };
  const id = asObject(keptOf(google, opaque)?.["functionCall"])?.["id"];
  const kept = keptOf(google, part.opaque) ?? {};
  const own = asObject(kept["functionResponse"]) ?? {};
  if (own["id"] === id) return named;
  return {
    ...named,
    opaque: {
      ...asObject(part.opaque),
      [google]: { ...kept, functionResponse: { ...without(own, "id"), ...defined({ id }) } },
    },
  };
}

function resultBlock(part: ToolResultPart, kept: JsonObject): JsonObject {
  const own = asObject(kept["functionResponse"]) ?? {};
  const items = typeof part.content === "string" ? [{ type: "text", text: part.content } as const] : part.content;
  const media = items.flatMap((item) => mediaItem(item) ?? []);
  const texts = items.filter((item) => !mediaItem(item));
  const text = texts.map((item) => (item.type === "text" ? item.text : standInText(item))).join("\n");
  const said = responseOf(text, asName(own["response"]), part.isError === true);
  const response = {
    id: part.callId,
    ...defined({ name: part.name }),
    ...(own["response"] === absent && text === "" ? {} : { response: said }),
    ...(typeof part.content !== "string" && { parts: media }),
    ...without(own, "response"),
  };
  return { functionResponse: present(response), ...without(kept, "functionResponse") };
}

/** A JSON object goes as it is, other text under `field`, or as the API's documentation names it. */
function responseOf(text: string, field: string | undefined, isError: boolean): JsonObject {
  const plain = field === undefined || field === absent;
  if (plain && text.startsWith("{")) {
    const value = parseJson(text);
    if (isObject(value)) return value;
  }
  return { [isError ? "error" : plain ? "output" : field]: text };
}

/** The block of a result's item beside its text; undefined for an item that the API takes as text alone. */
function mediaItem(part: ResultContent): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${kind}/`) ? part.data : undefined;
  return part.type !== "text" && part.data !== undefined && isTaken(part) ? ownBlock(part) : undefined;
}

/** Whether the API takes media (ai.google.dev/gemini-api/docs: image understanding, document processing). */
function isTaken({ mediaType, data, url }: ImagePart | FilePart): boolean {
  const isHeld = data === undefined ? /^(https?|gs):/.test(url ?? "") : data !== "";
  return isHeld && /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|(text|audio|video)\/.+)$/.test(mediaType);
}

function standInText(part: Part): string {
  return asString(standIn(part)["text"]) ?? "";
}

function mediaBlock(part: ImagePart | FilePart, kept: JsonObject): JsonObject {
  const { mediaType: mimeType, data, url } = part;
  const source = asObject(kept["source"]);
  const rest = without(kept, "source");
  if (data !== undefined) return { inlineData: { mimeType, data, ...source }, ...rest };
  return { fileData: { mimeType, fileUri: url ?? "", ...source }, ...rest };
}

/**
 * A part of any origin as the API takes it; undefined for reasoning of another model's, which no Gemini can read. What
 * the API does not know at all stands as text.
 */
export function blockOf(part: Part, { role }: Pick<Message, "role">): JsonValue | undefined {
  if (part.type === "opaque") return part.kind.startsWith(`${kind}/`) ? part.data : { text: standInText(part) };
  if (keptOf(google, part.opaque)) return ownBlock(part);
  switch (part.type) {
    case "reasoning":
      return undefined;
    case "image":
    case "file":
      return role === "assistant" || !isTaken(part) ? { text: standInText(part) } : ownBlock(part);
    case "tool-call":
    case "tool-result":
    case "text":
      return ownBlock(part);
  }
}

/** A part of any origin as a part of a recording; none for calls and results, and for what the API has no part for. */
export function recordedBlock(part: Part, keeper: Keeper): readonly JsonValue[] {
  switch (part.type) {
    case "opaque":
      return part.kind.startsWith(`${keeper.kind}/`) ? [part.data] : [];
    case "tool-call":
    case "tool-result":
      return [];
    case "image":
    case "file": {
      const named = part.type === "file" && part.name !== undefined ? { source: { displayName: part.name } } : {};
      return part.data === undefined && part.url === undefined ? [] : [mediaBlock(part, named)];
    }
    default:
      return [ownBlock(part, keeper)];
  }
}
