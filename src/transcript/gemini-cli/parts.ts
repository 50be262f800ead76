/** Reads the contents of Gemini CLI's recordings: parts of the Gemini API, thoughts, tool calls with their results. */
import type { JsonObject, JsonValue, Part, ToolResultPart, Usage } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import { callArguments, opaquePart, opaqueRest, resultContent, textParts, usage } from "../../message/parts.ts";
import { asArray, asCount, asName, asObject, asString, defined, objectsOf } from "../../message/json.ts";

const format = "gemini-cli";

/** Fields of a function response that hold nothing but its text, in order of preference. */
const textFields = ["output", "error", "result", "content"];

/** Reads the content of a message: text, a part of the API, or a list of either. */
export function geminiContent(content: JsonValue | undefined, calls: CallPairing): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  const blocks = asArray(content) ?? (content === undefined || content === null ? [] : [content]);
  return blocks.map((block) => blockPart(block, calls));
}

/** Reads a thought: its subject as a line, then its description. */
export function thoughtPart(thought: JsonObject): Part {
  const subject = asName(thought["subject"]);
  const description = asString(thought["description"]) ?? "";
  return {
    type: "reasoning",
    text: subject === undefined ? description : `${subject}\n${description}`,
    ...opaqueRest(thought, ["description"]),
  };
}

/** Reads a tool call and its result, if any. Fields for display only are left out. */
export function recordedCall(
  record: JsonObject,
  calls: CallPairing,
): { readonly call: Part; readonly result?: ToolResultPart } {
  const name = asName(record["name"]);
  if (name === undefined) return { call: opaquePart(record, format) };
  const callId = calls.call(asName(record["id"]), name);
  const call: Part = { type: "tool-call", callId, name, ...callArguments(record["args"]) };
  const { result, status } = record;
  if (result === undefined || result === null) return { call };
  const parts = geminiContent(result, calls);
  const [first, ...others] = parts;
  const isAnswer = first?.type === "tool-result";
  const texts = isAnswer ? [first.content].flat() : parts;
  const items = [...texts, ...(isAnswer ? others : [])].map((item) =>
    typeof item === "string" ? { type: "text" as const, text: item } : item,
  );
  const [only] = items;
  const content = items.length === 1 && only?.type === "text" ? only.text : resultContent(items);
  const failed = status === "error" || status === "cancelled" || (isAnswer && first.isError === true);
  return {
    call,
    result: { type: "tool-result", ...calls.result(callId, name), content, ...(failed && { isError: true }) },
  };
}

/** Reads usage. Gemini counts thoughts beside the answer. */
export function geminiUsage(value: JsonValue | undefined): Usage | undefined {
  const counts = asObject(value);
  const [output, thoughts] = [asCount(counts?.["output"]), asCount(counts?.["thoughts"])];
  return (
    counts &&
    usage({
      input: asCount(counts["input"]),
      output: output === undefined ? thoughts : output + (thoughts ?? 0),
      cacheRead: asCount(counts["cached"]),
      reasoning: thoughts,
    })
  );
}

function blockPart(block: JsonValue, calls: CallPairing): Part {
  const object = asObject(block);
  if (!object) return typeof block === "string" ? { type: "text", text: block } : opaquePart(block, format);
  const text = asString(object["text"]);
  if (text !== undefined && object["thought"] === true) {
    return {
      type: "reasoning",
      text,
      ...defined({ signature: asName(object["thoughtSignature"]) }),
      ...opaqueRest(object, ["text", "thought", "thoughtSignature"]),
    };
  }
  if (text !== undefined) return { type: "text", text, ...opaqueRest(object, ["text"]) };
  const response = asObject(object["functionResponse"]);
  if (response) return responsePart(response, calls);
  const call = asObject(object["functionCall"]);
  const name = asName(call?.["name"]);
  if (call && name !== undefined) {
    const rest = opaqueRest(object, ["functionCall"]);
    return {
      type: "tool-call",
      callId: calls.call(asName(call["id"]), name),
      name,
      ...callArguments(call["args"]),
      ...rest,
    };
  }
  return mediaPart(object) ?? opaquePart(block, format);
}

function responsePart(given: JsonObject, calls: CallPairing): ToolResultPart {
  const response = asObject(given["response"]) ?? {};
  const field = textFields.find((name) => typeof response[name] === "string");
  const isText = field !== undefined && Object.keys(response).length === 1;
  const text = isText ? (asString(response[field]) ?? "") : JSON.stringify(response);
  const media = objectsOf(given["parts"]).map((part) => mediaPart(part) ?? opaquePart(part, format));
  return {
    type: "tool-result",
    ...calls.result(asName(given["id"]), asName(given["name"])),
    content: media.length === 0 ? text : resultContent([{ type: "text", text }, ...media]),
    ...(isText && field === "error" && { isError: true }),
  };
}

function mediaPart(block: JsonObject): Extract<Part, { type: "image" | "file" }> | undefined {
  const source = asObject(block["inlineData"]) ?? asObject(block["fileData"]);
  const mediaType = asName(source?.["mimeType"]);
  const [data, url] = [asName(source?.["data"]), asName(source?.["fileUri"])];
  if (!source || mediaType === undefined || (data ?? url) === undefined) return undefined;
  const media = { mediaType, ...defined({ data, url }) };
  const name = asName(source["displayName"]);
  return mediaType.startsWith("image/")
    ? { type: "image", ...media }
    : { type: "file", ...media, ...defined({ name }) };
}
