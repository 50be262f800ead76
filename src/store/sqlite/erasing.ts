/**
 * Ids that are given out, and those that are not: those of sessions in the trash of another owner, and those in the table
 * `erasing`, whose erasure was begun and has not ended. The tables are made when they are first written to.
 */
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { alreadyExists, beingErased, haveOneOwner } from "../shared/rules.ts";
import { logNames } from "../format/logs.ts";
import { isHeld } from "../shared/holder.ts";
import type { SessionMetadata } from "../store.ts";
import { findRow } from "./session.ts";
import { deleteLines } from "./tables.ts";
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
 * Frees an id for a session, or refuses it where a session has it, or lies in the trash of another owner, or where its erasure
 * has not ended. What a restore left that died goes, and so does a mark that outlived its session. Inside a transaction,
 * before its first write.
 *
 * @param metadata - of the session that is to have it
 * @param now - milliseconds since 1970
 * @throws WindrowError `session-exists`, `session-busy`
 */
export function freeId(connection: Connection, metadata: SessionMetadata, now: number): void {
  const { uuid: id } = metadata;
  const found = findRow(connection, id);
  if (found && !(found.restoring && !(found.holder && isHeld(found.holder, now)))) throw alreadyExists(id);
  const trashed = trashRow(connection, id);
  const owner = trashed && decodeMetadata(parseDocument(String(trashed["metadata"])), id);
  if (owner && !haveOneOwner(owner, metadata)) throw alreadyExists(id);
  const noted = hasTable(connection, "erasing") && connection.get("SELECT * FROM erasing WHERE session_id = ?", id);
  // A session that comes back from the trash is not the one that another owner erases.
  const [tenant, user] = [noted && (noted["tenant"] ?? undefined), noted && (noted["user"] ?? undefined)];
  if (noted && (!owner || (owner.tenant === tenant && owner.user === user))) throw beingErased(id);
  if (found) deleteAll(connection, id);
  if (hasTable(connection, "kept")) connection.run("DELETE FROM kept WHERE session_id = ?", id);
}

/** Removes a session's row and its lines. */
export function deleteAll(connection: Connection, id: string): void {
  for (const log of logNames) connection.run(deleteLines[log], id);
  connection.run("DELETE FROM sessions WHERE id = ?", id);
}
