/** The upkeep of a Postgres store: marks, a trash that hides rows, and erasing. */
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { alreadyExists, inScope, isFinal, notFound, sessionId } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import { checkReach, nowhere, sizeInArchive } from "../shared/detach.ts";
import type { EraseElsewhere, ErasedPlace, KeepMark, Upkeep } from "../upkeep.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { heldBy } from "../shared/remote.ts";
import { findRow } from "./session.ts";
import type { SessionRow } from "./session.ts";

/** The database, the mask and the clock of a store's upkeep. */
export interface PostgresUpkeep {
  readonly database: Database;
  readonly mask: Mask;
  readonly clock: Clock;
  /** A session of the scope, or `session-not-found`; `closed` once the store is. */
  readonly find: (scope: Scope, id: string) => Promise<SessionRow>;
  readonly alive: () => Promise<void>;
}

/** Makes the upkeep of a Postgres store. */
export function postgresUpkeep(given: PostgresUpkeep): Upkeep {
  const { database, mask, clock, find, alive } = given;
  const { schema } = database;
  const ask = async (sql: string, ...values: readonly unknown[]): Promise<readonly PostgresRow[]> =>
    database.asker.ask(sql, values);
  const bytesOf = async (key: string): Promise<number> => {
    const sql = `SELECT coalesce(sum(octet_length(body)), 0) AS bytes FROM ${schema}.record WHERE session = $1`;
    const [row] = await ask(sql, key);
    return Number(row?.["bytes"] ?? 0);
  };
  const trashRow = async (scope: Scope, id: string): Promise<PostgresRow | undefined> => {
    await alive();
    const sql = `SELECT key, metadata, state FROM ${schema}.session WHERE id = $1 AND trashed_at IS NOT NULL`;
    const [row] = await ask(sql, sessionId(id));
    const metadata = row && decodeMetadata(parseDocument(String(row["metadata"])), id);
    return metadata && inScope(scope, metadata) ? row : undefined;
  };
  const putAside = async (scope: Scope, id: string): Promise<string> => {
    await alive();
    sessionId(id);
    const row = await ownerRow(database, id);
    if (!row || !inScope(scope, scopeOf(row))) throw notFound(id);
    const found = await findRow(database, id).catch(() => undefined);
    const owner = found && heldBy(found);
    if (owner) throw busy(owner);
    const time = timestamp(clock);
    // From here on no line is added but by who takes it anew: the statement that moves lines does not see those meanwhile.
    const fence = `UPDATE ${schema}.session SET generation = generation + 1 WHERE key = $1 AND generation = $2 RETURNING key`;
    const isFenced = (await ask(fence, row["key"], row["generation"])).length > 0;
    const sql =
      `WITH gone AS (DELETE FROM ${schema}.session WHERE key = $1 AND generation = $3 + 1 RETURNING *), lines AS (DELETE FROM ${schema}.record ` +
      "WHERE session IN (SELECT key FROM gone) RETURNING *) " +
      `INSERT INTO ${schema}.aside (time, source, session_id, content) SELECT $2, * FROM (` +
      "SELECT 'record.' || log, gone.id, lines.body FROM lines, gone UNION ALL SELECT 'session.metadata', id, metadata " +
      "FROM gone UNION ALL SELECT 'session.state', id, state FROM gone) AS one RETURNING key";
    const isMoved = isFenced && (await ask(sql, row["key"], time, row["generation"])).length > 0;
    if (!isMoved) return putAside(scope, id);
    return `table aside, time ${time}`;
  };
  return {
    async size(scope, id) {
      const { key, state } = await find(scope, id);
      if (state.archived) return sizeInArchive(state.archived);
      const bytes = await bytesOf(key);
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, mark) {
      const { key } = await find(scope, id);
      const text = JSON.stringify(maskJson(mask, { ...mark } as unknown as JsonObject));
      await ask(`UPDATE ${schema}.session SET kept = $2 WHERE key = $1`, key, text);
    },
    async unkeep(scope, id) {
      const { key } = await find(scope, id);
      const sql = `UPDATE ${schema}.session SET kept = NULL WHERE key = $1 AND kept IS NOT NULL RETURNING key`;
      return (await ask(sql, key)).length > 0;
    },
    async kept(scope, id) {
      const { key } = await find(scope, id);
      const [row] = await ask(`SELECT kept FROM ${schema}.session WHERE key = $1`, key);
      const mark = row?.["kept"];
      return typeof mark === "string" ? (parseDocument(mark) as unknown as KeepMark) : undefined;
    },
    async trash(scope, ids, time) {
      const keys: string[] = [];
      for (const id of new Set(ids)) {
        const row = await find(scope, id);
        if (!isFinal(row.state.status)) throw notFinished(id);
        if (row.isKept) throw isKept(id);
        if (await trashRow({ ...scope }, id)) throw inTrash(id);
        keys.push(row.key);
      }
      // All or none: a session that was marked or taken meanwhile stops them all.
      const sql =
        `WITH fit AS (SELECT key FROM ${schema}.session WHERE key = ANY($1::bigint[]) AND kept IS NULL AND trashed_at IS NULL ` +
        `FOR UPDATE) UPDATE ${schema}.session SET trashed_at = $2 WHERE key IN (SELECT key FROM fit) AND ` +
        "(SELECT count(*) FROM fit) = cardinality($1::bigint[]) RETURNING key";
      const moved = await ask(sql, keys, time);
      if (moved.length < keys.length) await this.trash(scope, ids, time);
    },
    async *trashed(scope) {
      await alive();
      const sql = `SELECT key, id, metadata, state, trashed_at FROM ${schema}.session WHERE trashed_at IS NOT NULL`;
      for (const row of await ask(sql)) {
        const id = String(row["id"]);
        const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id);
        if (!metadata || !inScope(scope, metadata)) continue;
        const { user, createdAt } = metadata;
        const archived = decodeState(parseDocument(String(row["state"])))?.archived;
        const bytes = archived?.objectBytes ?? (await bytesOf(String(row["key"])));
        const trashedAt = String(row["trashed_at"]);
        yield { sessionId: id, trashedAt, ...(user !== undefined && { user }), createdAt, bytes };
      }
    },
    async untrash(scope, id) {
      const row = await trashRow(scope, id);
      if (!row) throw notInTrash(id);
      if (await findRow(database, id)) throw alreadyExists(id);
      const sql =
        `UPDATE ${schema}.session SET trashed_at = NULL WHERE key = $1 AND NOT EXISTS (SELECT FROM ${schema}.session o ` +
        "WHERE o.id = $2 AND o.trashed_at IS NULL) RETURNING key";
      if ((await ask(sql, row["key"], id)).length === 0) throw alreadyExists(id);
    },
    putAside,
    async erase(scope, ids, elsewhere = nowhere) {
      await alive();
      const known = [...new Set(ids.map(sessionId))];
      if (known.length === 0) return [];
      for (const id of known) await mayErase(database, scope, id, elsewhere);
      const places = new Map<string, readonly ErasedPlace[]>();
      for (const id of known) places.set(id, await removeRows(database, id));
      const others = await elsewhere(known);
      await ask(`DELETE FROM ${schema}.erasing WHERE session_id = ANY($1::uuid[])`, known);
      return known.map((id) => ({ sessionId: id, places: [...(places.get(id) ?? []), ...others] }));
    },
    async unerased(scope) {
      await alive();
      const rows = await ask(`SELECT session_id, tenant, "user" FROM ${schema}.erasing`);
      return rows.filter((row) => inScope(scope, scopeOf(row))).map((row) => String(row["session_id"]));
    },
  };
}

function scopeOf({ user, tenant }: PostgresRow): Scope {
  return { ...(typeof user === "string" && { user }), ...(typeof tenant === "string" && { tenant }) };
}

async function ownerRow({ asker, schema }: Database, id: string): Promise<PostgresRow | undefined> {
  const sql = `SELECT key, tenant, "user", generation, kept, state FROM ${schema}.session WHERE id = $1 ORDER BY trashed_at NULLS FIRST LIMIT 1`;
  const [row] = await asker.ask(sql, [id]);
  return row;
}

/** Refuses what may not be erased. */
async function mayErase(database: Database, scope: Scope, id: string, elsewhere: EraseElsewhere): Promise<void> {
  const { asker, schema } = database;
  const [begun] = await asker.ask(`SELECT tenant, "user" FROM ${schema}.erasing WHERE session_id = $1`, [id]);
  const row = await ownerRow(database, id);
  const owner = row ?? begun;
  if (!owner || !inScope(scope, scopeOf(owner))) throw notFound(id);
  if (typeof row?.["kept"] === "string" && !begun) throw isKept(id);
  checkReach(id, row?.["state"], elsewhere);
  const found = await findRow(database, id).catch(() => undefined);
  const holder = found && heldBy(found);
  if (holder) throw busy(holder);
}

/**
 * Removes all rows of a session. It is noted first that its erasure is under way, and its rows are hidden and taken from who
 * has them: the statement that removes lines does not see those of an append that ends meanwhile, and then there is none.
 */
async function removeRows({ asker, schema }: Database, id: string): Promise<readonly ErasedPlace[]> {
  const fence =
    `WITH fenced AS (UPDATE ${schema}.session SET restoring = true, generation = generation + 1, holder = NULL, worker = NULL ` +
    `WHERE id = $1 RETURNING id, tenant, "user") INSERT INTO ${schema}.erasing (session_id, tenant, "user") ` +
    'SELECT DISTINCT ON (id) id, tenant, "user" FROM fenced ON CONFLICT DO NOTHING';
  await asker.ask(fence, [id]);
  const sql =
    `WITH gone AS (DELETE FROM ${schema}.session WHERE id = $1 RETURNING *), ` +
    `lines AS (DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM gone) RETURNING session, octet_length(body) AS bytes), ` +
    `put AS (DELETE FROM ${schema}.aside WHERE session_id = $1 RETURNING octet_length(content) AS bytes) ` +
    "SELECT 'session' AS kind, 'session' AS place, count(*) AS count, coalesce(sum(octet_length(metadata) + octet_length(state)), 0) " +
    "AS bytes FROM gone WHERE trashed_at IS NULL " +
    "UNION ALL SELECT 'session', 'record', count(*), coalesce(sum(lines.bytes), 0) FROM lines JOIN gone ON gone.key = lines.session " +
    "WHERE gone.trashed_at IS NULL " +
    "UNION ALL SELECT 'trash', 'session', count(*), coalesce(sum(octet_length(metadata) + octet_length(state)), 0) FROM gone " +
    "WHERE trashed_at IS NOT NULL " +
    "UNION ALL SELECT 'trash', 'record', count(*), coalesce(sum(lines.bytes), 0) FROM lines JOIN gone ON gone.key = lines.session " +
    "WHERE gone.trashed_at IS NOT NULL " +
    "UNION ALL SELECT 'aside', 'aside', count(*), coalesce(sum(bytes), 0) FROM put";
  const rows = await asker.ask(sql, [id]);
  return rows.map((row) => ({
    kind: String(row["kind"]) as ErasedPlace["kind"],
    place: String(row["place"]),
    count: Number(row["count"]),
    bytes: Number(row["bytes"]),
  }));
}
