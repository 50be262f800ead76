/** The table `aside`: lines and documents that were taken out of a session without deleting them, with whose they are. */
import type { Reach } from "../shared/reach.ts";
import { logNames } from "../format/logs.ts";
import type { ErasedPlace } from "../upkeep.ts";
import type { Connection, SqlRow } from "./connection/driver.ts";
import { hasTable, isOwn, valuesOf } from "./erasing.ts";
import { deleteLines, logTables } from "./tables.ts";

const schema = `CREATE TABLE IF NOT EXISTS aside (
  id INTEGER PRIMARY KEY, time TEXT NOT NULL, source TEXT NOT NULL, source_id INTEGER, session_id TEXT NOT NULL,
  content TEXT NOT NULL, tenant TEXT, user TEXT
)`;

/** Makes the table. One that an earlier version made names no owners; its rows are those of sessions without one. */
export function makeAside(connection: Connection): void {
  connection.exec(schema);
  if (connection.get("SELECT 1 FROM pragma_table_info('aside') WHERE name = 'tenant'")) return;
  connection.exec("ALTER TABLE aside ADD COLUMN tenant TEXT; ALTER TABLE aside ADD COLUMN user TEXT;");
}

const insert = "INSERT INTO aside (time, source, source_id, session_id, content, tenant, user)";

/**
 * The statement that puts rows of a table into it, with the owner of the session in the store that each names.
 *
 * @param values - time, source, id there, session, content
 * @param from - a table with a column `session_id`, and which of its rows
 */
export function putAsideFrom(values: string, from: string): string {
  const owner = ["tenant", "user"].map((name) => `(SELECT ${name} FROM sessions s WHERE s.id = session_id)`);
  return `${insert} SELECT ${values}, ${owner.join(", ")} FROM ${from}`;
}

/** Puts a document of a session in the store into it: time, source, id there, session, content. */
export const putAside = putAsideFrom(
  "time, source, source_id, session_id, content",
  "(SELECT ? AS time, ? AS source, ? AS source_id, ? AS session_id, ? AS content)",
);

/** Moves every line of a session into it, its documents, and the mark that keeps it. Inside a transaction. */
export function moveAside(connection: Connection, id: string, time: string): void {
  for (const log of logNames) {
    const { table } = logTables[log];
    const from = `${table} WHERE session_id = ? ORDER BY id`;
    connection.run(putAsideFrom(`?, '${table}', id, session_id, line`, from), time, id);
    connection.run(deleteLines[log], id);
  }
  if (hasTable(connection, "kept")) {
    const from = "kept WHERE session_id = ?";
    connection.run(putAsideFrom("?, 'kept', NULL, session_id, mark", from), time, id);
    connection.run(`DELETE FROM ${from}`, id);
  }
  for (const name of ["metadata", "state"]) {
    const copy = `SELECT ?, 'sessions.${name}', NULL, id, ${name}, tenant, user FROM sessions WHERE id = ?`;
    connection.run(`${insert} ${copy}`, time, id);
  }
  connection.run("DELETE FROM sessions WHERE id = ?", id);
}

/** The owners in reach of what was put aside of a session. */
export function asideOwners(connection: Connection, reach: Reach, id: string): readonly SqlRow[] {
  if (!hasTable(connection, "aside")) return [];
  makeAside(connection);
  return connection.all(`SELECT DISTINCT tenant, user FROM aside WHERE ${isOwn}`, ...valuesOf(reach, id));
}

/** Removes what was put aside of a session in reach; no place where the database never had any. */
export function removeAside(connection: Connection, reach: Reach, id: string): readonly ErasedPlace[] {
  if (!hasTable(connection, "aside")) return [];
  const sql = `SELECT count(*) AS n, sum(length(CAST(content AS BLOB))) AS bytes FROM aside WHERE ${isOwn}`;
  const row = connection.get(sql, ...valuesOf(reach, id));
  connection.run(`DELETE FROM aside WHERE ${isOwn}`, ...valuesOf(reach, id));
  return [{ kind: "aside", place: "aside", count: Number(row?.["n"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) }];
}
