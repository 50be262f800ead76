/** The lines of a session's logs in Postgres, read page by page. */
import { logNames } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import type { Counters } from "../shared/session-log.ts";
import { notFound } from "../shared/rules.ts";
import type { LogName, ReadQuery } from "../store.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import type { KnownRows, LogRow } from "./ends.ts";
import { logNumbers } from "./schema.ts";
import type { SessionRow } from "./session.ts";

/** Lines and bytes read at once, at most; a single line may have more. */
interface Page {
  readonly lines: number;
  readonly bytes: number;
}

/** The pages of a reader, who may stop at any line: the first, and those behind it. */
const firstPage: Page = { lines: 32, bytes: 1024 * 1024 };
const longestPage: Page = { lines: 1024, bytes: 1024 * 1024 };

/** The pages of who takes a session and needs its window: mostly one. */
const windowPage: Page = { lines: 8192, bytes: 4 * 1024 * 1024 };

/** The last numbers of a session, as its lines have them. */
export async function readCounters({ asker, schema }: Database, key: string): Promise<Counters> {
  const counters: Counters = { seqs: noCounts(), pos: 0 };
  const sql =
    "SELECT l.log, r.seq, r.pos FROM generate_series(1, 7) AS l(log), LATERAL (SELECT seq, pos FROM " +
    `${schema}.record WHERE session = $1 AND log = l.log ORDER BY seq DESC LIMIT 1) r`;
  for (const row of await asker.ask(sql, [key])) {
    const log = logNames[Number(row["log"]) - 1];
    if (!log) continue;
    counters.seqs[log] = Number(row["seq"]);
    counters.pos = Math.max(counters.pos, Number(row["pos"]));
  }
  return counters;
}

/** The newest number of a log; 0 in an empty one. A reader stops there, whatever is added meanwhile. */
export async function newestOf({ asker, schema }: Database, key: string, log: LogName): Promise<number> {
  const sql = `SELECT coalesce(max(seq), 0) AS seq FROM ${schema}.record WHERE session = $1 AND log = $2`;
  const [row] = await asker.ask(sql, [key, logNumbers[log]]);
  return Number(row?.["seq"] ?? 0);
}

/** A session that is read, as its row was when the reading began. */
type Reading = Pick<SessionRow, "key" | "id">;

/**
 * The rows a query asks for, oldest first. The first page says where the log ended when it was read.
 *
 * @throws WindrowError `session-not-found` where the session was erased meanwhile, also where it was made anew under its id
 */
export async function* rowsOf(
  database: Database,
  reading: Reading,
  log: LogName,
  query: Omit<ReadQuery, "kind"> = {},
): AsyncGenerator<LogRow> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, last, limit = Number.POSITIVE_INFINITY } = query;
  if (last === 0 || limit === 0) return;
  if (last !== undefined && last <= longestPage.lines) {
    yield* await newestRows(database, reading, log, { from, to, last });
    return;
  }
  const newest = Math.min(to, await newestOf(database, reading.key, log));
  const first = last === undefined ? from : await seqFromEnd(database, reading.key, log, { from, to: newest, last });
  yield* following(database, reading, log, { from: first, to: newest, left: limit }, firstPage, longestPage);
}

/** The rows of a session that this process took: those that are not known are asked for. */
export async function* knownRows(
  database: Database,
  reading: Reading,
  log: LogName,
  { before, rows }: KnownRows,
): AsyncGenerator<LogRow> {
  if (before)
    yield* following(database, reading, log, { ...before, left: Number.POSITIVE_INFINITY }, windowPage, windowPage);
  yield* rows;
}

/** Every row of a log, in as few pages as memory allows. */
export async function* allRows(
  database: Database,
  reading: Reading,
  log: LogName,
  { seqs }: Pick<Counters, "seqs">,
): AsyncGenerator<LogRow> {
  if (seqs[log] > 0) yield* knownRows(database, reading, log, { before: { from: 0, to: seqs[log] }, rows: [] });
}

async function* following(
  { asker, schema }: Database,
  { key, id }: Reading,
  log: LogName,
  range: { readonly from: number; readonly to: number; readonly left: number },
  first: Page,
  later: Page,
): AsyncGenerator<LogRow> {
  const page =
    "SELECT seq, twin, body, found FROM (SELECT seq, twin, body, count(*) OVER () AS found, sum(octet_length(body)) OVER " +
    "(ORDER BY seq, twin) - octet_length(body) AS before FROM (SELECT seq, twin, body FROM " +
    `${schema}.record WHERE session = $1 AND log = $2 AND (seq, twin) > ($3, $4) AND seq <= $5 ORDER BY seq, twin ` +
    "LIMIT $6) AS page) AS sized WHERE before < $7";
  const sql = `${besideSession(schema, page)} ORDER BY r.seq, r.twin`;
  let { left } = range;
  let place = { seq: range.from, twin: -1 };
  for (let size = first; left > 0; size = later) {
    const asked = Math.min(size.lines, left);
    const values = [key, logNumbers[log], place.seq, place.twin, range.to, asked, size.bytes];
    const rows = rowsThere(id, await asker.askOften(sql, values));
    for (const row of rows) {
      const found = logRow(row);
      place = found;
      yield found;
    }
    if (rows.length < asked && rows.length === Number(rows[0]?.["found"] ?? 0)) return;
    left -= rows.length;
  }
}

/**
 * A statement that reads lines, and says in the same moment whether their session is there: it gives no row without it, and one
 * of nulls where there are no lines. The key of a row is given to no other one.
 *
 * @param lines - the statement, whose first parameter is the session's key
 */
function besideSession(schema: string, lines: string): string {
  return `SELECT r.* FROM ${schema}.session s LEFT JOIN (${lines}) AS r ON true WHERE s.key = $1`;
}

/** The lines that such a statement gave. */
function rowsThere(id: string, rows: readonly PostgresRow[]): readonly PostgresRow[] {
  if (rows.length === 0) throw notFound(id);
  return rows.filter((row) => row["seq"] !== null);
}

interface NewestQuery {
  readonly from: number;
  readonly to: number;
  readonly last: number;
}

async function newestRows(
  { asker, schema }: Database,
  { key, id }: Reading,
  log: LogName,
  { from, to, last }: NewestQuery,
): Promise<readonly LogRow[]> {
  const newest =
    `SELECT seq, twin, body FROM ${schema}.record WHERE session = $1 AND log = $2 AND seq BETWEEN $3 AND $4 ` +
    "ORDER BY seq DESC, twin DESC LIMIT $5";
  const sql = `${besideSession(schema, newest)} ORDER BY r.seq, r.twin`;
  return rowsThere(id, await asker.askOften(sql, [key, logNumbers[log], from, to, last])).map(logRow);
}

async function seqFromEnd(
  { asker, schema }: Database,
  key: string,
  log: LogName,
  { from, to, last }: NewestQuery,
): Promise<number> {
  const sql =
    `SELECT seq FROM ${schema}.record WHERE session = $1 AND log = $2 AND seq BETWEEN $3 AND $4 ` +
    "ORDER BY seq DESC, twin DESC LIMIT 1 OFFSET $5";
  const [row] = await asker.ask(sql, [key, logNumbers[log], from, to, last - 1]);
  return row ? Number(row["seq"]) : from;
}

function logRow(row: PostgresRow): LogRow {
  return { seq: Number(row["seq"]), twin: Number(row["twin"]), line: String(row["body"]) };
}
