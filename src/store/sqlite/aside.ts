/** The table `aside`: lines and documents that were taken out of a session without deleting them. */
import { deleteLines, logTables } from "./tables.ts";
import type { Connection } from "./connection/driver.ts";
import { hasTable } from "./erasing.ts";
import { logNames } from "../format/logs.ts";

/** The statement that makes the table `aside`. */
export const asideSchema = `CREATE TABLE IF NOT EXISTS aside (
  id INTEGER PRIMARY KEY, time TEXT NOT NULL, source TEXT NOT NULL, source_id INTEGER, session_id TEXT NOT NULL,
  content TEXT NOT NULL
)`;

/** The beginning of a statement that puts something into it: time, source, id there, session, content. */
export const putAsideFrom = "INSERT INTO aside (time, source, source_id, session_id, content)";

/** Puts a line or a document into it, by the same values. */
export const putAside = `${putAsideFrom} VALUES (?, ?, ?, ?, ?)`;

/** Moves every line of a session into it, its documents, and the mark that keeps it. Inside a transaction. */
export function moveAside(connection: Connection, id: string, time: string): void {
  for (const log of logNames) {
    const { table } = logTables[log];
    connection.run(
      `${putAsideFrom} SELECT ?, '${table}', id, session_id, line FROM ${table} WHERE session_id = ? ORDER BY id`,
      time,
      id,
    );
    connection.run(deleteLines[log], id);
  }
  for (const name of ["metadata", "state"]) {
    connection.run(
      `${putAsideFrom} SELECT ?, 'sessions.${name}', NULL, id, ${name} FROM sessions WHERE id = ?`,
      time,
      id,
    );
  }
  connection.run("DELETE FROM sessions WHERE id = ?", id);
  if (!hasTable(connection, "kept")) return;
  connection.run(`${putAsideFrom} SELECT ?, 'kept', NULL, session_id, mark FROM kept WHERE session_id = ?`, time, id);
  connection.run("DELETE FROM kept WHERE session_id = ?", id);
}
