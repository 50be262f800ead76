/** Content blocks of the OpenAI Agents SDK as parts and back: text and images of a user and of a tool. */
import { isObject, without } from "../../message/json.ts";
import type { JsonObject, JsonValue, Part, ResultContent } from "../../message/message.ts";
import { dataOfUrl, imageFromUrl } from "../../message/parts.ts";
import { keep, keptOf, standIn } from "../../shape/host-fields.ts";

/** The name of the adapter, under which parts keep the fields that have no place in them. */
export const name = "openai-agents";

/** Text, images and files of a user's message or of a tool's structured output. */
export function inputPart(block: JsonValue): ResultContent {
  if (isObject(block)) {
    const { type, text, image } = block;
    const known = type === "input_text" && typeof text === "string";
    if (known) return { type: "text", text, ...keep(name, without(block, "type", "text")) };
    if (type === "input_image" && typeof image === "string" && (dataOfUrl(image) || /^https?:/.test(image))) {
      const part = imageFromUrl(image);
      if (imageUrl(part) === image) return { ...part, ...keep(name, without(block, "type", "image")) } as ResultContent;
    }
  }
  const type = isObject(block) && typeof block.type === "string" ? block.type : "content";
  return { type: "opaque", kind: `${name}/${type}`, data: block };
}

function imageUrl(part: Part): string {
  if (part.type !== "image") return "";
  return part.data === undefined ? (part.url ?? "") : `data:${part.mediaType};base64,${part.data}`;
}

/** A part as a block of input; {@link inputPart} made it, or a placeholder stands for it. */
export function inputBlock(part: Part): JsonObject {
  const kept = "opaque" in part ? keptOf(name, part.opaque) : undefined;
  if (part.type === "text") return { type: "input_text", text: part.text, ...kept };
  if (part.type === "image") return { type: "input_image", image: imageUrl(part), ...kept };
  if (part.type === "opaque" && part.kind.startsWith(`${name}/`) && isObject(part.data)) return part.data;
  return { ...standIn(part), type: "input_text" };
}
