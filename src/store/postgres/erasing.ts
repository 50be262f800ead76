/** The table `erasing`: erasures that are under way, a row for each id and owner. One that is there twice counts once. */
import { ownerNamed } from "../shared/rules.ts";
import { reaches } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import type { Unerased } from "../upkeep.ts";
import { archivedField } from "../format/documents.ts";
import { isOwnAside, valuesOf } from "./aside.ts";
import type { PostgresRow } from "./client.ts";
import type { Database } from "./database.ts";

/** The condition that the erasure of a row of sessions, `s`, is under way; those of other owners of its id are not asked for. */
export function isErased(schema: string): string {
  return `EXISTS (SELECT FROM ${schema}.erasing e WHERE e.session_id = s.id AND ${haveOneOwner("e", "s")})`;
}

/** The condition that the rows of two tables have one owner. */
export function haveOneOwner(one: string, other: string): string {
  const columns = ["tenant", '"user"'];
  return columns.map((name) => `${one}.${name} IS NOT DISTINCT FROM ${other}.${name}`).join(" AND ");
}

/** Whether columns name an owner in reach. */
export function isNotedOf(reach: Reach, row: PostgresRow): boolean {
  return reaches(reach, ownerNamed(row));
}

/** Whether an erasure of an id was begun by an owner in reach. */
export async function isBegun({ asker, schema }: Database, reach: Reach, id: string): Promise<boolean> {
  const sql = `SELECT FROM ${schema}.erasing WHERE session_id = $1 AND ${isOwnAside(2)} LIMIT 1`;
  return (await asker.ask(sql, [id, ...valuesOf(reach)])).length > 0;
}

/** Notes that what was put aside of a session is being erased. */
export async function noteAside({ asker, schema }: Database, reach: Reach, id: string): Promise<void> {
  const sql =
    `INSERT INTO ${schema}.erasing (session_id, tenant, "user") SELECT DISTINCT session_id, tenant, "user" FROM ` +
    `${schema}.aside s WHERE session_id = $1 AND ${isOwnAside(2)} AND NOT EXISTS (SELECT FROM ${schema}.erasing e ` +
    `WHERE e.session_id = $1 AND ${haveOneOwner("e", "s")})`;
  await asker.ask(sql, [id, ...valuesOf(reach)]);
}

/** Forgets the erasures of an id by the owners in reach: they have ended. */
export async function forgetErasures({ asker, schema }: Database, reach: Reach, id: string): Promise<void> {
  const sql = `DELETE FROM ${schema}.erasing WHERE session_id = $1 AND ${isOwnAside(2)}`;
  await asker.ask(sql, [id, ...valuesOf(reach)]);
}

/** The erasures of a scope's owners that were begun; those that an archive is owed to only where it is reached. */
export async function unerasedIn(
  { asker, schema }: Database,
  scope: Scope,
  reachesArchive: boolean,
): Promise<readonly Unerased[]> {
  const isMarked = (text: string): string => `position('"${archivedField}"' IN ${text}) > 0`;
  const sql =
    `SELECT DISTINCT session_id, tenant, "user" FROM ${schema}.erasing e WHERE $1::boolean OR NOT (EXISTS (SELECT FROM ` +
    `${schema}.session s WHERE s.id = e.session_id AND ${haveOneOwner("e", "s")} AND s.restoring AND ${isMarked("s.state")}) ` +
    `OR EXISTS (SELECT FROM ${schema}.aside a WHERE a.session_id = e.session_id AND ${haveOneOwner("e", "a")} AND ` +
    `a.source = 'session.state' AND ${isMarked("a.content")}))`;
  const rows = await asker.ask(sql, [reachesArchive]);
  const own = rows.filter((row) => isNotedOf({ scope }, row));
  return own.map((row) => ({ ...ownerNamed(row), sessionId: String(row["session_id"]) }));
}
