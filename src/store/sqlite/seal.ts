/**
 * The seal of a finished session in a database: one hash over its lines. It is made when the session ends, and compared
 * with the lines when the session is opened again.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import { decodeRecord } from "../format/record.ts";
import { BadLine } from "../format/fields.ts";
import { parseLine } from "../format/lines.ts";
import { SealHash, checksumOf, originalChecksum, sealIn } from "../format/seal.ts";
import type { Seal } from "../format/seal.ts";
import { logTables } from "./tables.ts";
import type { Connection } from "./connection/driver.ts";
import { readCounters } from "./log.ts";
import type { Counters } from "./log.ts";
import { parseDocument } from "../format/documents.ts";
import type { LogName, Recovered } from "../store.ts";
import { logKinds, logNames } from "../format/logs.ts";

/** Lines read at once; of most only their number and their end. */
const pageLines = 512;

/** The hash over the lines of a session that nobody adds to any more. */
export async function sealOfSession(connection: Connection, id: string): Promise<string> {
  const hash = new SealHash();
  for (const log of logNames) {
    const { table } = logTables[log];
    const sql =
      `SELECT id, seq, length(CAST(line AS BLOB)) AS bytes, substr(line, 1, 30) AS head, substr(line, -18) AS tail, ` +
      `instr(line, '${originalChecksum}') AS rewritten FROM ${table} WHERE session_id = ? AND (seq, id) > (?, ?) ` +
      `ORDER BY seq, id LIMIT ${pageLines}`;
    let place = { seq: -1, id: 0 };
    for (;;) {
      const page = connection.all(sql, id, place.seq, place.id);
      for (const row of page) {
        place = { seq: Number(row["seq"]), id: Number(row["id"]) };
        const seq = /^\{"seq":(\d{1,15}),/.exec(String(row["head"]))?.[1];
        const crc = /^,"crc":"([0-9a-f]{8})"\}$/.exec(String(row["tail"]))?.[1];
        const isPlain = seq !== undefined && crc !== undefined && row["rewritten"] === 0;
        if (isPlain) hash.add(log, Number(seq), sizedChecksum(crc, Number(row["bytes"])));
        else addWhole(hash, connection, log, place.id);
      }
      if (page.length < pageLines) break;
      await nextTurn();
    }
  }
  return hash.digest();
}

/** As {@link checksumOf}, of a line that was not fetched. */
function sizedChecksum(crc: string, bytes: number): string {
  return checksumOf({ fields: { crc }, text: Buffer.alloc(0), bytes });
}

function addWhole(hash: SealHash, connection: Connection, log: LogName, rowId: number): void {
  const row = connection.get(`SELECT line FROM ${logTables[log].table} WHERE id = ?`, rowId);
  const line = String(row?.["line"] ?? "");
  const [fields] = parseLine(Buffer.from(line)).objects;
  try {
    if (fields) hash.add(log, decodeRecord(logKinds[log], fields).seq, checksumOf({ fields, text: line }));
  } catch (error) {
    if (!(error instanceof BadLine)) throw error;
  }
}

/** The counters of a session that is written again, and the records that its last state counts and its logs lack. */
export interface Continued {
  /** Numbers that were given out are not given out again, also where their records are gone. */
  readonly counters: Counters;
  readonly missing: readonly Recovered[];
}

/**
 * The counters to go on with.
 *
 * @param state - the text of the state
 * @throws WindrowError `store-corrupt` where no message is left of a session that had some
 */
export function goOn(connection: Connection, id: string, state: string): Continued {
  const continued = countersOf(connection, id, state);
  const gone = continued.missing.find(({ file }) => file === "messages");
  if (gone && readCounters(connection, id).seqs.messages === 0) throw messagesGone(id, gone.records ?? 0);
  return continued;
}

/** As {@link goOn}, for who only looks. */
export function countersOf(connection: Connection, id: string, state: string): Continued {
  const counters = readCounters(connection, id);
  const seal = sealIn(parseDocument(state));
  const found: Recovered[] = [];
  let records = 0;
  for (const log of logNames) {
    const short = (seal?.counts[log] ?? 0) - counters.seqs[log];
    if (short > 0) found.push(missing(log, short));
    counters.seqs[log] = Math.max(counters.seqs[log], seal?.counts[log] ?? 0);
    records += counters.seqs[log];
  }
  const places = counters.pos - records;
  if (places > 0) found.push(missing("messages", places));
  counters.pos = Math.max(counters.pos, seal?.pos ?? 0);
  return { counters, missing: found };
}

/** The seal of a session: its counters, and once it ended the hash over its logs. */
export function sealOf({ seqs, pos }: Counters, hash?: string): Seal {
  return { counts: seqs, pos, ...(hash === undefined ? {} : { hash }) };
}

function missing(log: LogName, records: number): Recovered {
  return { file: log, offset: 0, length: 0, problem: "missing", quarantine: "", records };
}

function messagesGone(id: string, records: number): WindrowError {
  return new WindrowError(
    "store-corrupt",
    `The messages of session ${id} are gone: its table has none, and ${records} records are missing. \`windrow restore ` +
      `${id} --from BACKUP --to STORE --replace\` brings the session back; \`windrow doctor\` says more.`,
    { id, records },
  );
}
