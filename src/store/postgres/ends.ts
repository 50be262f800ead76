/** The ends of a session's logs, as they were when a process took the session: a resume reads them without asking again. */
import { kindLogs, logNames } from "../format/logs.ts";
import { noCounts } from "../format/seal.ts";
import { recordOf } from "../shared/session-log.ts";
import type { Counters } from "../shared/session-log.ts";
import type { LogName, ReadQuery } from "../store.ts";
import type { PostgresRow } from "./client.ts";
import { logNumbers } from "./schema.ts";

/** The parts of the logs that are fetched: the newest lines of most logs, and the first messages, which hold the goal. */
const parts: readonly Part[] = [
  { log: "messages", lines: 4, bytes: 16 * 1024, first: true },
  { log: "messages", lines: 512, bytes: 256 * 1024 },
  { log: "usage", lines: 256, bytes: 64 * 1024 },
  { log: "snapshot", lines: 1, bytes: 256 * 1024 },
  { log: "edits", lines: 128, bytes: 1024 * 1024, until: '{"seq":%,"type":"epoch",%' },
];

interface Part {
  readonly log: LogName;
  /** Lines and bytes, at most. */
  readonly lines: number;
  readonly bytes: number;
  /** The oldest lines instead of the newest. */
  readonly first?: true;
  /** A pattern of how the line begins that is the oldest of interest. */
  readonly until?: string;
}

/**
 * The statement that gives the last numbers of a session's logs, as part -1, and their ends, each part by its index.
 *
 * @param key - the session's key, in SQL; where it gives no row, neither does the statement
 */
export function endsOf(schema: string, key: string): string {
  const last =
    `SELECT -1 AS part, l.log, r.seq, r.twin, r.pos, NULL AS body FROM ${key}, generate_series(1, 7) AS l(log), LATERAL ` +
    `(SELECT seq, twin, pos FROM ${schema}.record WHERE session = key AND log = l.log ORDER BY seq DESC LIMIT 1) r`;
  const ends = parts.map(({ log, lines, bytes, first, until }, part) => {
    const number = logNumbers[log];
    const order = first ? "seq, twin" : "seq DESC, twin DESC";
    // The beginning of a line is enough: that of an epoch is long.
    const stops = until === undefined ? "0" : `(left(body, 60) LIKE '${until}')::integer`;
    const rows =
      `SELECT seq, twin, pos, body, sum(octet_length(body)) OVER past AS bytes, sum(stop) OVER past - stop AS stopped FROM ` +
      `(SELECT seq, twin, pos, body, ${stops} AS stop FROM ${schema}.record WHERE session = key AND log = ${number} ` +
      `ORDER BY ${order} LIMIT ${lines}) AS few WINDOW past AS (ORDER BY ${order})`;
    return (
      `SELECT ${part}, ${number}, r.seq, r.twin, r.pos, r.body FROM ${key}, LATERAL (SELECT * FROM (${rows}) AS sized ` +
      `WHERE bytes <= ${bytes} AND stopped = 0) r`
    );
  });
  return [last, ...ends].join(" UNION ALL ");
}

/** A line as it lies in its table. */
export interface LogRow {
  readonly seq: number;
  /** The place among lines with one number, which only a restored session has. */
  readonly twin: number;
  readonly line: string;
}

/** Every line of a log whose number lies in a range. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Oldest first. */
  readonly rows: readonly LogRow[];
}

/** The lines of a log that are known, and those that have to be asked for before them. */
export interface KnownRows {
  /** Undefined where nothing has to be asked for. */
  readonly before: { readonly from: number; readonly to: number } | undefined;
  /** Oldest first, and newer than all of `before`. */
  readonly rows: readonly LogRow[];
}

/** The ends of the logs of a session that one process writes, until it writes. */
export class LogEnds {
  /** The last numbers of the lines. */
  readonly counters: Counters = { seqs: noCounts(), pos: 0 };
  readonly #spans: Readonly<Record<LogName, Span[]>>;

  /** @param rows - of the statement {@link endsOf} */
  constructor(rows: readonly PostgresRow[]) {
    const found = parts.map((): LogRow[] => []);
    for (const row of rows) {
      const [seq, part] = [Number(row["seq"]), Number(row["part"])];
      found[part]?.push({ seq, twin: Number(row["twin"]), line: String(row["body"]) });
      const log = logNames[Number(row["log"]) - 1];
      if (part !== -1 || !log) continue;
      this.counters.seqs[log] = seq;
      this.counters.pos = Math.max(this.counters.pos, Number(row["pos"]));
    }
    this.#spans = { messages: [], calls: [], tools: [], usage: [], summaries: [], snapshot: [], edits: [] };
    for (const log of logNames) {
      if (this.counters.seqs[log] === 0) this.#spans[log].push({ from: 0, to: Infinity, rows: [] });
    }
    for (const [index, { log, first }] of parts.entries()) {
      const span = spanOf(found[index] ?? [], first === true);
      if (span) this.#spans[log].push(span);
    }
  }

  /** The lines that a query asks for; undefined where they have to be asked for. */
  known<K extends ReadQuery["kind"]>(query: ReadQuery<K>): KnownRows | undefined {
    const log = kindLogs[query.kind];
    const { from = 0, to = Infinity, last, limit } = query;
    const within = ({ seq }: LogRow): boolean => seq >= from && seq <= to;
    const whole = this.#spans[log].find(
      (span) => span.from <= Math.max(1, from) && Math.min(to, this.counters.seqs[log]) <= span.to,
    );
    if (whole) {
      const rows = whole.rows.filter(within);
      return {
        before: undefined,
        rows: last === undefined ? rows.slice(0, limit) : rows.slice(Math.max(0, rows.length - last)),
      };
    }
    const end = this.#spans[log].find((span) => span.to === Infinity);
    if (!end) return undefined;
    const rows = end.rows.filter(within);
    if (last !== undefined)
      return isEnough(rows, query, last)
        ? { before: undefined, rows: rows.slice(Math.max(0, rows.length - last)) }
        : undefined;
    return limit === undefined ? { before: { from, to: Math.min(to, end.from - 1) }, rows } : undefined;
  }
}

/** Whether the newest lines are all that a query for the newest ones needs. */
function isEnough<K extends ReadQuery["kind"]>(rows: readonly LogRow[], query: ReadQuery<K>, last: number): boolean {
  if (rows.length >= last) return true;
  return rows.some(({ line }) => {
    const record = recordOf(query.kind, line);
    return record !== undefined && query.enough?.(record) === true;
  });
}

/** The range of numbers that lines are all of; undefined for none. A number of which a line is missing is left out. */
function spanOf(found: readonly LogRow[], first: boolean): Span | undefined {
  const rows = found.toSorted((left, right) => left.seq - right.seq || left.twin - right.twin);
  if (first) {
    // More lines may have the last number.
    const to = (rows.at(-1)?.seq ?? 0) - 1;
    return to < 1 ? undefined : { from: 0, to, rows: rows.filter(({ seq }) => seq <= to) };
  }
  const begin = rows.findIndex(({ twin }) => twin === 0);
  const from = rows[begin]?.seq;
  return from === undefined ? undefined : { from, to: Infinity, rows: rows.slice(begin) };
}
