/**
 * A message as its line in `messages.jsonl`.
 *
 * What fits the seed's own fields stands there and nowhere else: the first tool result (or, without one, the first
 * text) is `content`, `tool_call_id`, `tool_name`, `is_error`; every call is an entry of `tool_calls`. `parts` is
 * written only where that does not say it all. Its entries stand in the message's order; one that lacks its own value
 * is a *reference*: `{"type":"text"}` is the text in `content`, `{"type":"tool_call"}` the next entry of
 * `tool_calls`, `{"type":"tool_result"}` the result in `content`.
 *
 * A value too large for a line stands in a file of its own, which the entry's field `blob` names; `content` then shows
 * its beginning and its end.
 */
import { isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, Message, Part, ResultContent, Role, ToolCallPart } from "../../message/message.ts";
import type { MessageStatus, TextPart, ToolResultPart } from "../../message/message.ts";
import type { MessageRecord } from "../../message/record.ts";
import type { BlobName, FetchBlob, Spill } from "./blobs.ts";
import { blobField, blobValue, fieldOrBlob, noBlobs } from "./blobs.ts";
import type { LineFields } from "./fields.ts";
import { BadLine, amount, decodeUsage, encodeUsage, optional, text } from "./fields.ts";

const roles: readonly Role[] = ["system", "user", "assistant", "tool"];
const statuses: readonly MessageStatus[] = ["complete", "interrupted", "synthetic"];

/** What the encoding of a message's parts needs: what `content` carries, and where large values go. */
interface Encoding {
  readonly carrier: Part | undefined;
  /** The blob that `content` shows the ends of. */
  readonly carried: BlobName | undefined;
  readonly spill: Spill;
}

/**
 * A message record's fields in file order. The line's `timestamp` is the message's own where it has one.
 *
 * @param spill - takes large values; by default they stay in the line
 */
export function encodeMessage(record: MessageRecord, spill: Spill = () => undefined): LineFields {
  const { message, tokenCount, timestamp } = record;
  const carrier = carrierOf(message.parts);
  const result = carrier?.type === "tool-result" ? carrier : undefined;
  const whole = contentOf(carrier);
  const carried = spill(whole);
  const content = carried?.preview ?? whole;
  const encoding = { carrier, carried, spill };
  const calls = message.parts.filter((part) => part.type === "tool-call").map((call) => encodeCall(call, spill));
  const entries = message.parts.map((part) => encodePart(part, encoding));
  const implied = impliedEntries(message.role, content, result !== undefined, calls.length);
  return {
    before: {
      role: message.role,
      content,
      timestamp: message.timestamp ?? timestamp,
      token_count: tokenCount,
      ...optional("tool_name", result?.name),
      id: message.id,
    },
    after: {
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...optional("tool_call_id", result?.callId),
      ...optional("is_error", result?.isError),
      ...optional("status", message.status),
      ...optional("model", message.model),
      ...(message.usage ? { usage: encodeUsage(message.usage) } : {}),
      ...(sameReferences(entries, implied) ? {} : { parts: entries }),
      ...optional("extra", message.extra),
    },
  };
}

/**
 * The reverse of {@link encodeMessage}; large values are fetched, and where they cannot be had, show their ends. Lines of other writers are read too: without `id` it is `m<seq>`; a
 * `function_call` (seed 001) is kept in `extra`; `is_summarized` is ignored, as summaries say it.
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
  const call = fields["function_call"];
  const message: Message = {
    id,
    role,
    parts: decodeParts({ fields, role, content, id, fetch }),
    timestamp,
    ...(status ? { status } : {}),
    ...(typeof fields["model"] === "string" ? { model: fields["model"] } : {}),
    ...(isObject(fields["usage"]) ? { usage: decodeUsage(fields["usage"]) } : {}),
    ...(call === undefined ? (extra ? { extra } : {}) : { extra: { ...extra, function_call: call } }),
  };
  return { kind: "message", message, tokenCount: amount(fields, "token_count"), timestamp };
}

/** The part that `content` carries: the first tool result, else the first text. */
function carrierOf(parts: readonly Part[]): ToolResultPart | TextPart | undefined {
  return (
    parts.find((part): part is ToolResultPart => part.type === "tool-result") ??
    parts.find((part): part is TextPart => part.type === "text")
  );
}

function contentOf(carrier: ToolResultPart | TextPart | undefined): string {
  if (carrier === undefined) return "";
  if (carrier.type === "text") return carrier.text;
  if (typeof carrier.content === "string") return carrier.content;
  return carriedItem(carrier.content)?.text ?? "";
}

/** Of a result in several pieces, `content` carries the first text. */
function carriedItem(items: readonly ResultContent[]): TextPart | undefined {
  return items.find((item): item is TextPart => item.type === "text");
}

/** What a line without `parts` holds. */
function impliedEntries(role: Role, content: string, hasResult: boolean, calls: number): readonly JsonObject[] {
  const first = hasResult || role === "tool" ? [{ type: "tool_result" }] : content === "" ? [] : [{ type: "text" }];
  return [...first, ...Array.from({ length: calls }, () => ({ type: "tool_call" }))];
}

function sameReferences(entries: readonly JsonObject[], implied: readonly JsonObject[]): boolean {
  return (
    entries.length === implied.length &&
    entries.every((entry, index) => Object.keys(entry).length === 1 && entry["type"] === implied[index]?.["type"])
  );
}

function encodeCall(part: ToolCallPart, spill: Spill): JsonObject {
  return {
    id: part.callId,
    name: part.name,
    ...fieldOrBlob("args", part.args, spill),
    ...optional("args_text", part.argsText),
    ...optional("opaque", part.opaque),
  };
}

function encodePart(part: Part, encoding: Encoding): JsonObject {
  switch (part.type) {
    case "reasoning":
      return {
        type: "reasoning",
        ...fieldOrBlob("text", part.text, encoding.spill),
        ...optional("signature", part.signature),
        ...optional("opaque", part.opaque),
      };
    case "tool-call":
      return { type: "tool_call" };
    case "tool-result":
      return encodeResult(part, encoding);
    default:
      return encodeItem(part, part === encoding.carrier, encoding);
  }
}

function encodeResult(part: ToolResultPart, encoding: Encoding): JsonObject {
  const isCarrier = part === encoding.carrier;
  const own = { tool_call_id: part.callId, ...optional("tool_name", part.name), ...optional("is_error", part.isError) };
  return {
    type: "tool_result",
    ...(isCarrier ? {} : own),
    ...(typeof part.content === "string"
      ? textField("content", part.content, isCarrier, encoding)
      : { content: encodeItems(part.content, isCarrier, encoding) }),
    ...optional("opaque", part.opaque),
  };
}

/** A text that `content` carries is not repeated. */
function textField(name: string, value: string, isCarried: boolean, { carried, spill }: Encoding): JsonObject {
  if (!isCarried) return fieldOrBlob(name, value, spill);
  return carried ? blobField(name, carried, false, false) : {};
}

function encodeItems(items: readonly ResultContent[], isCarrier: boolean, encoding: Encoding): readonly JsonObject[] {
  const first = isCarrier ? carriedItem(items) : undefined;
  return items.map((item) => encodeItem(item, item === first, encoding));
}

function encodeItem(part: ResultContent, isCarried: boolean, encoding: Encoding): JsonObject {
  switch (part.type) {
    case "text":
      return {
        type: "text",
        ...textField("text", part.text, isCarried, encoding),
        ...optional("opaque", part.opaque),
      };
    case "image":
      return {
        type: "image",
        media_type: part.mediaType,
        ...fieldOrBlob("data", part.data, encoding.spill),
        ...optional("url", part.url),
        ...optional("width", part.width),
        ...optional("height", part.height),
        ...optional("opaque", part.opaque),
      };
    case "file":
      return {
        type: "file",
        media_type: part.mediaType,
        ...optional("name", part.name),
        ...fieldOrBlob("data", part.data, encoding.spill),
        ...optional("url", part.url),
        ...optional("opaque", part.opaque),
      };
    case "opaque":
      return { type: "opaque", kind: part.kind, data: part.data };
  }
}

/** What the decoding of a line's parts needs. */
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
