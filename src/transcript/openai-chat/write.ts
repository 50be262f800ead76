/** Writes chat-completions messages, one a line, with only the fields that the API takes. */
import type { JsonObject, JsonValue, Message, Part, ToolCallPart, ToolResultPart } from "../../message/message.ts";
import { onlyText, splitResults, urlOf } from "../encoder.ts";
import type { TranscriptEncoder } from "../encoder.ts";
import { asName, asObject, defined } from "../../message/json.ts";

const format = "openai-chat";

/** Roles of the API that share a role in Windrow. */
const otherRoles: ReadonlySet<unknown> = new Set(["developer", "function"]);

/** Writes chat-completions messages; reasoning goes as `reasoning_content`. */
export const openaiChatEncoder: TranscriptEncoder = {
  format,
  cannotHold: [
    "reasoning",
    "signature",
    "file",
    "media",
    "error",
    "opaque-part",
    "opaque",
    "id",
    "timestamp",
    "model",
    "usage",
    "status",
    "extra",
  ],
  encode: (_head, messages) => messages.flatMap(messageLines),
};

function messageLines(message: Message): readonly JsonObject[] {
  const { results, spoken } = splitResults(message);
  const lines = results.map(resultLine);
  if (spoken.length === 0 && (message.role === "tool" || results.length > 0)) return lines;
  const { role } = message;
  const given = message.extra?.["role"];
  const about = defined({
    role: otherRoles.has(given) && role === "system" ? given : role === "tool" ? "user" : role,
    name: asName(message.extra?.["name"]),
  }) as JsonObject;
  return [...lines, { ...about, ...(role === "assistant" ? assistantFields(spoken) : { content: contentOf(spoken) }) }];
}

function assistantFields(parts: readonly Part[]): JsonObject {
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" && part.text !== "" ? [part.text] : []));
  const calls = parts.filter((part) => part.type === "tool-call");
  const refusals = parts.flatMap((part) => (part.type === "text" && isRefusal(part) ? [part.text] : []));
  const said = parts.filter((part) => part.type !== "reasoning" && part.type !== "tool-call" && !isRefusal(part));
  return {
    content: said.length === 0 ? null : contentOf(said),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("\n\n") }),
    ...(refusals.length > 0 && { refusal: refusals.join("\n") }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
  };
}

function isRefusal(part: Part): boolean {
  return part.type === "text" && asObject(part.opaque)?.["refusal"] === true;
}

function callOf({ callId, name, args, argsText }: ToolCallPart): JsonObject {
  return { id: callId, type: "function", function: { name, arguments: argsText ?? JSON.stringify(args) } };
}

function resultLine({ callId, content }: ToolResultPart): JsonObject {
  return { role: "tool", tool_call_id: callId, content: typeof content === "string" ? content : contentOf(content) };
}

function contentOf(parts: readonly Part[]): JsonValue {
  return onlyText(parts) ?? parts.flatMap(blockOf);
}

function blockOf(part: Part): readonly JsonValue[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "image": {
      const url = urlOf(part);
      return url === undefined ? [] : [{ type: "image_url", image_url: { url } }];
    }
    case "file": {
      const data = part.data === undefined ? undefined : urlOf(part);
      return data === undefined ? [] : [{ type: "file", file: { filename: part.name ?? "file", file_data: data } }];
    }
    case "opaque":
      return part.kind.startsWith(`${format}/`) ? [part.data] : [];
    default:
      return [];
  }
}
