/** The line of a message read back: the reverse of `message.ts`, lenient to lines of other writers. */
import { isObject } from "../../message/json.ts";
import { callArguments } from "../../message/parts.ts";
import type {
  JsonObject,
  JsonValue,
  Message,
  MessageStatus,
  Part,
  ResultContent,
  Role,
  ToolCallPart,
  ToolResultPart,
} from "../../message/message.ts";
import type { MessageRecord } from "../../message/record.ts";
import type { FetchBlob } from "./blobs.ts";
import { blobValue, noBlobs } from "./blobs.ts";
import { impliedEntries } from "./message.ts";
import { BadLine, amount, decodeUsage, text } from "./fields.ts";

const roles: readonly Role[] = ["system", "user", "assistant", "tool"];
const statuses: readonly MessageStatus[] = ["complete", "interrupted", "synthetic"];

/**
 * The reverse of {@link encodeMessage}; large values are fetched, and where they cannot be had, show their ends. Lines of other
 * writers are read too: without `id` it is `m<seq>`; a `function_call` is a call, and it and a result without a call's id have the
 * message's own id in its place, so that steps pair them by name and order; `is_summarized` is ignored, as summaries say it.
 *
 * @throws BadLine when a field is missing or has the wrong type
 */
export function decodeMessage(fields: JsonObject, seq: number, fetch: FetchBlob = noBlobs): MessageRecord {
  const role = roles.find((known) => known === fields["role"]);
  if (role === undefined) throw new BadLine("role is unknown");
  const content = text(fields, "content");
  const timestamp = text(fields, "timestamp");
  const id = typeof fields["id"] === "string" && fields["id"] !== "" ? fields["id"] : `m${seq}`;
  const status = statuses.find((known) => known === fields["status"]);
  const extra = isObject(fields["extra"]) ? fields["extra"] : undefined;
  const given = fields["function_call"];
  const call = functionCall(given, id);
  const parts = decodeParts({ fields, role, content, id, fetch });
  const message: Message = {
    id,
    role,
    parts: call ? [...parts, call] : parts,
    timestamp,
    ...(status ? { status } : {}),
    ...(typeof fields["model"] === "string" ? { model: fields["model"] } : {}),
    ...(isObject(fields["usage"]) ? { usage: decodeUsage(fields["usage"]) } : {}),
    ...(given === undefined || call ? (extra ? { extra } : {}) : { extra: { ...extra, function_call: given } }),
  };
  return { kind: "message", message, tokenCount: amount(fields, "token_count"), timestamp };
}

/** The one call of a message in a form without an id; undefined where it has no name, or further fields. */
function functionCall(value: JsonValue | undefined, id: string): ToolCallPart | undefined {
  if (!isObject(value)) return undefined;
  const { name, arguments: given, args, ...rest } = value;
  if (typeof name !== "string" || name === "" || Object.keys(rest).length > 0) return undefined;
  return { type: "tool-call", callId: id, name, ...callArguments(given ?? args) };
}

/** The line whose parts are decoded. */
interface Decoding {
  readonly fields: JsonObject;
  readonly role: Role;
  readonly content: string;
  readonly id: string;
  readonly fetch: FetchBlob;
}

function decodeParts(line: Decoding): readonly Part[] {
  const { fields, role, content } = line;
  const calls = array(fields["tool_calls"]).map((call) => decodeCall(call, line.fetch));
  const hasResult = typeof fields["tool_call_id"] === "string";
  const entries =
    fields["parts"] === undefined
      ? impliedEntries(role, content, hasResult, calls.length)
      : array(fields["parts"]).map(entry);
  let nextCall = 0;
  return entries.map((part): Part => {
    switch (part["type"]) {
      case "tool_call": {
        const call = calls[nextCall];
        nextCall += 1;
        if (!call) throw new BadLine("parts name more calls than tool_calls has");
        return call;
      }
      case "tool_result":
        return decodeResult(part, line);
      case "reasoning":
        return {
          type: "reasoning",
          text: large(part, "text", "", line),
          ...strings(part, "signature"),
          ...opaqueOf(part),
        };
      default:
        return decodeItem(part, line);
    }
  });
}

/** A text that stands in its entry, in a blob, or else in `otherwise`. */
function large(part: JsonObject, name: string, otherwise: string, { content, fetch }: Decoding): string {
  const value = blobValue(part, name, fetch, content);
  if (typeof value === "string") return value;
  return string(part, name, part["blob"] === undefined ? otherwise : "");
}

function decodeResult(part: JsonObject, line: Decoding): ToolResultPart {
  const own = part["tool_call_id"] === undefined ? line.fields : part;
  const isError = own["is_error"];
  const name = own["tool_name"];
  const items = part["content"];
  return {
    type: "tool-result",
    callId: string(own, "tool_call_id", line.id),
    ...(typeof name === "string" ? { name } : {}),
    content: Array.isArray(items)
      ? items.map((item) => decodeItem(entry(item), line))
      : large(part, "content", line.content, line),
    ...(typeof isError === "boolean" ? { isError } : {}),
    ...opaqueOf(part),
  };
}

function decodeItem(part: JsonObject, line: Decoding): ResultContent {
  const data = blobValue(part, "data", line.fetch);
  switch (part["type"]) {
    case "text":
      return { type: "text", text: large(part, "text", line.content, line), ...opaqueOf(part) };
    case "image": {
      const { width, height } = part;
      return {
        type: "image",
        mediaType: string(part, "media_type", ""),
        ...strings(part, "data", "url"),
        ...(typeof data === "string" ? { data } : {}),
        ...(typeof width === "number" ? { width } : {}),
        ...(typeof height === "number" ? { height } : {}),
        ...opaqueOf(part),
      };
    }
    case "file":
      return {
        type: "file",
        mediaType: string(part, "media_type", ""),
        ...strings(part, "name", "data", "url"),
        ...(typeof data === "string" ? { data } : {}),
        ...opaqueOf(part),
      };
    case "opaque":
      return { type: "opaque", kind: string(part, "kind", ""), data: part["data"] ?? null };
    default:
      return { type: "opaque", kind: `unknown/${string(part, "type", "part")}`, data: part };
  }
}

function decodeCall(value: JsonValue, fetch: FetchBlob): ToolCallPart {
  const call = entry(value);
  const argsText = call["args_text"];
  return {
    type: "tool-call",
    callId: text(call, "id"),
    name: text(call, "name"),
    args: call["args"] ?? blobValue(call, "args", fetch) ?? null,
    ...(typeof argsText === "string" ? { argsText } : {}),
    ...opaqueOf(call),
  };
}

function opaqueOf(part: JsonObject): { readonly opaque?: JsonValue } {
  const { opaque } = part;
  return opaque === undefined ? {} : { opaque };
}

function strings(part: JsonObject, ...names: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = part[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}

function string(part: JsonObject, name: string, otherwise: string): string {
  const value = part[name];
  return typeof value === "string" ? value : otherwise;
}

function array(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function entry(value: JsonValue): JsonObject {
  if (!isObject(value)) throw new BadLine("an entry is no object");
  return value;
}
