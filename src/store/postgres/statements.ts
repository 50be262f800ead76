/** The statements of an engine in Postgres. */
import type { EndPart } from "../engine.ts";
import { logNumbers } from "./tables.ts";

/** The part of a look that is the session. */
export const sessionPart = -2;

/** The part of a look that is its last numbers. */
export const numbersPart = -1;

/** The statements of one engine. */
export type Statements = ReturnType<typeof statementsOf>;

/** The statements on the tables of a schema, whose name is quoted. */
export function statementsOf(schema: string) {
  const columns = (now: string): string =>
    'id, tenant, "user", status, created_ms, hidden, aside_of, metadata, state, mark, made, revision, origin, generation, holder, ' +
    `(extract(epoch FROM (coalesce(${now}::timestamptz, now()) - heartbeat_at)) * 1000)::float8 AS silent_ms, ` +
    `to_char(heartbeat_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS beat`;
  const ofLog = `FROM ${schema}.record r WHERE r.session = s.key AND r.log = $2`;
  // The server would make a new plan each time where it saw how long the lists are; behind a SELECT it does not.
  const lists = ["int", "smallint", "bigint", "bigint"].map((type, index) => `(SELECT $${index + 2}::${type}[])`);
  const whereListed = (column: string, given: string): string =>
    `${column} = CASE WHEN a.listed THEN a.${given} ELSE s.${column} END`;
  const commit = (removing: string): string =>
    "WITH asked AS (SELECT * FROM json_to_recordset((SELECT $1::text::json)) AS a(place int, id uuid, at bigint, emptied boolean, " +
    "metadata text, state text, mark text, listed boolean, tenant text, owner text, status text, created_ms bigint, " +
    "hidden boolean, aside_of uuid, new_id uuid, held boolean, holder text, generation bigint)), " +
    `moved AS (UPDATE ${schema}.session s SET revision = s.revision + 1, ` +
    "origin = CASE WHEN a.emptied THEN s.revision + 1 ELSE s.origin END, id = coalesce(a.new_id, s.id), " +
    "metadata = coalesce(a.metadata, s.metadata), state = coalesce(a.state, s.state), mark = coalesce(a.mark, s.mark), " +
    [whereListed("tenant", "tenant"), whereListed('"user"', "owner"), whereListed("status", "status"), ""].join(", ") +
    [whereListed("created_ms", "created_ms"), whereListed("hidden", "hidden"), ""].join(", ") +
    `${whereListed("aside_of", "aside_of")}, holder = CASE WHEN a.held THEN a.holder ELSE s.holder END, ` +
    "generation = coalesce(a.generation, s.generation), heartbeat_at = CASE WHEN a.holder IS NULL THEN s.heartbeat_at " +
    "ELSE coalesce($7::timestamptz, now()) END FROM asked a WHERE s.id = a.id AND s.revision = a.at " +
    `RETURNING s.key, a.place, a.emptied), ${removing}` +
    `added AS (INSERT INTO ${schema}.record (session, log, seq, pos, body) SELECT moved.key, r.log, r.seq, r.pos, r.body FROM ` +
    `unnest(${lists.join(", ")}, string_to_array((SELECT $6::text), E'\\n')) ` +
    "AS r(place, log, seq, pos, body) JOIN moved ON moved.place = r.place) SELECT place FROM moved";
  const numbersOf = (session: string): string =>
    `${session}, generate_series(1, 7) AS l(log), LATERAL (SELECT seq, number, pos FROM ${schema}.record WHERE session = s.key ` +
    "AND log = l.log ORDER BY seq DESC, number DESC LIMIT 1) r";
  const endOf = ({ log, lines, bytes, isFirst, until }: EndPart, part: number): string => {
    const order = isFirst ? "seq, number" : "seq DESC, number DESC";
    // The beginning of a line is enough: that of an epoch is long.
    const stop = until === undefined ? "0" : `(left(body, 60) LIKE '{"seq":%,"type":"${until}",%')::integer`;
    const few =
      `SELECT seq, number, pos, body, ${stop} AS stop FROM ${schema}.record WHERE session = s.key AND log = ${logNumbers[log]} ` +
      `ORDER BY ${order} LIMIT ${lines}`;
    const sized =
      `SELECT *, sum(octet_length(body)) OVER past AS bytes, sum(stop) OVER past - stop AS stopped FROM (${few}) AS few ` +
      `WINDOW past AS (ORDER BY ${order})`;
    const chosen = `SELECT *, row_number() OVER (ORDER BY seq, number) AS place FROM (${sized}) AS sized WHERE bytes <= ${bytes} AND stopped = 0`;
    const earlier =
      `CASE WHEN place = 1 THEN (SELECT count(*) FROM ${schema}.record e WHERE e.session = s.key AND e.log = ${logNumbers[log]} ` +
      "AND e.seq = r.seq AND e.number < r.number) ELSE 0 END";
    return `SELECT ${part}, ${logNumbers[log]}, r.seq, r.number, r.pos, r.body, ${earlier} FROM seen s, LATERAL (${chosen}) r`;
  };
  // One statement, so that the lines are those of the session that is there in that moment.
  const paging = (which: string): string =>
    `SELECT s.origin, coalesce((SELECT seq ${ofLog} ORDER BY seq DESC, number DESC LIMIT 1), 0) AS newest, p.* FROM ` +
    `${schema}.session s LEFT JOIN LATERAL (SELECT seq, number, pos, body ${ofLog} AND ${which}) p ON true ` +
    "WHERE s.id = $1 AND NOT s.hidden ORDER BY p.seq, p.number";
  const looks = new Map<readonly EndPart[], string>();
  const looking = (parts: readonly EndPart[]): string =>
    `WITH seen AS MATERIALIZED (SELECT key, ${columns("$2")} FROM ${schema}.session WHERE id = $1) ` +
    `SELECT ${sessionPart} AS part, 0 AS log, 0::bigint AS seq, 0::bigint AS number, 0::bigint AS pos, to_jsonb(s)::text AS body, ` +
    `0::bigint AS earlier FROM seen s UNION ALL SELECT ${numbersPart}, l.log, r.seq, r.number, r.pos, NULL, 0 FROM ` +
    `${numbersOf("seen s")} UNION ALL ${parts.map(endOf).join(" UNION ALL ")}`;
  return {
    look(parts: readonly EndPart[]): string {
      const text = looks.get(parts) ?? looking(parts);
      looks.set(parts, text);
      return text;
    },
    make:
      `INSERT INTO ${schema}.session (id, tenant, "user", status, created_ms, hidden, aside_of, metadata, state, mark, made, ` +
      "revision, origin, generation, holder, heartbeat_at) SELECT $1::uuid, $2::text, $3::text, $4, $5, $6, $7, $8, $9, $10, " +
      `$11::bigint, $11, $11, 1, $12, coalesce($13::timestamptz, now()) WHERE ${schema}.is_free($1, $2, $3) ` +
      "ON CONFLICT DO NOTHING RETURNING key",
    head: `SELECT ${columns("$2")} FROM ${schema}.session WHERE id = $1`,
    heads: `SELECT ${columns("$1")} FROM ${schema}.session`,
    numbers: `SELECT l.log, r.seq, r.pos FROM ${numbersOf(`${schema}.session s`)} WHERE s.id = $1`,
    fromEnd:
      `SELECT r.seq, r.number FROM ${schema}.session s, LATERAL (SELECT seq, number ${ofLog} AND seq BETWEEN $3 AND $4 ` +
      "ORDER BY seq DESC, number DESC LIMIT 1 OFFSET $5) r WHERE s.id = $1",
    page: paging(`(seq, number) > ($3, $4) AND seq <= $5 ORDER BY seq, number LIMIT $6`),
    newest: paging(`seq BETWEEN $3 AND $4 ORDER BY seq DESC, number DESC LIMIT $5`),
    size:
      `SELECT (SELECT count(*) FROM ${schema}.record WHERE session = s.key) + (metadata <> '')::int + (state <> '')::int + ` +
      `(mark <> '')::int AS count, coalesce((SELECT sum(octet_length(body)) FROM ${schema}.record WHERE session = s.key), 0) + ` +
      `octet_length(metadata) + octet_length(state) + octet_length(mark) AS bytes FROM ${schema}.session s WHERE id = $1`,
    commit: commit(""),
    emptying: commit(
      `gone AS (DELETE FROM ${schema}.record USING moved WHERE moved.emptied AND record.session = moved.key), `,
    ),
    remove:
      `WITH gone AS (DELETE FROM ${schema}.session WHERE id = $1 AND revision = $2 RETURNING key), ` +
      `lines AS (DELETE FROM ${schema}.record USING gone WHERE record.session = gone.key) SELECT key FROM gone`,
    beat:
      `UPDATE ${schema}.session s SET heartbeat_at = coalesce($3::timestamptz, now()) FROM (SELECT s.key, a.taking FROM ` +
      `${schema}.session s JOIN unnest($1::uuid[], $2::text[]) AS a(id, taking) ON a.id = s.id ORDER BY s.id FOR UPDATE OF s) l ` +
      "WHERE s.key = l.key AND s.holder::json ->> 'taking' = l.taking",
    orphans: `SELECT count(*) AS count FROM ${schema}.record WHERE NOT EXISTS (SELECT FROM ${schema}.session WHERE key = session)`,
  };
}
