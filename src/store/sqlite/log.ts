/** The lines of a session's logs in a database: encoding, adding, and reading them page by page. */
import type { JsonObject } from "../../message/message.ts";
import type { NewRecord, RecordKind, StoredRecord } from "../../message/record.ts";
import { decodeRecord, encodeRecord } from "../format/record.ts";
import { BadLine } from "../format/fields.ts";
import { lineText, numberedLine, parseLine } from "../format/lines.ts";
import type { LineText } from "../format/lines.ts";
import { cannotStore } from "../shared/prepare.ts";
import { notFound } from "../shared/rules.ts";
import type { SessionRow } from "./session.ts";
import { columnValues, insertLine, lastLine, lineAt, linesAfter, placeFromEnd } from "./tables.ts";
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

/** The newest number of a log; 0 in an empty one. A reader stops there, whatever is added meanwhile. */
export function newestOf(connection: Connection, id: string, log: LogName): number {
  return Number(connection.get(lastLine[log], id)?.["seq"] ?? 0);
}

/** A line's place in its table. */
interface Place {
  readonly seq: number;
  readonly id: number;
}

/** A line that was read, at its place. */
interface LineRead extends Place {
  readonly line: string;
}

/** The session that is read, as its row was when the reading began. */
type Reading = Pick<SessionRow, "id" | "texts">;

/**
 * The rows a query asks for, oldest first. The database is not held between two pages.
 *
 * @param newest - of {@link newestOf}
 * @throws WindrowError `session-not-found` where the session went meanwhile
 */
export async function* rowsOf(
  connection: Connection,
  session: Reading,
  log: LogName,
  newest: number,
  query: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<LogRow> {
  const { id } = session;
  const from = query.from ?? 0;
  const to = Math.min(newest, query.to ?? newest);
  let left = query.last ?? query.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  const start = (): Place => {
    const first =
      query.last === undefined ? undefined : connection.get(placeFromEnd[log], id, from, to, query.last - 1);
    return first ? { seq: Number(first["seq"]), id: Number(first["id"]) - 1 } : { seq: from, id: 0 };
  };
  let place: LineRead | undefined;
  for (let size = firstPage; left > 0;) {
    const page = connection.snapshot(() => {
      checkThere(connection, session, log, newest, place);
      const { seq, id: behind } = place ?? start();
      return connection.all(linesAfter[log], id, seq, behind, to, Math.min(size, left));
    });
    let characters = 0;
    for (const row of page) {
      const { seq, pos, line } = row;
      place = { seq: Number(seq), id: Number(row["id"]), line: String(line) };
      characters += place.line.length;
      yield { ...place, pos: Number(pos) };
    }
    if (page.length < Math.min(size, left)) return;
    left -= page.length;
    size = Math.max(1, Math.min(longestPage, Math.floor((pageCharacters * page.length) / Math.max(1, characters))));
  }
}

/**
 * Refuses a session that went, or was made anew under its id: what is left of its lines is not all of them. The lines of one
 * that came back from the trash have other rows. The rows of one that was made anew may have the places of those that went.
 */
function checkThere(
  connection: Connection,
  { id, texts }: Reading,
  log: LogName,
  newest: number,
  last: LineRead | undefined,
): void {
  const row = connection.get("SELECT id FROM sessions WHERE id = ? AND metadata = ?", id, texts.metadata);
  if (!row || newestOf(connection, id, log) < newest) throw notFound(id);
  if (last && connection.get(lineAt[log], last.id, id, last.seq)?.["line"] !== last.line) throw notFound(id);
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
