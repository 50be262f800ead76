/** The examination of a session's lines in a database: each by itself, and the gaps between them. */
import type { JsonObject } from "../../../message/message.ts";
import { decodeRecord } from "../../format/record.ts";
import { decodeState, parseDocument } from "../../format/documents.ts";
import { BadLine } from "../../format/fields.ts";
import { parseLine } from "../../format/lines.ts";
import { lossFindings } from "../../shared/loss-findings.ts";
import { LossCheck, impliedBy } from "../../shared/losses.ts";
import type { Run } from "../../shared/losses.ts";
import { checksumOf, sealIn } from "../../format/seal.ts";
import { putAsideFrom } from "../aside.ts";
import { columnValues, logTables } from "../tables.ts";
import type { Connection, SqlRow, SqlValue } from "../connection/driver.ts";
import { readCounters } from "../log.ts";
import { find } from "./examination.ts";
import type { ExaminedSession } from "./examination.ts";
import type { Examined, LogName } from "../../store.ts";
import { logKinds, logNames } from "../../format/logs.ts";

/** Lines read at once. */
const pageLines = 16;

/** The check of a session's losses. The newest place is read now: a writer may add records while the logs are read. */
export function checkOf(connection: Connection, id: string, row: SqlRow | undefined): LossCheck {
  const fields = parseDocument(String(row?.["state"]));
  const check = new LossCheck(sealIn(fields), readCounters(connection, id).pos);
  const state = decodeState(fields);
  if (state && state.llmCallCount + state.toolCallCount > 0) check.imply(1);
  return check;
}

/** Adds what is missing, after the last line was read. */
export function examineLosses(examined: ExaminedSession): void {
  const isTold = (log: LogName, run: Run): boolean => examined.inDamage.has(`${log} ${run.join("-")}`);
  for (const { log, ...finding } of lossFindings(examined.check.result(), isTold, () => false)) {
    find(examined, { ...finding, file: log === undefined ? "sessions" : logTables[log].table });
  }
}

/** Damaged lines since the newest good one: where they stand, and what is missing there is what they held. */
interface Seen {
  highest: number;
  twice: number;
  readonly damaged: SqlRow[];
}

/** Examines every line of every log; undefined where the session went meanwhile, and what was read may not be all of it. */
export async function examineLines(
  examined: ExaminedSession,
): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes"> | undefined> {
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  for (const log of logNames) {
    const { table, columns } = logTables[log];
    const names = ["id", "seq", "pos", ...columns.map(({ name }) => name), "line"].join(", ");
    const sql = `SELECT ${names} FROM ${table} WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${pageLines}`;
    const seen: Seen = { highest: 0, twice: 0, damaged: [] };
    for (let page = [] as readonly SqlRow[], after = 0; ; after = Number(page.at(-1)?.["id"])) {
      const read = (): readonly SqlRow[] | undefined =>
        isThere(examined, log, after) ? examined.connection.all(sql, examined.id, after) : undefined;
      const found = examined.connection.snapshot(read);
      if (!found) return undefined;
      page = found;
      for (const row of page) {
        const size = Buffer.byteLength(String(row["line"]));
        const fields = await examineLine(examined, log, row);
        total.records += fields ? 1 : 0;
        total[fields ? "goodBytes" : "badBytes"] += size;
        if (fields) await addLine(examined, log, fields, row, seen);
        else seen.damaged.push(row);
      }
      if (page.length < pageLines) break;
    }
    await endLog(examined, log, seen);
    if (seen.twice > 0) {
      const message = `${seen.twice} lines carry a number that came before. Every one is read.`;
      find(examined, { problem: "duplicate-seq", severity: "notice", file: table, message });
    }
  }
  return total;
}

/** Whether a session is the one that is examined, and has the row of a line that was read; none has 0. */
function isThere({ connection, id, row }: ExaminedSession, log: LogName, line: number): boolean {
  const isSame = "SELECT id FROM sessions WHERE id = ? AND metadata IS ?";
  if (row && !connection.get(isSame, id, row["metadata"] ?? null)) return false;
  return (
    line === 0 ||
    connection.get(`SELECT id FROM ${logTables[log].table} WHERE id = ? AND session_id = ?`, line, id) !== undefined
  );
}

/** A good line; what the damaged ones before it held is known now. */
async function addLine(
  examined: ExaminedSession,
  log: LogName,
  fields: JsonObject,
  row: SqlRow,
  seen: Seen,
): Promise<void> {
  const record = decodeRecord(logKinds[log], fields);
  const { seq } = record;
  if (seq <= seen.highest) seen.twice += 1;
  seen.highest = Math.max(seen.highest, seq);
  examined.check.imply(impliedBy(record));
  const pos = fields["pos"] === undefined ? undefined : record.pos;
  const lost = examined.check.add(log, { seq, pos, checksum: checksumOf({ fields, text: String(row["line"]) }) });
  const damaged = seen.damaged.splice(0);
  if (lost && damaged.length > 0) examined.inDamage.add(`${log} ${lost.join("-")}`);
  for (const one of damaged) await findDamaged(examined, logTables[log].table, one, lost);
}

/** Damaged lines behind the last good one: their columns still have their numbers. */
async function endLog(examined: ExaminedSession, log: LogName, seen: Seen): Promise<void> {
  for (const row of seen.damaged) {
    const seq = Number(row["seq"]);
    const lost: Run | undefined = seq > seen.highest ? [seen.highest + 1, seq] : undefined;
    if (lost) {
      examined.check.lose(log, lost);
      examined.inDamage.add(`${log} ${lost.join("-")}`);
      seen.highest = seq;
    }
    await findDamaged(examined, logTables[log].table, row, lost);
  }
}

/** @returns the line's fields, where it is a record */
async function examineLine(examined: ExaminedSession, log: LogName, row: SqlRow): Promise<JsonObject | undefined> {
  const { connection, mend } = examined;
  const { table, columns } = logTables[log];
  const [rowId, line] = [Number(row["id"]), String(row["line"])];
  const where = { file: table, offset: rowId, length: Buffer.byteLength(line) };
  const [fields] = parseLine(Buffer.from(line)).objects;
  const numbers = fields && numbersOf(log, fields);
  if (!fields || !numbers) return undefined;
  const names = ["seq", "pos", ...columns.map(({ name }) => name)];
  const values = [numbers.seq, numbers.pos, ...columnValues(log, fields)];
  if (values.some((value, index) => value !== row[names[index]!])) {
    if (mend) {
      const sql = `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE ${isLine}`;
      await examined.writer.commit(false, () => connection.run(sql, ...values, ...lineOf(examined, row)));
    }
    const message = "Columns of a line say something else than the line. They are copied from it again.";
    find(examined, { ...where, problem: "columns-differ", message, mended: mend });
  }
  return fields;
}

/** A line that is no record. In the place of records it stays damage, whoever copied it aside: they are lost. */
async function findDamaged(
  examined: ExaminedSession,
  table: string,
  row: SqlRow,
  lost: Run | undefined,
): Promise<void> {
  const { connection, id, mend, time } = examined;
  const [rowId, line] = [Number(row["id"]), String(row["line"])];
  const where = { problem: "damaged", file: table, offset: rowId, length: Buffer.byteLength(line) };
  const known = hasAside(connection) && connection.get(isAside, table, rowId, id) !== undefined;
  if (mend && !known) {
    const sql = putAsideFrom(`?, '${table}', id, session_id, line`, `${table} WHERE ${isLine}`);
    await examined.writer.commit(false, () => connection.run(sql, time, ...lineOf(examined, row)));
  }
  const keptAs = mend || known ? { keptAs: "aside" } : {};
  if (lost) {
    const [from, to] = lost;
    const records = to - from + 1;
    const what = records === 1 ? `record ${from}` : `records ${from}–${to}`;
    const message =
      `A damaged line. It held ${what}, which no reader finds any more; every line around it is read. Restore the ` +
      "session from a backup.";
    find(examined, { ...where, ...keptAs, message, remedy: "backup", records });
  } else if (known) {
    const message = "A damaged line that holds no record, copied into the table aside before. It is stepped over.";
    find(examined, { ...where, ...keptAs, severity: "notice", message });
  } else {
    const message = "A damaged line that holds no record. It is stepped over; a copy is put into the table aside.";
    find(examined, { ...where, ...keptAs, message, mended: mend });
  }
}

const isAside = "SELECT 1 FROM aside WHERE source = ? AND source_id = ? AND session_id = ?";

/** The condition of SQL that a line is the one that was read: the numbers of rows that went are given out again. */
const isLine = "id = ? AND session_id = ? AND line IS ?";

function lineOf({ id }: ExaminedSession, row: SqlRow): readonly SqlValue[] {
  return [row["id"] ?? null, id, row["line"] ?? null];
}

function hasAside(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'aside'") !== undefined;
}

function numbersOf(log: LogName, fields: JsonObject): { readonly seq: number; readonly pos: number } | undefined {
  try {
    return decodeRecord(logKinds[log], fields);
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}
