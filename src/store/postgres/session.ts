/** The rows of sessions in Postgres. */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, decodeState, encodeMetadata, encodeState, parseDocument } from "../format/documents.ts";
import type { Holder } from "../shared/holder.ts";
import type { RemoteHolder } from "../shared/remote.ts";
import {
  alreadyExists,
  beingErased,
  formatVersion,
  inArchive,
  inScope,
  isFinal,
  movedMeanwhile,
  notFound,
} from "../shared/rules.ts";
import type { ListQuery, LogName, Scope, SessionInfo, SessionMetadata, SessionState } from "../store.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { logNumbers } from "./schema.ts";

/** Sessions listed at once. */
const pageSize = 100;

/** A session as its row has it. */
export interface SessionRow extends RemoteHolder {
  readonly key: string;
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly format: number;
  readonly generation: number;
  /** The highest place that was given out. */
  readonly head: number;
  /** How often its holders wrote it. */
  readonly revision: number;
  readonly restoring: boolean;
  readonly isKept: boolean;
  /** How often it was marked to be kept, or unmarked. */
  readonly marks: number;
  /** The texts that metadata.json and state.json of a file store have. */
  readonly texts: { readonly metadata: string; readonly state: string };
}

/** The columns of a session, for `FROM session s LEFT JOIN worker w`; `now` is the parameter of the time. */
export function sessionColumns(now: string): string {
  const age = `extract(epoch FROM (coalesce(${now}::timestamptz, now()) - w.beat)) * 1000`;
  return (
    's.key, s.id, s.tenant, s."user", s.format, s.metadata, s.state, s.generation, s.head, s.revision, s.holder, s.worker, s.restoring, ' +
    `s.created_ms, s.kept IS NOT NULL AS is_kept, s.marks, (${age})::float8 AS silent_ms, ` +
    `to_char(w.beat AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS beat`
  );
}

/** A session's row, in any scope; undefined where there is none, or where it lies in the trash. */
export async function findRow(database: Database, id: string): Promise<SessionRow | undefined> {
  const { schema, asker } = database;
  const sql =
    `SELECT ${sessionColumns("$2")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ON w.id = s.worker ` +
    "WHERE s.id = $1 AND s.trashed_at IS NULL";
  const [row] = await asker.askOften(sql, [id, database.now()]);
  return row && rowOf(row);
}

/**
 * The row of a session that was found, as it is now, wherever it lies.
 *
 * @throws WindrowError `session-not-found` where it is gone, also where there is another one with its id
 */
export async function rowNow(database: Database, { key, id }: Pick<SessionRow, "key" | "id">): Promise<SessionRow> {
  const { schema, asker } = database;
  const sql =
    `SELECT ${sessionColumns("$2")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ON w.id = s.worker ` +
    "WHERE s.key = $1";
  const [row] = await asker.askOften(sql, [key, database.now()]);
  if (!row) throw notFound(id);
  return rowOf(row);
}

/** A log as far as it was read. */
export interface ReadLog {
  readonly log: LogName;
  /** The newest number that was read; 0 where there was none. */
  readonly seq: number;
  /** The newest number that was asked for. */
  readonly to: number;
}

/**
 * Refuses a session whose records an archive took while they were read, also where they are back by now. One that was only
 * gone on with meanwhile has every line that it had.
 *
 * @param row - the session as it was before
 * @throws WindrowError `session-archived`; `session-not-found` where it was erased
 */
export async function checkAttached(database: Database, row: SessionRow, logs: readonly ReadLog[]): Promise<void> {
  const now = await rowNow(database, row);
  if (now.state.archived) throw inArchive(row.id, now.state.archived);
  if (now.generation === row.generation) return;
  const { asker, schema } = database;
  // A line that was there before has a place that was given out before.
  const sql =
    `SELECT EXISTS (SELECT FROM ${schema}.record r JOIN unnest($3::smallint[], $4::bigint[], $5::bigint[]) AS a(log, seq, upto) ` +
    "ON r.log = a.log AND r.seq > a.seq AND r.seq <= a.upto WHERE r.session = s.key AND r.pos <= $6) AS lacks FROM " +
    `${schema}.session s WHERE s.key = $1 AND s.generation = $2`;
  const numbers = [logs.map(({ log }) => logNumbers[log]), logs.map(({ seq }) => seq), logs.map(({ to }) => to)];
  const [found] = await asker.ask(sql, [row.key, now.generation, ...numbers, row.head]);
  if (!found) return checkAttached(database, row, logs);
  if (found["lacks"] !== false) throw movedMeanwhile(row.id);
}

/** The sessions of a scope, newest creation first, page by page. */
export async function* listRows(database: Database, scope: Scope, query: ListQuery): AsyncGenerator<SessionRow> {
  const { schema, asker } = database;
  const values: unknown[] = [database.now()];
  const conditions = ["s.trashed_at IS NULL", "NOT s.restoring"];
  const given = (value: unknown): string => `$${values.push(value)}`;
  // The index is over this expression: rows where a column is null are in no order that an index gives.
  conditions.push(`coalesce(s.tenant, '') = ${given(scope.tenant ?? "")}`);
  conditions.push(`s.tenant IS ${scope.tenant === undefined ? "" : "NOT "}NULL`);
  if (scope.user !== undefined) conditions.push(`s."user" = ${given(scope.user)}`);
  if (query.status !== undefined) conditions.push(`s.status = ${given(query.status)}`);
  const [at, id, most] = [values.length + 1, values.length + 2, values.length + 3];
  const sql =
    `SELECT ${sessionColumns("$1")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ON w.id = s.worker ` +
    `WHERE ${conditions.join(" AND ")} AND s.created_ms <= $${at} AND (s.created_ms < $${at} OR s.id > $${id}) ` +
    `ORDER BY s.created_ms DESC, s.id LIMIT $${most}`;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let after: { readonly createdMs: number; readonly id: string } = { createdMs: Number.MAX_VALUE, id: lowestId };
  // Rows that are not told do not count: behind them are whole pages.
  for (let asked = Math.min(pageSize, left); left > 0; asked = pageSize) {
    const page = await asker.ask(sql, [...values, after.createdMs, after.id, asked]);
    for (const row of page) {
      after = { createdMs: Number(row["created_ms"]), id: String(row["id"]) };
      const found = readRow(row);
      // Columns hold what the server's encoding can; two names that differ only in the rest are one there.
      if (found && !inScope(scope, found.metadata)) continue;
      if (!found) {
        query.unreadable?.(after.id, unreadable(after.id));
        continue;
      }
      yield found;
      if (--left === 0) return;
    }
    if (page.length < asked) return;
  }
}

const lowestId = "00000000-0000-0000-0000-000000000000";

/** Says that a process lives, in its row. */
export function beat({ asker, schema, now }: Database): (id: string) => Promise<unknown> {
  const sql =
    `INSERT INTO ${schema}.worker (id, beat) VALUES ($1, coalesce($2::timestamptz, now())) ` +
    "ON CONFLICT (id) DO UPDATE SET beat = excluded.beat";
  return async (id) => asker.ask(sql, [id, now()]);
}

/** Takes the row of a process away. */
export function forgetBeat({ asker, schema }: Database): (id: string) => Promise<unknown> {
  return async (id) => asker.ask(`DELETE FROM ${schema}.worker WHERE id = $1`, [id]);
}

/** A process that writes a session: how it is told to others, and its row among those that live. */
export interface RowHolder {
  readonly holder: Holder;
  readonly worker: string;
}

/**
 * Makes the row of a session, held.
 *
 * @returns its key; undefined where there is one with this id, or one is being erased, or the tables have another version
 */
export async function insertRow(
  { asker, schema, atVersion }: Database,
  { metadata, state }: Pick<SessionInfo, "metadata" | "state">,
  { holder, worker }: RowHolder,
): Promise<string | undefined> {
  const sql =
    `INSERT INTO ${schema}.session (id, tenant, "user", status, created_ms, format, metadata, state, generation, head, ` +
    "holder, worker) SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, 0, $9, $10 " +
    `WHERE ${atVersion} AND ${schema}.is_free($1, $2, $3) ON CONFLICT DO NOTHING RETURNING key`;
  const [row] = await asker.ask(sql, [
    ...[metadata.uuid, metadata.tenant ?? null, metadata.user ?? null, state.status],
    ...[Date.parse(metadata.createdAt) || 0, metadata.format, encodeMetadata(metadata), encodeState(state)],
    ...[JSON.stringify(holder), worker],
  ]);
  return row && String(row["key"]);
}

/** The reason why a row with an id was not made, in tables of the right version. */
export async function whyNotMade({ asker, schema }: Database, id: string): Promise<WindrowError> {
  const begun = await asker.ask(`SELECT session_id FROM ${schema}.erasing WHERE session_id = $1`, [id]);
  return begun.length > 0 ? beingErased(id) : alreadyExists(id);
}

/** A session's place and the text of its state, at the moment it was taken. */
export interface TakenRow extends Pick<SessionRow, "head" | "revision"> {
  readonly state: string;
}

/**
 * Takes a session for the next generation.
 *
 * @returns undefined where another process took it since its row was read, or the tables have another version
 */
export async function takeRow(
  { asker, schema, atVersion }: Database,
  { key, generation }: SessionRow,
  { holder, worker }: RowHolder,
): Promise<TakenRow | undefined> {
  const sql =
    `UPDATE ${schema}.session SET generation = generation + 1, holder = $3, worker = $4 WHERE key = $1 AND ` +
    `generation = $2 AND trashed_at IS NULL AND ${atVersion} RETURNING head, revision, state`;
  const [taken] = await asker.ask(sql, [key, generation, JSON.stringify(holder), worker]);
  return taken && { head: Number(taken["head"]), revision: Number(taken["revision"]), state: String(taken["state"]) };
}

/** Lets go of a session, where this holder still has it; what comes late of it finds another revision. */
export async function letGoOf({ asker, schema }: Database, key: string, generation: number): Promise<void> {
  const sql = `UPDATE ${schema}.session SET holder = NULL, worker = NULL, revision = revision + 1 WHERE key = $1 AND generation = $2`;
  await asker.ask(sql, [key, generation]);
}

/** As {@link letGoOf}, of a session that this very taking has; false where it has not. */
export async function takeBackOf({ asker, schema }: Database, id: string, holder: Holder): Promise<boolean> {
  const sql =
    `UPDATE ${schema}.session SET holder = NULL, worker = NULL WHERE id = $1 AND generation = $2 AND holder = $3 ` +
    "AND trashed_at IS NULL RETURNING key";
  return (await asker.ask(sql, [id, holder.generation, JSON.stringify(holder)])).length > 0;
}

/**
 * Ends a session; false where this holder has it no more. Its generation goes up, so that nothing comes late. An end whose
 * answer did not come may be asked for again.
 */
export async function endRow(
  { asker, schema }: Database,
  { key, generation, revision }: Pick<SessionRow, "key" | "generation" | "revision">,
  { text, status }: { readonly text: string; readonly status: string },
): Promise<boolean> {
  const sql =
    `UPDATE ${schema}.session SET state = $3, status = $4, generation = generation + 1, holder = NULL, worker = NULL ` +
    "WHERE key = $1 AND generation = $2 AND revision = $5 RETURNING key";
  if ((await asker.ask(sql, [key, generation, text, status, revision])).length > 0) return true;
  // Another end would have another generation: this one was asked for before, with the time of then.
  const ended = `SELECT key FROM ${schema}.session WHERE key = $1 AND generation = $2 + 1 AND holder IS NULL AND status = $3`;
  return (await asker.ask(ended, [key, generation, status])).length > 0;
}

/**
 * Takes a session from whoever has it, as it was seen: none adds a line from here on but who takes it anew. It is a statement
 * of its own, as one that removes lines does not see those of an append that ends meanwhile.
 *
 * @returns its generation from now on; undefined where the session has another than was seen, or is hidden
 */
export async function fenceRow(
  { asker, schema }: Database,
  key: string,
  generation: number,
): Promise<number | undefined> {
  const sql =
    `UPDATE ${schema}.session SET generation = generation + 1, holder = NULL, worker = NULL WHERE key = $1 AND ` +
    "generation = $2 AND NOT restoring RETURNING generation";
  const [fenced] = await asker.ask(sql, [key, generation]);
  return fenced && Number(fenced["generation"]);
}

/** A row for people. */
export function infoOf({ id, metadata, state, format }: SessionRow, location: string): SessionInfo {
  return {
    metadata,
    state,
    location: `${location}#${id}`,
    readOnly: isFinal(state.status) || format > formatVersion,
  };
}

/** A row of the table.
 *
 * @throws WindrowError `store-corrupt` where its documents cannot be read
 */
export function rowOf(row: PostgresRow): SessionRow {
  const found = readRow(row);
  if (found) return found;
  throw unreadable(String(row["id"]));
}

function unreadable(id: string): WindrowError {
  const message = `The row of session ${id} is unreadable, so it cannot be opened. Restore the session from a backup.`;
  return new WindrowError("store-corrupt", message, { id });
}

/** A row of the table; undefined where its documents cannot be read. */
function readRow(row: PostgresRow): SessionRow | undefined {
  const id = String(row["id"]);
  const texts = { metadata: String(row["metadata"]), state: String(row["state"]) };
  const metadata = decodeMetadata(parseDocument(texts.metadata), id);
  const state = decodeState(parseDocument(texts.state));
  if (!metadata || !state) return undefined;
  const { holder, worker, beat, silent_ms: silent } = row;
  const held = typeof holder === "string" ? (JSON.parse(holder) as Holder) : undefined;
  return {
    key: String(row["key"]),
    id,
    metadata,
    state,
    texts,
    format: Number(row["format"]),
    generation: Number(row["generation"]),
    head: Number(row["head"]),
    revision: Number(row["revision"]),
    holder: held && { ...held, ...(typeof beat === "string" && { heartbeatAt: beat }) },
    silentMs: silent === null || silent === undefined ? Number.POSITIVE_INFINITY : Number(silent),
    worker: typeof worker === "string" ? worker : undefined,
    restoring: row["restoring"] === true,
    isKept: row["is_kept"] === true,
    marks: Number(row["marks"]),
  };
}
