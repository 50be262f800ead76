/** The table `aside`: texts that were taken out of a session without deleting them. */
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
    `INSERT INTO ${schema}.aside (time, source, session_id, content) SELECT $1, $2, $3::uuid, $4 FROM (SELECT FROM ` +
    `${schema}.session WHERE id = $3::uuid AND NOT restoring LIMIT 1 FOR SHARE) AS there WHERE NOT EXISTS ` +
    `(SELECT FROM ${schema}.aside WHERE session_id = $3::uuid AND source = $2 AND content = $4)`;
  await asker.ask(sql, [time, source, id, content]);
}
