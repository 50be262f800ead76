/**
 * Taking a session that nobody has with one statement, which also gives its documents, its last numbers and the ends of its
 * logs.
 */
import { archivedField } from "../format/documents.ts";
import type { ProcessIdentity } from "../shared/holder.ts";
import { formatVersion } from "../shared/rules.ts";
import type { Scope } from "../store.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { LogEnds, endsOf } from "./ends.ts";
import { rowOf, sessionColumns } from "./session.ts";
import type { SessionRow } from "./session.ts";

/** A session that was taken. */
export interface Claimed {
  /** Its row as it was before, with the state as it is. */
  readonly row: SessionRow;
  readonly ends: LogEnds;
}

/** The process that takes a session. */
export interface Claimant {
  readonly holder: ProcessIdentity & { readonly acquiredAt: string; readonly heartbeatAt: string };
  /** A name of this very taking, by which it can be taken back. */
  readonly taking: string;
  /** Its row among those that live, and whether that one is written, too. */
  readonly worker: string;
  readonly isFirst: boolean;
}

/** The part of the answer that is the row. */
const rowPart = -2;

/** A session that was taken, and whose documents were not yet looked at. */
export interface Claim {
  readonly key: string;
  readonly generation: number;
  /** @throws WindrowError `store-corrupt` where its documents cannot be read */
  claimed(): Claimed;
}

/**
 * Takes a session that nobody has, that has not ended and whose records lie in the store.
 *
 * @returns undefined where it was not taken, for whatever reason
 */
export async function claimFree(
  database: Database,
  { tenant, user }: Scope,
  id: string,
  { holder, taking, worker, isFirst }: Claimant,
): Promise<Claim | undefined> {
  const values = [id, database.now(), JSON.stringify({ ...holder, taking }), worker, isFirst];
  const rows = await database.asker.askOften(claiming(database), [...values, tenant ?? null, user ?? null]);
  const row = rowIn(rows);
  return (
    row && {
      key: String(row["key"]),
      generation: Number(row["generation"]) + 1,
      claimed: () => ({ row: rowOf(row), ends: new LogEnds(rows) }),
    }
  );
}

/** Lets go of a session that this very taking has; false where it has not. */
export async function unclaim(
  { asker, schema }: Database,
  id: string,
  { taking, worker }: Pick<Claimant, "taking" | "worker">,
): Promise<boolean> {
  const sql =
    `UPDATE ${schema}.session SET holder = NULL, worker = NULL WHERE id = $1 AND worker = $2 ` +
    "AND holder::jsonb ->> 'taking' = $3 AND trashed_at IS NULL RETURNING key";
  return (await asker.ask(sql, [id, worker, taking])).length > 0;
}

/**
 * The statement. All that it reads is of one moment. The update may have waited for another writer: it takes the row only
 * where generation and head are those of that moment, so that no line is missing.
 */
function claiming({ schema, atVersion }: Database): string {
  return (
    `WITH seen AS MATERIALIZED (SELECT ${sessionColumns("$2")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ` +
    "ON w.id = s.worker WHERE s.id = $1 AND s.trashed_at IS NULL), " +
    `taken AS (UPDATE ${schema}.session s SET generation = s.generation + 1, worker = $4, ` +
    "holder = ($3::text::jsonb || jsonb_build_object('generation', s.generation + 1))::text FROM seen " +
    "WHERE s.key = seen.key AND s.generation = seen.generation AND s.head = seen.head AND s.holder IS NULL " +
    "AND s.trashed_at IS NULL AND NOT s.restoring AND s.status NOT IN ('completed', 'failed', 'timeout') " +
    `AND s.format <= ${formatVersion} AND position('"${archivedField}"' IN s.state) = 0 ` +
    `AND s.tenant IS NOT DISTINCT FROM $6::text AND ($7::text IS NULL OR s."user" = $7::text) AND ${atVersion} ` +
    "RETURNING s.key, s.revision, s.state), " +
    `alive AS (INSERT INTO ${schema}.worker (id, beat) SELECT $4::uuid, coalesce($2::timestamptz, now()) FROM taken ` +
    "WHERE $5::boolean ON CONFLICT (id) DO UPDATE SET beat = excluded.beat) " +
    answer(schema)
  );
}

/** The row of `seen` with the state and the revision of `taken`, and the ends of the logs. */
function answer(schema: string): string {
  return (
    `SELECT ${rowPart} AS part, 0 AS log, 0::bigint AS seq, 0::smallint AS twin, 0::bigint AS pos, ` +
    "(to_jsonb(seen) || jsonb_build_object('state', taken.state, 'revision', taken.revision))::text AS body FROM seen JOIN taken ON taken.key = seen.key " +
    `UNION ALL ${endsOf(schema, "taken")}`
  );
}

/** A session that this process has, as {@link claimFree} gives it; undefined where it has it no more. */
export async function readClaimed(database: Database, key: string, generation: number): Promise<Claimed | undefined> {
  const { asker, schema, now } = database;
  const sql =
    `WITH seen AS (SELECT ${sessionColumns("$3")} FROM ${schema}.session s LEFT JOIN ${schema}.worker w ON w.id = s.worker ` +
    `WHERE s.key = $1 AND s.generation = $2), taken AS (SELECT key, revision, state FROM seen) ${answer(schema)}`;
  const rows = await asker.askOften(sql, [key, generation, now()]);
  const row = rowIn(rows);
  return row && { row: rowOf(row), ends: new LogEnds(rows) };
}

function rowIn(rows: readonly PostgresRow[]): PostgresRow | undefined {
  const found = rows.find((row) => Number(row["part"]) === rowPart);
  return found && (JSON.parse(String(found["body"])) as PostgresRow);
}
