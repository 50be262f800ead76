/** Erasing sessions in SQLite, down to the pages of the file. */
import { WindrowError } from "../../errors.ts";
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { logNames } from "../format/logs.ts";
import type { Clock } from "../shared/clock.ts";
import { isHeld, ownerOf } from "../shared/holder.ts";
import type { Holder } from "../shared/holder.ts";
import { notFound, ownerNamed } from "../shared/rules.ts";
import { reaches } from "../shared/reach.ts";
import type { Reach } from "../shared/reach.ts";
import { busy } from "../shared/unlock.ts";
import type { Scope } from "../scope.ts";
import { inStoreToo, isKept } from "../upkeep.ts";
import type { ErasedPlace } from "../upkeep.ts";
import { asideOwners, removeAside } from "./aside.ts";
import { sqliteFailure } from "./connection/driver.ts";
import type { Connection, SqlRow } from "./connection/driver.ts";
import { notesOf, trashRow } from "./erasing.ts";
import { deleteLines, logTables } from "./tables.ts";

/** How many lines of a session a table has, and their bytes. */
export function linesOf(
  connection: Connection,
  table: string,
  id: string,
): { readonly count: number; readonly bytes: number } {
  const sql = `SELECT count(*) AS n, sum(length(CAST(line AS BLOB))) AS bytes FROM ${table} WHERE session_id = ?`;
  const row = connection.get(sql, id);
  return { count: Number(row?.["n"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) };
}

/** Whether columns name a scope. They hold what UTF-8 can: two names that differ in half a character are one there. */
export function isNotedOf(scope: Scope, row: SqlRow): boolean {
  return isNotedIn({ scope }, row);
}

/** Whether columns name an owner in reach. */
function isNotedIn(reach: Reach, row: SqlRow): boolean {
  return reaches(reach, ownerNamed(row));
}

/** A session outside the trash, as far as its row can be read. */
interface StoredRow {
  /** The owner by its metadata, else by its columns. */
  readonly metadata: Scope;
  readonly holder: Holder | undefined;
  readonly restoring: boolean;
  /** Those of its documents. */
  readonly bytes: number;
}

function storedRow(connection: Connection, id: string): StoredRow | undefined {
  const row = connection.get("SELECT tenant, user, metadata, state, holder, restoring FROM sessions WHERE id = ?", id);
  if (!row) return undefined;
  const [metadata, state] = [String(row["metadata"]), String(row["state"])];
  return {
    metadata: decodeMetadata(parseDocument(metadata), id) ?? ownerNamed(row),
    holder: parseDocument(String(row["holder"])) as unknown as Holder | undefined,
    restoring: row["restoring"] === 1,
    bytes: Buffer.byteLength(metadata) + Buffer.byteLength(state),
  };
}

/** A session that may be erased, and which rows of its id are its owner's. */
interface Erasable {
  readonly id: string;
  readonly reach: Reach;
  readonly owners: readonly Scope[];
  readonly store: boolean;
  readonly trash: boolean;
}

/** Refuses what may not be erased. */
export function mayErase(
  { connection, clock }: { readonly connection: Connection; readonly clock: Clock },
  reach: Reach,
  id: string,
  kept: boolean,
): Erasable {
  const row = storedRow(connection, id);
  const trashed = trashRow(connection, id);
  // One that names nobody is whose the other of its id is: nobody else may have made that. Alone it is an operator's.
  const named = trashed && decodeMetadata(parseDocument(String(trashed["metadata"])), id);
  const old: Scope | undefined = trashed && (named ?? row?.metadata ?? {});
  const isMeant = (one: Scope | undefined): boolean => !one || reaches(reach, one);
  const noted = [...notesOf(connection, id), ...asideOwners(connection, reach, id)];
  const owners = [row?.metadata, old].filter((one) => one !== undefined && reaches(reach, one)) as Scope[];
  owners.push(...noted.filter((one) => isNotedIn(reach, one)).map(ownerNamed));
  if (owners.length === 0) throw notFound(id);
  const meant = { id, reach, owners, store: isMeant(row?.metadata), trash: isMeant(old) };
  if (!meant.store) return meant;
  if (reach.trashAlone === true && row && !row.restoring) throw inStoreToo(id);
  // What was kept when an erasure began went with it: this mark is a newer session's.
  if (kept) throw isKept(id);
  if (row?.holder && isHeld(row.holder, clock.now())) throw busy(ownerOf(row.holder));
  return meant;
}

/** Removes the rows that may be erased, and what was put aside. */
export function removeRows(connection: Connection, { id, reach, store, trash }: Erasable): readonly ErasedPlace[] {
  const places: ErasedPlace[] = store ? removeStored(connection, id) : [];
  if (trash) {
    places.push({ kind: "trash", place: "trash", ...linesOf(connection, "trash_lines", id) });
    connection.run("DELETE FROM trash_lines WHERE session_id = ?", id);
    connection.run("DELETE FROM trash WHERE session_id = ?", id);
  }
  return [...places, ...removeAside(connection, reach, id)];
}

function removeStored(connection: Connection, id: string): ErasedPlace[] {
  const places: ErasedPlace[] = [];
  for (const log of logNames) {
    const { table } = logTables[log];
    places.push({ kind: "session", place: table, ...linesOf(connection, table, id) });
    connection.run(deleteLines[log], id);
  }
  const row = storedRow(connection, id);
  places.push({ kind: "session", place: "sessions", count: row ? 1 : 0, bytes: row?.bytes ?? 0 });
  connection.run("DELETE FROM sessions WHERE id = ?", id);
  connection.run("DELETE FROM kept WHERE session_id = ?", id);
  return places;
}

/**
 * Writes the file anew without what was deleted, and empties the write-ahead log, which has it too.
 *
 * @throws WindrowError `store-unavailable` where another process is in the way
 */
export function wipe({ connection, file }: { readonly connection: Connection; readonly file: string }): ErasedPlace {
  const before = pagesOf(connection);
  try {
    connection.exec("VACUUM");
  } catch (error) {
    throw sqliteFailure(error, "Writing the database anew", file);
  }
  if (connection.pragma("wal_checkpoint(TRUNCATE)") !== 0) {
    const message =
      `Another process reads ${file}, and its write-ahead log still holds what was erased. Erase the same ` +
      "sessions again when it is done.";
    throw new WindrowError("store-unavailable", message, { location: file });
  }
  const after = pagesOf(connection);
  const bytes = Math.max(0, before.bytes - after.bytes);
  return { kind: "free-space", place: "pages and write-ahead log", count: before.count - after.count, bytes };
}

function pagesOf(connection: Connection): { readonly count: number; readonly bytes: number } {
  const count = Number(connection.pragma("page_count"));
  return { count, bytes: count * Number(connection.pragma("page_size")) };
}
