/**
 * Ids that are given out, and those that are not: those of sessions in the trash of another owner, and those in the table
 * `erasing`, whose erasure was begun and has not ended: a row for each owner. The tables are made when they are first written to.
 */
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { alreadyExists, beingErased, haveOneOwner, ownerNamed } from "../shared/rules.ts";
import { logNames } from "../format/logs.ts";
import { isHeld } from "../shared/holder.ts";
import { usersIn } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import type { SessionMetadata } from "../store.ts";
import { findRow } from "./session.ts";
import { deleteLines } from "./tables.ts";
import type { Connection, SqlRow, SqlValue } from "./connection/driver.ts";

/** Whether a table is there. */
export function hasTable(connection: Connection, table: string): boolean {
  return connection.get("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?", table) !== undefined;
}

/** The row of a session in the trash, in any scope. */
export function trashRow(connection: Connection, id: string): SqlRow | undefined {
  if (!hasTable(connection, "trash")) return undefined;
  return connection.get("SELECT * FROM trash WHERE session_id = ?", id);
}

/** The condition that a row is one of an id and in reach, with {@link valuesOf}. */
export const isOwn =
  "session_id = ? AND tenant IS ? AND (user IN (SELECT value FROM json_each(?)) OR (user IS NULL AND ?) OR ?)";

/** The values of the rows of an id in reach. */
export function valuesOf(reach: Reach, id: string): readonly SqlValue[] {
  const { named, none, every } = usersIn(reach);
  return [id, reach.scope.tenant ?? null, JSON.stringify(named), Number(none), Number(every)];
}

const notes = "erasing (session_id TEXT NOT NULL, tenant TEXT, user TEXT)";

/** Whether the table of erasures is there, and has a row for each owner. One of an earlier version has a row for each id. */
export function hasNotes(connection: Connection): boolean {
  return (
    connection.get("SELECT 1 FROM pragma_table_info('erasing') WHERE name = 'session_id' AND pk = 0") !== undefined
  );
}

/** Makes the table of erasures, or makes that of an earlier version anew, with its rows. Inside a transaction. */
export function makeNotes(connection: Connection): void {
  const isOld = hasTable(connection, "erasing");
  if (isOld) connection.exec("ALTER TABLE erasing RENAME TO erasing_before");
  connection.exec(`CREATE TABLE ${notes}`);
  if (isOld) connection.exec("INSERT INTO erasing SELECT session_id, tenant, user FROM erasing_before");
  if (isOld) connection.exec("DROP TABLE erasing_before");
}

/** The owners whose erasure of an id was begun and has not ended. */
export function notesOf(connection: Connection, id: string): readonly SqlRow[] {
  if (!hasTable(connection, "erasing")) return [];
  return connection.all("SELECT tenant, user FROM erasing WHERE session_id = ?", id);
}

/** Notes that an owner's erasure of an id is under way, once. */
export function noteErasing(connection: Connection, id: string, { tenant, user }: Scope): void {
  const values = [id, tenant ?? null, user ?? null];
  const isNoted = "SELECT 1 FROM erasing WHERE session_id = ? AND tenant IS ? AND user IS ?";
  if (connection.get(isNoted, ...values)) return;
  connection.run("INSERT INTO erasing (session_id, tenant, user) VALUES (?, ?, ?)", ...values);
}

/** Forgets the erasures of the owners in reach: they have ended. */
export function forgetErasing(connection: Connection, reach: Reach, id: string): void {
  connection.run(`DELETE FROM erasing WHERE ${isOwn}`, ...valuesOf(reach, id));
}

/**
 * Frees an id for a session, or refuses it where a session has it, or lies in the trash of another owner, or where its erasure
 * has not ended. What a restore left that died goes, and so does a mark that outlived its session. Inside a transaction,
 * before its first write.
 *
 * @param metadata - of the session that is to have it
 * @param now - milliseconds since 1970
 * @param comesBack - whether it is the one in the trash: of it no other owner's erasure is. Default: it is another
 * @throws WindrowError `session-exists`, `session-busy`
 */
export function freeId(connection: Connection, metadata: SessionMetadata, now: number, comesBack = false): void {
  const { uuid: id } = metadata;
  const found = findRow(connection, id);
  if (found && !(found.restoring && !(found.holder && isHeld(found.holder, now)))) throw alreadyExists(id);
  const trashed = trashRow(connection, id);
  const owner = trashed && decodeMetadata(parseDocument(String(trashed["metadata"])), id);
  if (trashed && !(owner && haveOneOwner(owner, metadata))) throw alreadyExists(id);
  const isOf = (row: SqlRow): boolean => haveOneOwner(ownerNamed(row), metadata);
  if (notesOf(connection, id).some((row) => !comesBack || isOf(row))) throw beingErased(id);
  if (found) deleteAll(connection, id);
  if (hasTable(connection, "kept")) connection.run("DELETE FROM kept WHERE session_id = ?", id);
}

/** Removes a session's row and its lines. */
export function deleteAll(connection: Connection, id: string): void {
  for (const log of logNames) connection.run(deleteLines[log], id);
  connection.run("DELETE FROM sessions WHERE id = ?", id);
}
