/** The upkeep of a Postgres store: marks, a trash that hides rows, and erasing. */
import { isWindrowError } from "../../errors.ts";
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { decodeMetadata, decodeState, parseDocument } from "../format/documents.ts";
import { timestamp } from "../shared/clock.ts";
import type { Clock } from "../shared/clock.ts";
import { alreadyExists, inScope, isFinal, notFound, ownerNamed, sessionId } from "../shared/rules.ts";
import { reaches, reachOf } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import type { SessionMetadata } from "../store.ts";
import { inStoreToo, inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import { checkReach, nowhere, sizeInArchive } from "../shared/detach.ts";
import type { EraseElsewhere, ErasedPlace, KeepMark, Upkeep } from "../upkeep.ts";
import { asideStates, hasAside, isOwnAside, valuesOf } from "./aside.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";
import { forgetErasures, haveOneOwner, isBegun, isNotedOf, noteAside, unerasedIn } from "./erasing.ts";
import { heldBy } from "../shared/remote.ts";
import { fenceRow, findRow, whyNotMade } from "./session.ts";
import type { SessionRow } from "./session.ts";
import { dropDraft } from "./transfer.ts";

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
  /** Marks a session as it was looked at; false where it was marked since: a statement that comes late replaces nothing. */
  const mark = async ({ key, marks }: SessionRow, text: string | null): Promise<boolean> => {
    const sql =
      `UPDATE ${schema}.session SET kept = $2, marks = marks + 1 WHERE key = $1 AND marks = $3 AND trashed_at IS NULL AND ` +
      "NOT restoring RETURNING key";
    return (await ask(sql, key, text, marks)).length > 0;
  };
  const trashRow = async (id: string): Promise<PostgresRow | undefined> => {
    await alive();
    const sql = `SELECT key, metadata, state, trashed_at, restoring FROM ${schema}.session WHERE id = $1 AND trashed_at IS NOT NULL`;
    return (await ask(sql, sessionId(id)))[0];
  };
  const trashedIn = async (scope: Scope, id: string): Promise<PostgresRow | undefined> => {
    const row = await trashRow(id);
    // One whose erasure was begun is hidden.
    if (row?.["restoring"] === true) return undefined;
    const metadata = row && decodeMetadata(parseDocument(String(row["metadata"])), id);
    return metadata && inScope(scope, metadata) ? row : undefined;
  };
  /** The row of a session outside the trash, also where its documents cannot be read. */
  const damagedToo = async (scope: Scope, id: string): Promise<PostgresRow> => {
    await alive();
    const row = (await rowsOf(database, sessionId(id))).find((one) => one["trashed_at"] === null);
    if (!row || row["restoring"] === true || !isOf({ scope }, row)) throw notFound(id);
    return row;
  };
  const putAside = async (scope: Scope, id: string): Promise<string> => {
    const row = await damagedToo(scope, id);
    await checkFree(database, id);
    const time = timestamp(clock);
    const fenced = await fenceRow(database, String(row["key"]), Number(row["generation"]));
    if (fenced === undefined) return putAside(scope, id);
    const sql =
      `WITH gone AS (DELETE FROM ${schema}.session WHERE key = $1 AND generation = $3 AND trashed_at IS NULL RETURNING *), lines AS (DELETE FROM ${schema}.record ` +
      "WHERE session IN (SELECT key FROM gone) RETURNING *) " +
      `INSERT INTO ${schema}.aside (time, source, session_id, content, tenant, "user") SELECT $2, one.*, tenant, "user" ` +
      "FROM gone, LATERAL (SELECT 'record.' || log, gone.id, lines.body FROM lines UNION ALL SELECT 'session.metadata', " +
      "gone.id, metadata UNION ALL SELECT 'session.state', gone.id, state) AS one RETURNING key";
    if ((await ask(sql, row["key"], time, fenced)).length === 0) return putAside(scope, id);
    return `table aside, time ${time}`;
  };
  return {
    async size(scope, id) {
      const { key, state } = await find(scope, id);
      if (state.archived) return sizeInArchive(state.archived);
      const bytes = await bytesOf(key);
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, why) {
      const text = JSON.stringify(maskJson(mask, { ...why } as unknown as JsonObject));
      for (;;) if (await mark(await find(scope, id), text)) return;
    },
    async unkeep(scope, id) {
      for (;;) {
        const row = await find(scope, id);
        if (!row.isKept) return false;
        if (await mark(row, null)) return true;
      }
    },
    async kept(scope, id) {
      const { kept } = await damagedToo(scope, id);
      return typeof kept === "string" ? (parseDocument(kept) as unknown as KeepMark) : undefined;
    },
    async trash(scope, ids, time) {
      const [keys, generations]: [string[], number[]] = [[], []];
      for (const id of new Set(ids)) {
        const row = await find(scope, id);
        if (!isFinal(row.state.status)) throw notFinished(id);
        if (row.isKept) throw isKept(id);
        if (await trashRow(id)) throw inTrash(id);
        keys.push(row.key);
        generations.push(row.generation);
      }
      // All or none: a session that was marked, taken, or in the trash meanwhile stops them all.
      const sql =
        `WITH fit AS (SELECT s.key FROM ${schema}.session s, unnest($1::bigint[], $3::bigint[]) AS a(key, generation) WHERE ` +
        "s.key = a.key AND s.generation = a.generation AND s.kept IS NULL AND s.trashed_at IS NULL FOR UPDATE OF s) " +
        `UPDATE ${schema}.session SET trashed_at = $2 WHERE key IN (SELECT key FROM fit) AND ` +
        "(SELECT count(*) FROM fit) = cardinality($1::bigint[]) RETURNING key";
      const moved = await ask(sql, keys, time, generations);
      if (moved.length < keys.length) await this.trash(scope, ids, time);
    },
    async *trashed(scope, one) {
      await alive();
      const sql =
        `SELECT key, id, tenant, "user", metadata, state, trashed_at FROM ${schema}.session WHERE trashed_at IS NOT NULL AND NOT restoring` +
        (one === undefined ? "" : " AND id = $1");
      for (const row of await ask(sql, ...(one === undefined ? [] : [sessionId(one)]))) {
        const id = String(row["id"]);
        const trashedAt = String(row["trashed_at"]);
        // One that cannot be read goes in time as any other.
        const metadata = decodeMetadata(parseDocument(String(row["metadata"])), id);
        if (!isOf({ scope }, row)) continue;
        const { user } = metadata ?? ownerNamed(row);
        const { createdAt = trashedAt } = metadata ?? {};
        const archived = decodeState(parseDocument(String(row["state"])))?.archived;
        const bytes = archived?.objectBytes ?? (await bytesOf(String(row["key"])));
        const lies = archived && { archivedAs: archived.key };
        yield { sessionId: id, trashedAt, ...(user !== undefined && { user }), createdAt, bytes, ...lies };
      }
    },
    async untrash(scope, id) {
      const row = await trashedIn(scope, id);
      if (!row) throw notInTrash(id);
      const there = await findRow(database, id);
      if (there && !(there.restoring && (await dropDraft(database, there)))) throw await whyNotMade(database, id);
      const sql =
        `UPDATE ${schema}.session SET trashed_at = NULL, generation = generation + 1 WHERE key = $1 AND trashed_at = $3 AND ` +
        `NOT EXISTS (SELECT FROM ${schema}.session o WHERE o.id = $2 AND o.trashed_at IS NULL) RETURNING key`;
      if ((await ask(sql, row["key"], id, row["trashed_at"])).length === 0) throw alreadyExists(id);
    },
    putAside,
    async erase(scope, ids, elsewhere = nowhere, limits = {}) {
      await alive();
      const known = [...new Set(ids.map(sessionId))];
      if (known.length === 0) return [];
      const reach = (id: string): WholeReach => ({ ...reachOf({ scope, ...limits }, id), elsewhere });
      for (const id of known) await mayErase(database, id, reach(id));
      const places = new Map<string, readonly ErasedPlace[]>();
      const owed = new Map<string, readonly string[]>();
      for (const id of known) {
        const { keys, isArchived } = await fenceRows(database, id, reach(id));
        // A hidden row, or one put aside, says that the archive has an object, until it is gone.
        if (isArchived) owed.set(id, keys);
        else places.set(id, await removeRows(database, reach(id), id, keys));
      }
      const others = await elsewhere(known);
      for (const [id, keys] of owed) places.set(id, await removeRows(database, reach(id), id, keys));
      for (const id of known) await forgetErasures(database, reach(id), id);
      return known.map((id) => ({ sessionId: id, places: [...(places.get(id) ?? []), ...others] }));
    },
    async unerased(scope, reachesArchive = false) {
      await alive();
      return unerasedIn(database, scope, reachesArchive);
    },
  };
}

/** Whether a row is one of a scope; that of damaged metadata is, as far as its columns say. */
function isOf(reach: Reach, row: PostgresRow): boolean {
  const metadata = metadataOf(row);
  return metadata ? reaches(reach, metadata) : isNotedOf(reach, row);
}

function metadataOf(row: PostgresRow): SessionMetadata | undefined {
  return decodeMetadata(parseDocument(String(row["metadata"])), String(row["id"]));
}

/** The rows of a session, the one that is not in the trash first. */
async function rowsOf({ asker, schema }: Database, id: string): Promise<readonly PostgresRow[]> {
  const sql = `SELECT key, id, tenant, "user", metadata, generation, head, revision, kept, state, restoring, trashed_at FROM ${schema}.session WHERE id = $1 ORDER BY trashed_at NULLS FIRST`;
  return asker.ask(sql, [id]);
}

/** Refuses a session that a process has; one whose documents cannot be read is nobody's. */
async function checkFree(database: Database, id: string): Promise<void> {
  const found = await findRow(database, id).catch((error: unknown) => {
    if (isWindrowError(error, "store-corrupt")) return undefined;
    throw error;
  });
  const owner = found && heldBy(found);
  if (owner) throw busy(owner);
}

/** The sessions that an erasure means, and whether what lies elsewhere goes, too. */
interface WholeReach extends Reach {
  readonly elsewhere: EraseElsewhere;
}

/**
 * Refuses what may not be erased.
 *
 * @returns the rows of the session, as they were read, without those of another owner
 */
async function mayErase(database: Database, id: string, reach: WholeReach): Promise<readonly PostgresRow[]> {
  const { elsewhere, trashAlone = false } = reach;
  const begun = await isBegun(database, reach, id);
  const rows = (await rowsOf(database, id)).filter((row) => isOf(reach, row));
  if (rows.length === 0 && !begun && !(await hasAside(database, reach, id))) throw notFound(id);
  const stored = rows.find((row) => row["trashed_at"] === null);
  // A draft that a restore left is no session; one that is being written is busy.
  if (trashAlone && stored && stored["restoring"] !== true) throw inStoreToo(id);
  // A row that is hidden is one whose erasure was begun: what keeps a session does not stop it.
  if (typeof stored?.["kept"] === "string" && stored["restoring"] !== true) throw isKept(id);
  for (const { state } of rows) checkReach(id, state, elsewhere);
  for (const state of await asideStates(database, reach, id)) checkReach(id, state, elsewhere);
  if (stored) await checkFree(database, id);
  return rows;
}

/**
 * Notes that a session's erasure is under way, and hides its rows: the statement that removes lines does not see those of an
 * append that ends meanwhile, and from here on there is none. Rows that were written since they were checked are checked again.
 *
 * @returns the keys of the rows, and whether an archive has the records of one
 */
async function fenceRows(
  database: Database,
  id: string,
  reach: WholeReach,
): Promise<{ readonly keys: readonly string[]; readonly isArchived: boolean }> {
  const { asker, schema } = database;
  const rows = await mayErase(database, id, reach);
  // By two: a row with generation 1 that is hidden would be one that a restore writes. Columns name the owner as the note does.
  const sql =
    `WITH fenced AS (UPDATE ${schema}.session s SET restoring = true, generation = s.generation + 2, holder = NULL, ` +
    'worker = NULL, tenant = a.tenant, "user" = a."user" FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], ' +
    '$5::text[], $6::text[]) AS a(key, generation, head, revision, tenant, "user") WHERE s.key = a.key AND ' +
    "s.generation = a.generation AND s.head = a.head AND s.revision = a.revision AND " +
    "(s.kept IS NULL OR s.restoring OR s.trashed_at IS NOT NULL) RETURNING s.*), " +
    `noted AS (INSERT INTO ${schema}.erasing (session_id, tenant, "user") SELECT DISTINCT id, tenant, "user" FROM fenced f ` +
    `WHERE NOT EXISTS (SELECT FROM ${schema}.erasing e WHERE e.session_id = f.id AND ${haveOneOwner("e", "f")})) ` +
    "SELECT key FROM fenced";
  const [keys = [], ...seen] = ["key", "generation", "head", "revision"].map((name) =>
    rows.map((row) => String(row[name])),
  );
  const owners = rows.map((row) => metadataOf(row) ?? row);
  const named = [owners.map(({ tenant }) => tenant ?? null), owners.map(({ user }) => user ?? null)];
  const fenced = await asker.ask(sql, [keys, ...seen, ...named]);
  if (fenced.length < keys.length) return fenceRows(database, id, reach);
  await noteAside(database, reach, id);
  const states = [...rows.map(({ state }) => String(state)), ...(await asideStates(database, reach, id))];
  return { keys, isArchived: states.some((state) => decodeState(parseDocument(state))?.archived) };
}

/** Removes the rows of a session that are fenced, and what was put aside of it. */
async function removeRows(
  { asker, schema }: Database,
  reach: Reach,
  id: string,
  keys: readonly string[],
): Promise<readonly ErasedPlace[]> {
  const sql =
    `WITH gone AS (DELETE FROM ${schema}.session WHERE key = ANY($2::bigint[]) AND restoring RETURNING *), ` +
    `lines AS (DELETE FROM ${schema}.record WHERE session IN (SELECT key FROM gone) RETURNING session, octet_length(body) AS bytes), ` +
    `put AS (DELETE FROM ${schema}.aside WHERE session_id = $1 AND ${isOwnAside(3)} RETURNING octet_length(content) AS bytes) ` +
    "SELECT 'session' AS kind, 'session' AS place, count(*) AS count, coalesce(sum(octet_length(metadata) + octet_length(state)), 0) " +
    "AS bytes FROM gone WHERE trashed_at IS NULL " +
    "UNION ALL SELECT 'session', 'record', count(*), coalesce(sum(lines.bytes), 0) FROM lines JOIN gone ON gone.key = lines.session " +
    "WHERE gone.trashed_at IS NULL " +
    "UNION ALL SELECT 'trash', 'session', count(*), coalesce(sum(octet_length(metadata) + octet_length(state)), 0) FROM gone " +
    "WHERE trashed_at IS NOT NULL " +
    "UNION ALL SELECT 'trash', 'record', count(*), coalesce(sum(lines.bytes), 0) FROM lines JOIN gone ON gone.key = lines.session " +
    "WHERE gone.trashed_at IS NOT NULL " +
    "UNION ALL SELECT 'aside', 'aside', count(*), coalesce(sum(bytes), 0) FROM put";
  const rows = await asker.ask(sql, [id, keys, ...valuesOf(reach)]);
  return rows.map((row) => ({
    kind: String(row["kind"]) as ErasedPlace["kind"],
    place: String(row["place"]),
    count: Number(row["count"]),
    bytes: Number(row["bytes"]),
  }));
}
