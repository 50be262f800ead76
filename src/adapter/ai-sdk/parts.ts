/** Content parts of the AI SDK's messages, majors 5 to 7, as parts, and back. */
import { parseJson, isObject, without, sameJson } from "../../message/json.ts";
import type {
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
  OpaquePart,
  Part,
  ReasoningPart,
} from "../../message/message.ts";
import type { ResultContent, TextPart, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { resultText } from "../../message/message.ts";
import { opaquePart } from "../../message/parts.ts";
import { asArray, asName, asObject, asString } from "../../message/json.ts";
import { skippedSignature } from "../../window/provider/encode.ts";
import { urlMark, wrap, unwrap } from "./bytes.ts";
import { absent, present, standIn } from "../../shape/host-fields.ts";

/** The adapter's name: what its messages and parts keep stands under it. */
export const aiSdkName = "ai-sdk";

/** Stands, in what is kept of `providerOptions`, for the signature that the part carries. */
const signedHere = "windrow:signature";

/** Names of what providers sign or seal reasoning with. */
const signatureFields = ["signature", "redactedData", "reasoningEncryptedContent", "thoughtSignature"];

/** Fields of what is kept that no host has: how media stood, which kind of output a result was. */
const mediaForm = "windrow:media";
const outputForm = "windrow:output";

/**
 * A content part of the SDK as a part; what cannot be rebuilt exactly from a known part is carried whole, and so are
 * tools that the provider runs itself: their calls and results stand in one message and are no pair of the host's.
 */
export function fromPart(block: JsonValue, ofAssistant: boolean): Part {
  const object = asObject(block);
  const hosted = object?.["providerExecuted"] === true || (ofAssistant && object?.["type"] === "tool-result");
  const part = object && !hosted ? knownPart(object) : undefined;
  return part && sameJson(ownPart(part), block) ? part : opaquePart(block, aiSdkName);
}

function knownPart(block: JsonObject): Part | undefined {
  const text = asString(block["text"]);
  switch (block["type"]) {
    case "text":
      return text === undefined ? undefined : { type: "text", text, ...keepFields(without(block, "type", "text")) };
    case "reasoning":
      return text === undefined ? undefined : reasoningPart(block, text);
    case "tool-call":
      return callPart(block);
    case "tool-result":
      return resultPart(block);
    default:
      return mediaPart(block);
  }
}

function reasoningPart(block: JsonObject, text: string): ReasoningPart {
  const fields = without(block, "type", "text");
  for (const [provider, options] of Object.entries(asObject(block["providerOptions"]) ?? {})) {
    for (const field of signatureFields) {
      const signature = asName(asObject(options)?.[field]);
      if (signature === undefined) continue;
      const rest = { ...asObject(options), [field]: signedHere };
      const providerOptions = { ...asObject(block["providerOptions"]), [provider]: rest };
      return { type: "reasoning", text, signature, ...keepFields({ ...fields, providerOptions }) };
    }
  }
  return { type: "reasoning", text, ...keepFields(fields) };
}

function callPart(block: JsonObject): ToolCallPart | undefined {
  const callId = asName(block["toolCallId"]);
  const name = asName(block["toolName"]);
  if (callId === undefined || name === undefined) return undefined;
  const fields = without(block, "type", "toolCallId", "toolName", "input");
  const { input } = block;
  const kept = keepFields(input === undefined ? { ...fields, input: absent } : fields);
  return { type: "tool-call", callId, name, args: input ?? {}, ...kept };
}

function resultPart(block: JsonObject): ToolResultPart | undefined {
  const callId = asName(block["toolCallId"]);
  const name = asName(block["toolName"]);
  const output = asObject(block["output"]);
  const read = output && outputContent(output);
  if (callId === undefined || name === undefined || !read) return undefined;
  const beside = without(output, "value");
  const plain = sameJson(beside, { type: "text" });
  const fields = without(block, "type", "toolCallId", "toolName", "output");
  return {
    type: "tool-result",
    callId,
    name,
    content: read.content,
    ...(read.isError && { isError: true }),
    ...keepFields(plain ? fields : { ...fields, [outputForm]: beside }),
  };
}

function outputContent(
  output: JsonObject,
): { readonly content: ToolResultPart["content"]; readonly isError?: boolean } | undefined {
  const { value } = output;
  switch (output["type"]) {
    case "text":
      return typeof value === "string" ? { content: value } : undefined;
    case "error-text":
      return typeof value === "string" ? { content: value, isError: true } : undefined;
    case "json":
      return value === undefined ? undefined : { content: JSON.stringify(value) };
    case "error-json":
      return value === undefined ? undefined : { content: JSON.stringify(value), isError: true };
    case "content":
      return Array.isArray(value) ? { content: value.map((item) => resultItem(item as JsonValue)) } : undefined;
    default:
      return undefined;
  }
}

function resultItem(item: JsonValue): ResultContent {
  const part = fromPart(item, false);
  return part.type === "text" || part.type === "image" || part.type === "file" ? part : opaquePart(item, aiSdkName);
}

/** Images and files: of a message (`image`, `file`) or of a result (`media`, `image-data`, `file-url` and the like). */
function mediaPart(block: JsonObject): ImagePart | FilePart | undefined {
  const type = asString(block["type"]) ?? "";
  if (!/^(image|file|media)(-data|-url)?$/.test(type)) return undefined;
  const field = fieldOf(type);
  const payload = unwrap(block[field]);
  if (!payload) return undefined;
  const given = asName(block["mediaType"]);
  const image = given?.startsWith("image/") ?? type.startsWith("image");
  const { data, url, form } = payload;
  const source = data === undefined ? { url: url ?? "" } : { data };
  const fields = {
    ...without(block, "type", field, "filename", ...(given === undefined ? [] : ["mediaType"])),
    ...(given === undefined && block["mediaType"] === undefined && { mediaType: absent }),
    ...(image && block["filename"] !== undefined && { filename: block["filename"] }),
    [mediaForm]: { type, form },
  };
  const mediaType = given ?? (image ? "image/*" : "application/octet-stream");
  if (image) return { type: "image", mediaType, ...source, ...keepFields(fields) };
  const name = asName(block["filename"]);
  return {
    type: "file",
    mediaType,
    ...(name !== undefined && { name }),
    ...source,
    ...keepFields(fields),
  };
}

function fieldOf(type: string): string {
  return type === "image" ? "image" : type.endsWith("-url") ? "url" : "data";
}

/** A part that came from the SDK, as it was; undefined for a part of another origin that is more than text. */
function ownPart(part: Part): JsonValue | undefined {
  switch (part.type) {
    case "opaque":
      return part.kind.startsWith(`${aiSdkName}/`) ? part.data : undefined;
    case "text":
      return { type: "text", text: part.text, ...fieldsOf(part) };
    case "reasoning":
      return { type: "reasoning", text: part.text, ...signedFields(part) };
    case "image":
    case "file":
      return mediaBlock(part);
    case "tool-call":
      return present({
        type: "tool-call",
        toolCallId: part.callId,
        toolName: part.name,
        input: part.args,
        ...fieldsOf(part),
      });
    case "tool-result":
      return {
        type: "tool-result",
        toolCallId: part.callId,
        toolName: part.name ?? "",
        output: outputOf(part),
        ...without(fieldsOf(part), outputForm),
      };
  }
}

function mediaBlock(part: ImagePart | FilePart): JsonObject | undefined {
  const fields = fieldsOf(part);
  const note = asObject(fields[mediaForm]);
  if (!note) return undefined;
  const type = asString(note["type"]) ?? "file";
  const form = (asArray(note["form"]) ?? []).map(String);
  return present({
    type,
    [fieldOf(type)]: wrap({ ...part, form }),
    mediaType: part.mediaType,
    ...(part.type === "file" && part.name !== undefined && { filename: part.name }),
    ...without(fields, mediaForm),
  });
}

/** An edit leaves text where parts or JSON stood; errors stay errors. */
function outputOf(part: ToolResultPart): JsonObject {
  const given = asObject(fieldsOf(part)[outputForm]);
  const type = asString(given?.["type"]);
  const text = { type: part.isError === true ? "error-text" : "text", value: resultText(part) };
  if (typeof part.content === "string") {
    const value = type === "json" || type === "error-json" ? parseJson(part.content) : undefined;
    if (value !== undefined) return { ...given, value };
    return type === text.type ? { ...given, ...text } : text;
  }
  return type === "content" ? { ...given, value: part.content.map((item) => ownPart(item) ?? standIn(item)) } : text;
}

/**
 * A part of any origin as a content part of the SDK. Media that models take only from the user, and what is not known at
 * all, stand as text.
 *
 * @param names - of tools by call id, for results that do not say theirs
 */
export function toPart(part: Part, fromUser: boolean, names: ReadonlyMap<string, string>): JsonValue {
  if (part.type === "tool-result" && part.name === undefined) {
    return toPart({ ...part, name: names.get(part.callId) ?? "unknown" }, fromUser, names);
  }
  return ownPart(part) ?? (fromUser ? foreignMedia(part) : undefined) ?? standIn(part);
}

function foreignMedia(part: Part): JsonObject | undefined {
  if (part.type !== "image" && part.type !== "file") return undefined;
  const data = part.data ?? (part.url === undefined ? "" : { [urlMark]: part.url });
  return {
    type: "file",
    data,
    mediaType: part.mediaType,
    ...(part.type === "file" && part.name !== undefined && { filename: part.name }),
  };
}

type WithFields = Exclude<Part, OpaquePart>;

/**
 * The `opaque` fields of a part. Provider options stand beside the adapter's own fields, each under its provider's
 * name: profiles look there for whose reasoning it is, and for thought signatures.
 */
function keepFields(fields: JsonObject): { readonly opaque?: JsonObject } {
  const { providerOptions, ...rest } = fields;
  if (providerOptions === undefined) return Object.keys(rest).length > 0 ? { opaque: { [aiSdkName]: rest } } : {};
  const named = isObject(providerOptions) && Object.keys(providerOptions).length > 0;
  if (!named || aiSdkName in providerOptions) return { opaque: { [aiSdkName]: fields } };
  return { opaque: { ...providerOptions, [aiSdkName]: rest } };
}

function fieldsOf({ opaque }: WithFields): JsonObject {
  const { [aiSdkName]: own, gemini, ...options } = asObject(opaque) ?? {};
  // Windrow's sentinel for a call whose thought signature nobody knows (src/window/provider/encode.ts).
  const skipped = asObject(gemini)?.["thoughtSignature"] === skippedSignature;
  const google = skipped ? { google: { ...asObject(options["google"]), ...asObject(gemini) } } : {};
  const providers = { ...(isObject(own) ? options : {}), ...google };
  return { ...asObject(own), ...(Object.keys(providers).length > 0 && { providerOptions: providers }) };
}

function signedFields(part: ReasoningPart): JsonObject {
  const { providerOptions, ...fields } = fieldsOf(part);
  if (!isObject(providerOptions)) return { ...fields, ...(providerOptions !== undefined && { providerOptions }) };
  const filled = Object.entries(providerOptions).map(([provider, options]) => {
    const entries = Object.entries(asObject(options) ?? {});
    const values = entries.map(
      ([name, value]) => [name, value === signedHere ? (part.signature ?? "") : value] as const,
    );
    return [provider, isObject(options) ? Object.fromEntries(values) : options] as const;
  });
  return { ...fields, providerOptions: Object.fromEntries(filled) };
}

/** Whether a part is text and nothing else. */
export function isBareText(part: Part | undefined): part is TextPart {
  return part?.type === "text" && part.opaque === undefined;
}
