/** The table `aside`: texts that were taken out of a session without deleting them, with whose they are. */
import type { Scope } from "../scope.ts";
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
 * The condition that a row is a scope's; one that names no owner is that of sessions without one.
 *
 * @param from - the number of the first of {@link valuesOf} among the values of the statement
 */
export function isOwnAside(from: number): string {
  return `tenant IS NOT DISTINCT FROM $${from}::text AND ($${from + 1}::text IS NULL OR "user" = $${from + 1})`;
}

/** The values of a scope in a statement. */
export function valuesOf({ tenant, user }: Scope): readonly unknown[] {
  return [tenant ?? null, user ?? null];
}

/** Whether something of a session was put aside that is the scope's. */
export async function hasAside({ asker, schema }: Database, scope: Scope, id: string): Promise<boolean> {
  const sql = `SELECT FROM ${schema}.aside WHERE session_id = $1 AND ${isOwnAside(2)} LIMIT 1`;
  return (await asker.ask(sql, [id, ...valuesOf(scope)])).length > 0;
}
