/** Content blocks of OpenAI's Responses API as parts and back: text, images and files of messages and of outputs. */
import { asArray, asName, asString, defined, isObject, sameJson, without } from "../../message/json.ts";
import type { FilePart, ImagePart, JsonObject, JsonValue, Part, ResultContent } from "../../message/message.ts";
import { dataOfUrl, imageFromUrl, opaquePart } from "../../message/parts.ts";
import { keep, keptOf, standIn } from "../host-fields.ts";

/** The adapter's name, under which messages and parts keep the fields that have no place in them. */
export const name = "openai-responses";

/** Types of text blocks: of what a model answered, and of all else. */
type TextType = "input_text" | "output_text";

const texts: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text"]);

/** A block as a part; one that cannot be rebuilt exactly from a known part is carried whole. */
export function contentPart(block: JsonValue, text: TextType): ResultContent {
  const part = isObject(block) ? knownPart(block, text) : undefined;
  return part && sameJson(ownBlock(part, text), block) ? part : opaquePart(block, name);
}

function knownPart(block: JsonObject, plain: TextType): Exclude<ResultContent, { type: "opaque" }> | undefined {
  const { type, text, image_url: image, file_data: data, file_url: url } = block;
  if (texts.has(type) && typeof text === "string") {
    return { type: "text", text, ...keep(name, without(block, "text", ...(type === plain ? ["type"] : []))) };
  }
  if (type === "input_image" && typeof image === "string") {
    return { ...imageFromUrl(image), ...keep(name, without(block, "type", "image_url"), true) };
  }
  if (type !== "input_file") return undefined;
  const inline = typeof data === "string" ? dataOfUrl(data) : undefined;
  const source = inline ?? (typeof url === "string" ? { mediaType: "application/pdf", url } : undefined);
  if (!source) return undefined;
  const kept = without(block, "type", "filename", inline ? "file_data" : "file_url");
  return { type: "file", ...source, ...defined({ name: asName(block["filename"]) }), ...keep(name, kept, true) };
}

/** The block of a part that came from this API, or that it takes. */
function ownBlock(part: Exclude<ResultContent, { type: "opaque" }>, text: TextType): JsonObject {
  const kept = keptOf(name, part.opaque) ?? {};
  if (part.type === "text") return { type: text, text: part.text, ...kept };
  if (part.type === "image") return { type: "input_image", image_url: urlOf(part), ...kept };
  const where = part.data === undefined ? { file_url: part.url ?? "" } : { file_data: urlOf(part) };
  return { type: "input_file", ...defined({ filename: part.name }), ...where, ...kept };
}

function urlOf({ data, url, mediaType }: ImagePart | FilePart): string {
  return data === undefined ? (url ?? "") : `data:${mediaType};base64,${data}`;
}

/**
 * A part of any origin as a block. A model's answer and a system message take text alone: all else stands as text there.
 *
 * @param text - the type of text blocks in this place
 */
export function contentBlock(part: Part, text: TextType, onlyText: boolean): JsonValue {
  if (part.type === "opaque" && part.kind.startsWith(`${name}/`)) return part.data;
  if (part.type === "text") return ownBlock(part, text);
  if (part.type === "image" || part.type === "file") {
    if (keptOf(name, part.opaque) || (!onlyText && isTaken(part))) return ownBlock(part, text);
  }
  return { type: text, text: asString(standIn(part)["text"]) ?? "" };
}

/** Whether the API takes media of another origin: images that it knows, and PDF under a file's name. */
function isTaken(part: ImagePart | FilePart): boolean {
  const isHeld = part.data === undefined ? /^https?:/.test(part.url ?? "") : part.data !== "";
  if (part.type === "image") return isHeld && /^image\/(png|jpeg|gif|webp|\*)$/.test(part.mediaType);
  return isHeld && part.mediaType === "application/pdf" && (part.data === undefined || part.name !== undefined);
}

/** The blocks of a content that is a list. */
export function contentParts(content: JsonValue | undefined, text: TextType): readonly ResultContent[] {
  return (asArray(content) ?? []).map((block) => contentPart(block, text));
}
