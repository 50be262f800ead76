/** A database made ready to be a store: whose it is, whether it is whole, its settings, its tables, its file's mode. */
import { chmodSync, closeSync, existsSync, openSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WindrowError } from "../errors.ts";
import { makeFolder } from "./files/layout.ts";
import { schema, schemaVersion } from "./sql.ts";
import { Connection, faultOf, sqliteFailure } from "./sqlite-driver.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";

/** How long a call waits for another process that writes, in milliseconds. */
const busyTimeoutMs = 5_000;

/** In the header of every database of Windrow: "WNDR" in ASCII. */
const applicationId = 0x57_4e_44_52;

/** A write-ahead log that grew beyond this is cut back to it, in bytes. */
const journalBytes = 64 * 1024 * 1024;

const fileMode = 0o600;

/** File systems on which several machines meet; SQLite's shared memory does not reach over them. Linux's numbers. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x01021997, "9P"],
]);

/**
 * Makes the file of a database, empty and for its owner only, before a driver opens it; SQLite gives its side files the
 * mode of this one.
 *
 * @returns the absolute path
 * @throws WindrowError `store-unavailable` where it cannot be made, or lies on a network file system
 */
export async function prepareFile(path: string): Promise<string> {
  const file = resolve(path);
  const folder = dirname(file);
  try {
    await makeFolder(folder);
    const network = networkFileSystems.get(statfsSync(folder).type >>> 0);
    if (network !== undefined) {
      throw new WindrowError(
        "store-unavailable",
        `${file} is on a network file system (${network}), where SQLite loses data. Keep it on a disk of this machine.`,
        { location: file, fileSystem: network },
      );
    }
    closeSync(openSync(file, "a", fileMode));
    chmodSync(file, fileMode);
    return file;
  } catch (error) {
    throw sqliteFailure(error, "Making the database", file);
  }
}

/** A database that is ready. */
export interface ReadyDatabase {
  readonly connection: Connection;
  /** The absolute path of its file. */
  readonly file: string;
}

/**
 * Takes a database in use as a store.
 *
 * @param checked - whether all of an existing database is read and checked first
 * @throws WindrowError `store-foreign`, `store-corrupt`, `format-newer`, `store-unavailable`, `bad-option`
 */
export function readyDatabase(database: SqliteDatabase, checked: boolean): ReadyDatabase {
  const connection = new Connection(database);
  let file = "the database";
  try {
    connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const path = connection.all("PRAGMA database_list").find((row) => row["name"] === "main")?.["file"];
    if (typeof path !== "string" || path === "") {
      const message = "A SQLite store needs a database in a file; for one in memory there is the ram store.";
      throw new WindrowError("bad-option", message, { option: "database" });
    }
    file = path;
    const isNew = checkOwnership(connection, file);
    if (!isNew && checked) checkWhole(connection, file);
    chmodSync(file, fileMode);
    useWriteAheadLog(connection, file);
    connection.exec(`PRAGMA journal_size_limit = ${journalBytes}`);
    if (isNew) makeTables(connection);
    for (const side of [`${file}-wal`, `${file}-shm`]) if (existsSync(side)) chmodSync(side, fileMode);
    return { connection, file };
  } catch (error) {
    database.close();
    throw sqliteFailure(error, "Opening the database", file);
  }
}

/** Whether the database is new; one that another program made is refused before anything is changed. */
function checkOwnership(connection: Connection, file: string): boolean {
  const owner = connection.pragma("application_id");
  const isEmpty = connection.get("SELECT name FROM sqlite_schema LIMIT 1") === undefined;
  if (isEmpty && owner === 0) return true;
  if (owner !== applicationId) {
    const message = `${file} is a database of another program; nothing was changed. Give the store a file of its own.`;
    throw new WindrowError("store-foreign", message, { location: file, applicationId: owner });
  }
  const version = connection.pragma("user_version");
  if (typeof version === "number" && version > schemaVersion) {
    throw new WindrowError(
      "format-newer",
      `${file} has tables of version ${version}, this version of Windrow knows ${schemaVersion}: update Windrow.`,
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
