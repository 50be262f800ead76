/**
 * Ids that are not given out: those of sessions in the trash of another owner, and those in the table `erasing`, whose erasure
 * was begun and has not ended. The tables are made when they are first written to.
 */
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { alreadyExists, beingErased, haveOneOwner } from "../shared/rules.ts";
import type { SessionMetadata } from "../store.ts";
import type { Connection, SqlRow } from "./connection/driver.ts";

/** Whether a table is there. */
export function hasTable(connection: Connection, table: string): boolean {
  return connection.get("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?", table) !== undefined;
}

/** The row of a session in the trash, in any scope. */
export function trashRow(connection: Connection, id: string): SqlRow | undefined {
  if (!hasTable(connection, "trash")) return undefined;
  return connection.get("SELECT * FROM trash WHERE session_id = ?", id);
}

/**
 * Refuses an id that is taken, or lies in the trash of another owner, or whose erasure has not ended. Inside a transaction.
 *
 * @param metadata - of the session that is to have it
 * @param isTaken - whether a session has it
 * @throws WindrowError `session-exists`, `session-busy`
 */
export function checkFreeId(connection: Connection, metadata: SessionMetadata, isTaken: boolean): void {
  const { uuid: id } = metadata;
  const trashed = trashRow(connection, id);
  const owner = trashed && decodeMetadata(parseDocument(String(trashed["metadata"])), id);
  if (isTaken || (owner && !haveOneOwner(owner, metadata))) throw alreadyExists(id);
  if (!hasTable(connection, "erasing")) return;
  if (connection.get("SELECT session_id FROM erasing WHERE session_id = ?", id)) throw beingErased(id);
}
