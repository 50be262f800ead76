/** Lines as they lie in a file: a large value is in a file of its own, and everywhere else in its line. */
import type { JsonObject } from "../../../message/message.ts";
import type { RecordKind, StoredRecord } from "../../../message/record.ts";
import { largestInline, spillInto } from "../../format/blobs.ts";
import type { Blob, FetchBlob, Spill } from "../../format/blobs.ts";
import { BadLine, optional } from "../../format/fields.ts";
import { lineText, numberedLine } from "../../format/lines.ts";
import { decodeRecord, encodeRecord } from "../../format/record.ts";
import { originalChecksum } from "../../format/seal.ts";

/** The line as it is written: large values leave it where it can be put together again to the byte. */
export function spilled(kind: RecordKind, line: string, large: Blob[]): string {
  if (line.length <= largestInline / 3) return line;
  const fields = JSON.parse(line) as JsonObject;
  const record = decodeRecord(kind, fields);
  return lineOf(record, fields) === line ? lineOf(record, fields, spillInto(large)) : line;
}

/** The line with its large values in it; undefined where it has none, or not all of them can be had. */
export function inlined(kind: RecordKind, fields: JsonObject, bytes: Buffer, fetch: FetchBlob): string | undefined {
  if (!bytes.includes('"blob":')) return undefined;
  let [fetched, lacking] = [false, false];
  try {
    const record = decodeRecord(kind, fields, (name) => {
      fetched = true;
      const text = fetch(name);
      lacking ||= text === undefined;
      return text;
    });
    return fetched && !lacking ? lineOf(record, fields) : undefined;
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}

/** A record as its line; what is no part of a record is taken from the fields it was read from. */
function lineOf({ seq, pos, ...record }: StoredRecord, fields: JsonObject, spill?: Spill): string {
  const { more, [originalChecksum]: original } = fields;
  const encoded = encodeRecord(record, spill);
  const text = lineText({ ...encoded, after: { ...encoded.after, ...optional(originalChecksum, original) } });
  return numberedLine(text, seq, pos, typeof more === "number" ? more : undefined);
}
