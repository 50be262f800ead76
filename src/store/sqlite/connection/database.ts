/**
 * Making a database ready to be a store: its owner, its integrity, its settings, its tables and the mode of its file.
 */
import { chmodSync, existsSync, realpathSync } from "node:fs";
import { WindrowError } from "../../../errors.ts";
import { fileMode } from "../../../disk/safe-write.ts";
import { schema, schemaVersion } from "../tables.ts";
import { faultOf, readSchema } from "./driver.ts";
import type { Connection, SqliteDatabase, SqlRow } from "./driver.ts";

/** How long a call waits for another process that writes, in milliseconds. */
const busyTimeoutMs = 5_000;

/** In the header of every database of Windrow: "WNDR" in ASCII. */
const applicationId = 0x57_4e_44_52;

/** A write-ahead log that grew beyond this is cut back to it, in bytes. */
const journalBytes = 64 * 1024 * 1024;

/**
 * The path of an open database, without symbolic links.
 *
 * @throws WindrowError `bad-option` for one in memory
 */
export function pathOf(database: SqliteDatabase): string {
  const rows = database.prepare("PRAGMA database_list").all() as SqlRow[];
  const path = rows.find((row) => row["name"] === "main")?.["file"];
  if (typeof path === "string" && path !== "") return realpathSync(path);
  const message = "A SQLite store needs a database in a file; for one in memory there is the ram store.";
  throw new WindrowError("bad-option", message, { option: "database" });
}

/**
 * Makes a database ready to be a store.
 *
 * @param checked - whether all of an existing database is read and checked first
 * @param readOnly - whether it can only be read: nothing is set up then
 * @throws WindrowError `store-foreign`, `store-corrupt`, `format-newer`, `store-unavailable`
 */
export function readyDatabase(connection: Connection, file: string, checked: boolean, readOnly: boolean): void {
  connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const isNew = checkOwnership(connection, file);
  if (!isNew && checked) checkWhole(connection, file);
  if (readOnly) {
    if (!isNew) return;
    throw new WindrowError("store-unavailable", `${file} is empty and cannot be written.`, { location: file });
  }
  chmodSync(file, fileMode);
  useWriteAheadLog(connection, file);
  connection.exec(`PRAGMA journal_size_limit = ${journalBytes}`);
  if (isNew) makeTables(connection);
  for (const side of [`${file}-wal`, `${file}-shm`]) if (existsSync(side)) chmodSync(side, fileMode);
}

/** Whether the database is new; one that another program made is refused before anything is changed. */
function checkOwnership(connection: Connection, file: string): boolean {
  const owner = connection.pragma("application_id");
  const isEmpty = readSchema(connection.database) === undefined;
  if (isEmpty && owner === 0) return true;
  if (owner !== applicationId) {
    const message = `${file} is a database of another program; nothing was changed. Give the store a file of its own.`;
    throw new WindrowError("store-foreign", message, { location: file, applicationId: owner });
  }
  const version = connection.pragma("user_version");
  if (!isEmpty && version !== schemaVersion) {
    throw new WindrowError(
      "format-newer",
      `${file} has tables of version ${String(version)}, and this version of Windrow knows ${schemaVersion} alone.`,
      { location: file, format: version },
    );
  }
  return isEmpty;
}

function checkWhole(connection: Connection, file: string): void {
  const result = connection.pragma("quick_check(1)");
  if (result === "ok") return;
  throw new WindrowError(
    "store-corrupt",
    `${file} is damaged (${String(result)}). Restore a copy, or save what is readable with the \`.recover\` command of ` +
      "the sqlite3 program.",
    { location: file, reason: result },
  );
}

/** Two processes that do this to a new file at once can get in each other's way, in spite of the busy timeout. */
function useWriteAheadLog(connection: Connection, file: string): void {
  const mode = retried(() => connection.pragma("journal_mode = WAL"));
  // What is removed is overwritten, also in the copies that a page keeps in its free space.
  connection.pragma("secure_delete = ON");
  if (mode === "wal") return;
  const message = `${file} cannot have a write-ahead log (its journal mode stays "${String(mode)}").`;
  throw new WindrowError("store-unavailable", message, { location: file });
}

function makeTables(connection: Connection): void {
  retried(() =>
    connection.transaction("FULL", () => {
      connection.exec(schema);
      connection.exec(`PRAGMA application_id = ${applicationId}`);
      connection.exec(`PRAGMA user_version = ${schemaVersion}`);
    }),
  );
}

/** Tries again while another process is in the way. */
function retried<T>(work: () => T): T {
  const end = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (faultOf(error) !== "busy" || Date.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
