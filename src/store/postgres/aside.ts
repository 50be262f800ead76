/** The table `aside`: texts that were taken out of a session without deleting them, with whose they are. */
import { usersIn } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import type { Database } from "./database.ts";

/** A text to put aside. */
export interface PutAside {
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The table, and the log and number, that it stood in. */
  readonly source: string;
  /** The session's id. */
  readonly id: string;
  readonly content: string;
}

/** Puts a text aside; the same one from the same place once, and none of a session that is erased meanwhile. */
export async function putAside({ asker, schema }: Database, { time, source, id, content }: PutAside): Promise<void> {
  const sql =
    `INSERT INTO ${schema}.aside (time, source, session_id, content, tenant, "user") ` +
    `SELECT $1, $2, $3::uuid, $4, tenant, "user" FROM (SELECT tenant, "user" FROM ` +
    `${schema}.session WHERE id = $3::uuid AND trashed_at IS NULL AND NOT restoring LIMIT 1 FOR SHARE) AS there WHERE NOT EXISTS ` +
    `(SELECT FROM ${schema}.aside a WHERE session_id = $3::uuid AND source = $2 AND content = $4 AND ` +
    'a.tenant IS NOT DISTINCT FROM there.tenant AND a."user" IS NOT DISTINCT FROM there."user")';
  await asker.ask(sql, [time, source, id, content]);
}

/**
 * The condition that a row's owner is in reach; a row that names none is that of sessions without one.
 *
 * @param from - the number of the first of {@link valuesOf} among the values of the statement
 */
export function isOwnAside(from: number): string {
  const users = `"user" = ANY($${from + 1}::text[]) OR ("user" IS NULL AND $${from + 2}::boolean) OR $${from + 3}::boolean`;
  return `tenant IS NOT DISTINCT FROM $${from}::text AND (${users})`;
}

/** The values of a reach in a statement. */
export function valuesOf(reach: Reach): readonly unknown[] {
  const { named, none, every } = usersIn(reach);
  return [reach.scope.tenant ?? null, named, none, every];
}

/** The states of sessions that were put aside whose owners are in reach. */
export async function asideStates({ asker, schema }: Database, reach: Reach, id: string): Promise<readonly string[]> {
  const sql = `SELECT content FROM ${schema}.aside WHERE session_id = $1 AND source = 'session.state' AND ${isOwnAside(2)}`;
  return (await asker.ask(sql, [id, ...valuesOf(reach)])).map((row) => String(row["content"]));
}

/** Whether something of a session was put aside whose owner is in reach. */
export async function hasAside({ asker, schema }: Database, reach: Reach, id: string): Promise<boolean> {
  const sql = `SELECT FROM ${schema}.aside WHERE session_id = $1 AND ${isOwnAside(2)} LIMIT 1`;
  return (await asker.ask(sql, [id, ...valuesOf(reach)])).length > 0;
}
