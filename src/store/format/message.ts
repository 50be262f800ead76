/**
 * A message as its line in `messages.jsonl`.
 *
 * A value that a field of the line has room for stands there and nowhere else: the first tool result (or, without one, the first
 * text) is `content`, `tool_call_id`, `tool_name`, `is_error`; every call is an entry of `tool_calls`. `parts` is
 * written only where that does not say it all. Its entries stand in the message's order; one that lacks its own value
 * is a *reference*: `{"type":"text"}` is the text in `content`, `{"type":"tool_call"}` the next entry of
 * `tool_calls`, `{"type":"tool_result"}` the result in `content`.
 *
 * A value too large for a line stands in a file of its own, which the entry's field `blob` names; `content` then shows
 * its beginning and its end.
 */
import type { JsonObject, Part, ResultContent, Role, ToolCallPart } from "../../message/message.ts";
import type { TextPart, ToolResultPart } from "../../message/message.ts";
import type { MessageRecord } from "../../message/record.ts";
import type { BlobName, Spill } from "./blobs.ts";
import { blobField, fieldOrBlob } from "./blobs.ts";
import type { LineFields } from "./fields.ts";
import { encodeUsage, optional } from "./fields.ts";

/** The place of a message's values: the part that `content` carries, and where large values go. */
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

/** The piece of a result that `content` carries: its first text. */
function carriedItem(items: readonly ResultContent[]): TextPart | undefined {
  return items.find((item): item is TextPart => item.type === "text");
}

/** The entries of `parts` that a line without `parts` stands for. */
export function impliedEntries(role: Role, content: string, hasResult: boolean, calls: number): readonly JsonObject[] {
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
