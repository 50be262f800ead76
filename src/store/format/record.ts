/**
 * Records as the lines of their files, field by field: snake_case for every field of Windrow's own, and untouched
 * what a host or a provider brought (arguments, results, `extra`, `opaque`, edit data). docs/format.md describes the
 * lines.
 */
import { asCount, asName, defined, isObject } from "../../message/json.ts";
import type { JsonObject, JsonValue, MaskFlag } from "../../message/message.ts";
import type { EditRecord, NewRecord, RecordKind, StoredRecord, UsedTail, UsedWindow } from "../../message/record.ts";
import type { FetchBlob, Spill } from "./blobs.ts";
import { blobValue, fieldOrBlob, noBlobs } from "./blobs.ts";
import { encodeMessage } from "./message.ts";
import { decodeMessage } from "./decode-message.ts";
import type { LineFields } from "./fields.ts";
import { BadLine, amount, decodeUsage, encodeUsage, integer, optional, text } from "./fields.ts";

/**
 * A record's fields as its line has them.
 *
 * @param spill - takes values too large for a line; by default they stay in it
 */
export function encodeRecord(record: NewRecord, spill: Spill = () => undefined): LineFields {
  const fields = encodeFields(record, spill);
  const masks = record.kind === "message" ? record.message.masks : record.masks;
  if (masks === undefined) return fields;
  const flags = masks.map((flag): JsonObject => ({ ...flag }));
  return { ...fields, after: { ...fields.after, masks: flags, ...optional("sealed", record.sealed) } };
}

function encodeFields(record: NewRecord, spill: Spill): LineFields {
  switch (record.kind) {
    case "message":
      return encodeMessage(record, spill);
    case "call":
      return {
        before: {
          tool_name: record.toolName,
          ...fieldOrBlob("arguments", record.arguments, spill),
          timestamp: record.timestamp,
          tool_call_id: record.callId,
        },
        after: {},
      };
    case "tool":
      return {
        before: {
          tool_name: record.toolName,
          ...fieldOrBlob("arguments", record.arguments, spill),
          ...optional("result", record.result),
          status: record.status,
          ...optional("error", record.error),
          duration_ms: Math.round(record.durationMs),
          timestamp: record.timestamp,
          tool_call_id: record.callId,
        },
        after: optional("message_seq", record.messageSeq),
      };
    case "summary":
      return {
        alias: "summary_id",
        before: {
          start_seq: record.startSeq,
          end_seq: record.endSeq,
          summary: record.summary,
          created_at: record.timestamp,
          original_tokens: record.originalTokens,
          summary_tokens: record.summaryTokens,
          compression_ratio: ratio(record.summaryTokens, record.originalTokens),
        },
        after: optional("data", record.data),
      };
    case "snapshot":
      return { before: { timestamp: record.timestamp }, after: { data: record.data } };
    case "edit":
      return { before: { type: record.type, timestamp: record.timestamp }, after: { data: editData(record, spill) } };
    case "usage":
      return {
        before: {
          purpose: record.purpose,
          ...optional("model", record.model),
          usage: encodeUsage(record.usage),
          ...optional("answer_id", record.answerId),
          ...optional("request_id", record.requestId),
          ...optional("tool_calls", record.toolCalls),
          timestamp: record.timestamp,
        },
        after: record.window ? { window: encodeWindow(record.window) } : {},
      };
  }
}

function encodeWindow({ epoch, last, tokens, cached, hash, tail }: UsedWindow): JsonObject {
  return { epoch, last_seq: last, tokens, cached, hash, ...(tail && { tail: { ...tail } }) };
}

function decodeWindow(value: JsonValue | undefined): UsedWindow | undefined {
  if (!isObject(value)) return undefined;
  const { epoch, last_seq: last, tokens, cached, hash } = value;
  if (![epoch, last, tokens, cached].every(Number.isFinite) || typeof hash !== "string") return undefined;
  const window = { epoch: Number(epoch), last: Number(last), tokens: Number(tokens), cached: Number(cached), hash };
  return { ...window, ...defined({ tail: decodeTail(value.tail) }) };
}

function decodeTail(value: JsonValue | undefined): UsedTail | undefined {
  if (!isObject(value) || typeof value.tokens !== "number" || typeof value.before !== "string") return undefined;
  return { tokens: value.tokens, before: value.before };
}

/** The field of an edit's data that may be too large for its line, by the edit's type. */
const largeFields: Readonly<Record<string, string>> = { system: "text", tools: "definitions" };

function editData({ type, data }: EditRecord, spill: Spill): JsonObject {
  const name = largeFields[type];
  if (name === undefined || data[name] === undefined) return data;
  const entries = Object.entries(data).map(([field, item]) =>
    field === name ? fieldOrBlob(field, item, spill) : { [field]: item },
  );
  return Object.assign({}, ...entries) as JsonObject;
}

function decodeEditData(type: string, data: JsonObject, fetch: FetchBlob): JsonObject {
  const name = largeFields[type];
  const large = name === undefined ? undefined : blobValue(data, name, fetch);
  if (name === undefined || large === undefined) return data;
  return Object.fromEntries(
    Object.entries(data).map(([field, item]) => (field === "blob" ? [name, large] : [field, item])),
  );
}

/**
 * A line's fields as a record. Unknown fields are tolerated; a line of another writer may lack `id`, `pos` and the
 * call's id: `pos` is then its `seq`, and the others are `m<seq>`.
 *
 * @throws BadLine when a field the record cannot do without is missing or has the wrong type
 */
export function decodeRecord(kind: RecordKind, fields: JsonObject, fetch: FetchBlob = noBlobs): StoredRecord {
  const record = decodeFields(kind, fields, fetch);
  const { masks, sealed } = fields;
  if (!Array.isArray(masks)) return record;
  const flags = { masks: (masks as readonly JsonValue[]).filter(isMaskFlag) };
  const flagged =
    record.kind === "message" ? { ...record, message: { ...record.message, ...flags } } : { ...record, ...flags };
  return typeof sealed === "string" ? { ...flagged, sealed } : flagged;
}

function isMaskFlag(value: JsonValue): value is JsonValue & MaskFlag {
  return isObject(value) && typeof value["kind"] === "string" && typeof value["placeholder"] === "string";
}

function decodeFields(kind: RecordKind, fields: JsonObject, fetch: FetchBlob): StoredRecord {
  const seq = integer(fields, kind === "summary" && fields["seq"] === undefined ? "summary_id" : "seq", 1);
  const stored = { seq, pos: fields["pos"] === undefined ? seq : integer(fields, "pos", 1) };
  switch (kind) {
    case "message":
      // The numbers first: V8 is ten times slower at adding properties behind a spread.
      return { seq, pos: stored.pos, ...decodeMessage(fields, seq, fetch) };
    case "call":
      return {
        kind,
        callId: callId(fields, seq),
        toolName: text(fields, "tool_name"),
        arguments: value(fields, "arguments", fetch),
        timestamp: text(fields, "timestamp"),
        ...stored,
      };
    case "tool": {
      const status = text(fields, "status");
      if (status !== "success" && status !== "error") throw new BadLine(`status "${status}"`);
      return {
        kind,
        callId: callId(fields, seq),
        toolName: text(fields, "tool_name"),
        arguments: value(fields, "arguments", fetch),
        ...optional("result", fields["result"]),
        ...(fields["message_seq"] === undefined ? {} : { messageSeq: integer(fields, "message_seq", 1) }),
        status,
        ...(typeof fields["error"] === "string" ? { error: fields["error"] } : {}),
        durationMs: amount(fields, "duration_ms"),
        timestamp: text(fields, "timestamp"),
        ...stored,
      };
    }
    case "summary": {
      const data = fields["data"];
      const startSeq = integer(fields, "start_seq", 1);
      return {
        kind,
        startSeq,
        endSeq: integer(fields, "end_seq", startSeq),
        summary: text(fields, "summary"),
        originalTokens: amount(fields, "original_tokens"),
        summaryTokens: amount(fields, "summary_tokens"),
        ...(isObject(data) ? { data } : {}),
        timestamp: text(fields, "created_at"),
        ...stored,
      };
    }
    case "snapshot":
      return { kind, data: object(fields, "data"), timestamp: text(fields, "timestamp"), ...stored };
    case "edit": {
      const type = text(fields, "type");
      const data = decodeEditData(type, object(fields, "data"), fetch);
      return { kind, type, data, timestamp: text(fields, "timestamp"), ...stored };
    }
    case "usage": {
      const purpose = text(fields, "purpose");
      if (purpose !== "turn" && purpose !== "summary" && purpose !== "extraction" && purpose !== "embedding") {
        throw new BadLine(`purpose "${purpose}"`);
      }
      return {
        kind,
        purpose,
        ...(typeof fields["model"] === "string" ? { model: fields["model"] } : {}),
        usage: decodeUsage(fields["usage"]),
        ...defined({
          answerId: asName(fields["answer_id"]),
          requestId: asName(fields["request_id"]),
          toolCalls: asCount(fields["tool_calls"]),
        }),
        ...defined({ window: decodeWindow(fields["window"]) }),
        timestamp: text(fields, "timestamp"),
        ...stored,
      };
    }
  }
}

/** A ratio of three digits; 0 where there was nothing. */
function ratio(part: number, whole: number): number {
  return whole > 0 ? Math.round((1_000 * part) / whole) / 1_000 : 0;
}

function object(fields: JsonObject, name: string): JsonObject {
  const value = fields[name];
  if (!isObject(value)) throw new BadLine(`${name} is no object`);
  return value;
}

function callId(fields: JsonObject, seq: number): string {
  const id = fields["tool_call_id"];
  return typeof id === "string" && id !== "" ? id : `m${seq}`;
}

function value(fields: JsonObject, name: string, fetch: FetchBlob): JsonValue {
  const found = fields[name] ?? blobValue(fields, name, fetch);
  if (found === undefined) throw new BadLine(`${name} is missing`);
  return found;
}
