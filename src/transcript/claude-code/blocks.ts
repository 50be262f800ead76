/** The content of Claude Code's messages: blocks of the Anthropic Messages API, as parts. */
import type { JsonObject, JsonValue, Part, Usage } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import {
  callArguments,
  opaquePart,
  opaqueRest,
  resultContent,
  textParts,
  usageBesideCache,
} from "../../message/parts.ts";
import { hourWrites } from "../../message/foreign-usage.ts";
import { asArray, asName, asObject, asString, defined } from "../../message/json.ts";

const format = "claude-code";

/** Reads content, text or blocks, as parts. Thinking keeps its signature byte for byte. */
export function blockParts(content: JsonValue | undefined, calls: CallPairing): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  return (asArray(content) ?? []).map((block) => blockPart(block, calls));
}

/** Reads usage. Anthropic reports cached tokens beside `input`; here they are part of it. */
export function anthropicUsage(value: JsonValue | undefined): Usage | undefined {
  const counts = asObject(value);
  return (
    counts &&
    usageBesideCache(
      counts["input_tokens"],
      counts["output_tokens"],
      counts["cache_read_input_tokens"],
      counts["cache_creation_input_tokens"],
      hourWrites(counts),
    )
  );
}

function blockPart(block: JsonValue, calls: CallPairing): Part {
  const object = asObject(block);
  if (!object) return typeof block === "string" ? { type: "text", text: block } : opaquePart(block, format);
  switch (object["type"]) {
    case "text":
      return { type: "text", text: asString(object["text"]) ?? "", ...opaqueRest(object, ["type", "text"]) };
    case "thinking":
      return {
        type: "reasoning",
        text: asString(object["thinking"]) ?? "",
        ...defined({ signature: asName(object["signature"]) }),
        ...opaqueRest(object, ["type", "thinking", "signature"]),
      };
    case "redacted_thinking":
      return {
        type: "reasoning",
        text: "",
        ...defined({ signature: asName(object["data"]) }),
        opaque: { type: "redacted_thinking" },
      };
    case "tool_use":
      return callPart(object, calls);
    case "tool_result":
      return resultPart(object, calls);
    case "image":
    case "document":
      return mediaPart(object);
    default:
      return opaquePart(block, format);
  }
}

function callPart(block: JsonObject, calls: CallPairing): Part {
  const name = asName(block["name"]);
  if (name === undefined) return opaquePart(block, format);
  return {
    type: "tool-call",
    callId: calls.call(asName(block["id"]), name),
    name,
    ...callArguments(block["input"]),
    ...opaqueRest(block, ["type", "id", "name", "input"]),
  };
}

function resultPart(block: JsonObject, calls: CallPairing): Part {
  const { content } = block;
  return {
    type: "tool-result",
    ...calls.result(asName(block["tool_use_id"]), asName(block["name"])),
    content: typeof content === "string" ? content : resultContent(blockParts(content, calls)),
    ...(block["is_error"] === true ? { isError: true } : {}),
    ...opaqueRest(block, ["type", "tool_use_id", "content", "is_error", "name"]),
  };
}

function mediaPart(block: JsonObject): Part {
  const source = asObject(block["source"]);
  const type = block["type"] === "image" ? "image" : "file";
  const mediaType = asName(source?.["media_type"]) ?? (type === "image" ? "image/*" : "application/pdf");
  const data = source?.["type"] === "base64" ? asString(source["data"]) : undefined;
  const url = asName(source?.["url"]);
  if (data === undefined && url === undefined) return opaquePart(block, format);
  const rest = opaqueRest(block, ["type", "source", "title"]);
  if (type === "image") return { type, mediaType, ...defined({ data, url }), ...rest };
  return { type, mediaType, ...defined({ data, url, name: asName(block["title"]) }), ...rest };
}
