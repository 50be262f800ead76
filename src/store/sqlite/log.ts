/** The lines of a session's logs in a database: encoding, adding, and reading them page by page. */
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { BadLine } from "../format/fields.ts";
import { lineText, numberedLine, parseLine } from "../format/lines.ts";
import type { LineText } from "../format/lines.ts";
import { cannotStore } from "../shared/prepare.ts";
import { columnValues, insertLine, lastLine, linesAfter, newestId, placeFromEnd } from "./tables.ts";
import type { Connection, SqlValue } from "./connection/driver.ts";
import type { LogName, ReadQuery } from "../store.ts";
import { kindLogs, logNames } from "../format/logs.ts";

/** Characters read at once, about; a single line may have more. */
const pageCharacters = 1024 * 1024;

/** Lines read at once: first, and at most. */
const firstPage = 16;
const longestPage = 512;

/** A line as it lies in its table. */
export interface LogRow {
  readonly id: number;
  readonly seq: number;
  readonly pos: number;
  readonly line: string;
}

/** A record ready to be written, but for its numbers. */
export interface Encoded {
  readonly record: NewRecord;
  readonly log: LogName;
  readonly text: LineText;
  readonly columns: readonly SqlValue[];
}

/** The last numbers of a session. */
export interface Counters {
  readonly seqs: Record<LogName, number>;
  pos: number;
}

/**
 * A record as JSON; one that could not be read back is refused before anything is written.
 *
 * @throws WindrowError `bad-message`
 */
export function encode(record: NewRecord): Encoded {
  try {
    const fields = encodeRecord(record);
    const all: JsonObject = { seq: 1, ...fields.before, ...fields.after };
    decodeRecord(record.kind, all);
    const log = kindLogs[record.kind];
    return { record, log, text: lineText(fields), columns: columnValues(log, all) };
  } catch (error) {
    throw cannotStore(record.kind, error);
  }
}

/** Adds a record and counts it. */
export function addRecord(connection: Connection, id: string, counters: Counters, encoded: Encoded): StoredRecord {
  const { log, text, columns, record } = encoded;
  const seq = counters.seqs[log] + 1;
  const pos = counters.pos + 1;
  connection.add(insertLine[log], id, seq, pos, ...columns, numberedLine(text, seq, pos));
  counters.seqs[log] = seq;
  counters.pos = pos;
  return { seq, pos, ...record };
}

/** The last numbers of a session, as its tables have them. */
export function readCounters(connection: Connection, id: string): Counters {
  const counters: Counters = {
    seqs: { messages: 0, calls: 0, tools: 0, usage: 0, summaries: 0, snapshot: 0, edits: 0 },
    pos: 0,
  };
  for (const log of logNames) {
    const last = connection.get(lastLine[log], id);
    counters.seqs[log] = Number(last?.["seq"] ?? 0);
    counters.pos = Math.max(counters.pos, Number(last?.["pos"] ?? 0));
  }
  return counters;
}

/** The newest row of a log; 0 in an empty one. A reader stops there, whatever is added meanwhile. */
export function newestOf(connection: Connection, log: LogName): number {
  return Number(connection.get(newestId[log])?.["id"] ?? 0);
}

/** The rows a query asks for, oldest first. The database is not held between two pages. */
export async function* rowsOf(
  connection: Connection,
  id: string,
  log: LogName,
  newest: number,
  query: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<LogRow> {
  const from = query.from ?? 0;
  const to = query.to ?? Number.MAX_SAFE_INTEGER;
  let left = query.last ?? query.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  let place = { seq: from, id: 0 };
  if (query.last !== undefined) {
    const first = connection.get(placeFromEnd[log], id, from, to, newest, query.last - 1);
    if (first) place = { seq: Number(first["seq"]), id: Number(first["id"]) - 1 };
  }
  for (let size = firstPage; left > 0;) {
    const page = connection.all(linesAfter[log], id, place.seq, place.id, to, newest, Math.min(size, left));
    let characters = 0;
    for (const row of page) {
      const { seq, pos, line } = row;
      place = { seq: Number(seq), id: Number(row["id"]) };
      characters += String(line).length;
      yield { ...place, pos: Number(pos), line: String(line) };
    }
    if (page.length < Math.min(size, left)) return;
    left -= page.length;
    size = Math.max(1, Math.min(longestPage, Math.floor((pageCharacters * page.length) / Math.max(1, characters))));
  }
}

/** The record of a line; undefined for one that is damaged. */
export function recordOf(kind: RecordKind, line: string): StoredRecord | undefined {
  const [fields] = parseLine(Buffer.from(line)).objects;
  try {
    return fields && decodeRecord(kind, fields);
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}
