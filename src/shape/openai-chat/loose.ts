/**
 * One message in the shapes that chat APIs share: `{ role, content, tool_calls?, tool_call_id?, … }`, with calls as
 * `{ id, function: { name, arguments } }` or `{ id, name, args }`.
 */
import type { JsonObject, JsonValue, NewMessage, Part, Role } from "../../message/message.ts";
import type { CallPairing } from "../../message/parts.ts";
import {
  callArguments,
  dataOfUrl,
  imageFromUrl,
  opaquePart,
  opaqueRest,
  resultContent,
  textParts,
} from "../../message/parts.ts";
import { asArray, asName, asObject, asString, defined, isoTime, objectsOf, restOf } from "../../message/json.ts";
import { chatUsage } from "./usage.ts";

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
};

const reasoningFields = ["reasoning_content", "thinking", "reasoning"];

const callFieldsOfMessage = ["tool_calls", "tool_results", "function_call"];

const callFields = ["id", "type", "function", "custom", "name", "args", "arguments", "input", "index"];

const textTypes: ReadonlySet<string> = new Set(["text", "input_text", "output_text"]);

const knownFields = new Set([
  "role",
  "content",
  "tool_calls",
  "tool_results",
  "function_call",
  "tool_call_id",
  "name",
  "tool_name",
  "is_error",
  "id",
  "timestamp",
  "model",
  "usage",
  "refusal",
  "status",
  ...reasoningFields,
]);

/** Whether a value looks like a message of a chat API: a known role, and content, calls or a refusal. */
export function isChatMessage(value: unknown): value is JsonObject {
  const message = asObject(value);
  if (!message || roleOf(message) === undefined) return false;
  const { content } = message;
  const readable = typeof content === "string" || content === null || Array.isArray(content);
  return readable || (content === undefined && callFieldsOfMessage.some((field) => field in message));
}

/**
 * Reads one message of a chat API.
 *
 * @param format - names the opaque parts
 * @returns undefined when it is no message
 */
export function chatMessage(value: unknown, format: string, calls: CallPairing): NewMessage | undefined {
  if (!isChatMessage(value)) return undefined;
  const role = roleOf(value) ?? "user";
  const name = asName(value["tool_name"]) ?? asName(value["name"]);
  const keepName = role === "tool" ? undefined : asName(value["name"]);
  const extra = defined({
    ...restOf(value, knownFields),
    role: value["role"] === role ? undefined : value["role"],
    name: keepName,
  });
  return defined({
    id: asName(value["id"]),
    role,
    parts: role === "tool" ? resultParts(value, name, format, calls) : spokenParts(value, format, calls),
    timestamp: isoTime(value["timestamp"]),
    status: value["status"] === "interrupted" ? ("interrupted" as const) : undefined,
    model: asName(value["model"]),
    usage: chatUsage(value["usage"]),
    extra: Object.keys(extra).length === 0 ? undefined : (extra as JsonObject),
  });
}

/** Reads the content of a message as parts: text, images, files. Unknown blocks become opaque parts. */
export function chatContent(content: JsonValue | undefined, format: string): readonly Part[] {
  if (typeof content === "string") return textParts(content);
  return (asArray(content) ?? []).map((block) => contentPart(block, format));
}

function roleOf(message: JsonObject): Role | undefined {
  const role = message["role"];
  return typeof role === "string" && Object.hasOwn(roles, role) ? roles[role] : undefined;
}

function spokenParts(message: JsonObject, format: string, calls: CallPairing): readonly Part[] {
  const reasoning = reasoningFields.map((field) => asName(message[field])).find((text) => text !== undefined);
  const refusal = asName(message["refusal"]);
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...chatContent(message["content"], format),
    ...(refusal === undefined ? [] : [{ type: "text" as const, text: refusal, opaque: { refusal: true } }]),
    ...callsOf(message).map((call) => callPart(call, format, calls)),
  ];
}

function callsOf(message: JsonObject): readonly JsonObject[] {
  const single = asObject(message["function_call"]);
  return single ? [{ function: single }] : objectsOf(message["tool_calls"]);
}

function callPart(call: JsonObject, format: string, calls: CallPairing): Part {
  const inner = asObject(call["function"]) ?? asObject(call["custom"]) ?? call;
  const name = asName(inner["name"]);
  if (name === undefined) return opaquePart({ type: "tool_call", ...call }, format);
  const given = inner["arguments"] ?? inner["args"] ?? inner["input"];
  return {
    type: "tool-call",
    callId: calls.call(asName(call["id"]), name),
    name,
    ...callArguments(given),
    ...opaqueRest(call, callFields),
  };
}

/** The result of a message, or all in its `tool_results`: `[{ tool_call_id, result, is_error }]`. */
function resultParts(
  message: JsonObject,
  name: string | undefined,
  format: string,
  calls: CallPairing,
): readonly Part[] {
  const results = asArray(message["tool_results"]);
  if (!results) return [resultPart(message, name, format, calls)];
  return results.map((entry): Part => {
    const { tool_call_id: id, result, is_error: isError } = asObject(entry) ?? {};
    if (result === undefined) return opaquePart(entry, format);
    const content = typeof result === "string" ? result : JSON.stringify(result);
    return { type: "tool-result", ...calls.result(asName(id)), content, ...(isError === true && { isError: true }) };
  });
}

function resultPart(message: JsonObject, name: string | undefined, format: string, calls: CallPairing): Part {
  const { content } = message;
  const text = typeof content === "string" ? content : asArray(content) ? undefined : "";
  return {
    type: "tool-result",
    ...calls.result(asName(message["tool_call_id"]), name),
    content: text ?? resultContent(chatContent(content, format)),
    ...(message["is_error"] === true ? { isError: true } : {}),
  };
}

function contentPart(block: JsonValue, format: string): Part {
  const object = asObject(block);
  if (!object) return typeof block === "string" ? { type: "text", text: block } : opaquePart(block, format);
  const type = asString(object["type"]);
  const text = asString(object["text"]);
  if (text !== undefined && textTypes.has(type ?? ""))
    return { type: "text", text, ...opaqueRest(object, ["type", "text"]) };
  if (type === "refusal") return { type: "text", text: asString(object["refusal"]) ?? "", opaque: { refusal: true } };
  const url = asName(asObject(object["image_url"])?.["url"]) ?? asName(object["image_url"]);
  if (url !== undefined) return imageFromUrl(url);
  const file = type === "input_file" ? object : asObject(object["file"]);
  const data = dataOfUrl(asString(file?.["file_data"]) ?? "");
  if (data) return { type: "file", ...data, ...defined({ name: asName(file?.["filename"]) }) };
  const reasoning = asString(object["thinking"]) ?? (type === "reasoning" ? text : undefined);
  if (reasoning === undefined) return opaquePart(block, format);
  return { type: "reasoning", text: reasoning, ...defined({ signature: asName(object["signature"]) }) };
}
