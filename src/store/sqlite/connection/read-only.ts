/** Databases that can be read and not written: on a read-only file system, or in a folder that takes no new files. */
import { existsSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { readSchema } from "./driver.ts";
import type { DatabaseClass, SqliteDatabase } from "./driver.ts";

/** A database opened for reading. */
export interface ReadOnlyDatabase {
  readonly database: SqliteDatabase;
  /** The state of its file, which must not change meanwhile; null where SQLite's locks guard what is read. */
  readonly version: string | null;
}

/**
 * Opens it. A write-ahead log is read together with its shared memory; a file without a log is read as one that does not
 * change, by a driver whose SQLite takes a URI, as that of `better-sqlite3` does not.
 */
export function openReadOnly(file: string, driver: DatabaseClass): ReadOnlyDatabase {
  const version = versionOf(file);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const isShared = log !== undefined && existsSync(`${file}-shm`);
  if (log && log.size > 0 && !isShared) throw new Error("its write-ahead log lies there without shared memory");
  const database = new driver(isShared ? file : `${pathToFileURL(file).href}?immutable=1`);
  try {
    readSchema(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return { database, version: isShared ? null : version };
}

/** The state of a file that is to stay as it is. */
export function versionOf(file: string): string {
  const states = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false }));
  return states.map((state) => (state ? `${state.mtimeMs}:${state.size}` : "none")).join(" ");
}
