/**
 * The seal of a session in Postgres: the counts of its logs, and for a finished one a hash over its lines. It is made when
 * the session ends, and compared with the lines when the session is opened again.
 */
import { WindrowError } from "../../errors.ts";
import { BadLine } from "../format/fields.ts";
import { parseDocument } from "../format/documents.ts";
import { parseLine } from "../format/lines.ts";
import { logKinds, logNames } from "../format/logs.ts";
import { decodeRecord } from "../format/record.ts";
import { SealHash, checksumOf, originalChecksum, sealIn } from "../format/seal.ts";
import type { LogName, Recovered } from "../store.ts";
import type { Database } from "./database.ts";
import { readCounters } from "./log.ts";
import type { Counters } from "./log.ts";
import { logNumbers } from "./schema.ts";
import type { SessionRow } from "./session.ts";

/** Lines read at once; of most only their number and their end. */
const pageLines = 2_048;

/** The hash over the lines of a session that nobody adds to any more. */
export async function sealOfSession({ asker, schema }: Database, key: string): Promise<string> {
  const hash = new SealHash();
  const sql =
    "SELECT seq, twin, octet_length(body) AS bytes, left(body, 30) AS head, right(body, 18) AS tail, " +
    `position('${originalChecksum}' IN body) > 0 AS rewritten FROM ${schema}.record ` +
    `WHERE session = $1 AND log = $2 AND (seq, twin) > ($3, $4) ORDER BY seq, twin LIMIT ${pageLines}`;
  for (const log of logNames) {
    for (let after = { seq: -1, twin: 0 }; ;) {
      const page = await asker.ask(sql, [key, logNumbers[log], after.seq, after.twin]);
      for (const row of page) {
        after = { seq: Number(row["seq"]), twin: Number(row["twin"]) };
        const seq = /^\{"seq":(\d{1,15}),/.exec(String(row["head"]))?.[1];
        const crc = /^,"crc":"([0-9a-f]{8})"\}$/.exec(String(row["tail"]))?.[1];
        const isPlain = seq !== undefined && crc !== undefined && row["rewritten"] === false;
        if (isPlain) {
          const line = { fields: { crc }, text: Buffer.alloc(0), bytes: Number(row["bytes"]) };
          hash.add(log, Number(seq), checksumOf(line));
        } else addWhole(hash, log, await bodyOf({ asker, schema }, key, log, after));
      }
      if (page.length < pageLines) break;
    }
  }
  return hash.digest();
}

async function bodyOf(
  { asker, schema }: Pick<Database, "asker" | "schema">,
  key: string,
  log: LogName,
  { seq, twin }: { readonly seq: number; readonly twin: number },
): Promise<string> {
  const sql = `SELECT body FROM ${schema}.record WHERE session = $1 AND log = $2 AND seq = $3 AND twin = $4`;
  const [row] = await asker.ask(sql, [key, logNumbers[log], seq, twin]);
  const body = row?.["body"];
  return typeof body === "string" ? body : "";
}

function addWhole(hash: SealHash, log: LogName, line: string): void {
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
 * @param head - the highest place that the session's row has
 * @throws WindrowError `store-corrupt` where no message is left of a session that had some
 */
export async function goOn(database: Database, row: SessionRow, state: string, head: number): Promise<Continued> {
  const { counters, missing, messages } = await countersOf(database, row.key, state);
  const gone = missing.find(({ file }) => file === "messages");
  if (gone && messages === 0) throw messagesGone(row.id, gone.records ?? 0);
  return { counters: { ...counters, pos: head }, missing };
}

/** As {@link goOn}, for who only looks; with the number of the newest message that is there. */
export async function countersOf(
  database: Database,
  key: string,
  state: string,
): Promise<Continued & { readonly messages: number }> {
  const counters = await readCounters(database, key);
  const { messages } = counters.seqs;
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
  return { counters, missing: found, messages };
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
