/** Databases that can be read and not written: on a read-only file system, or in a folder that takes no new files. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { faultOf } from "./driver.ts";
import type { SqliteDatabase } from "./driver.ts";
import { descriptorsOf } from "./file.ts";

/** A driver's class of databases. */
export type DatabaseClass = new (path: string) => SqliteDatabase;

/** A database opened for reading. */
export interface ReadOnlyDatabase {
  readonly database: SqliteDatabase;
  /** Whether SQLite's locks guard what is read; elsewhere the file must not change meanwhile. */
  readonly locked: boolean;
}

/**
 * Opens it. A process elsewhere that writes has a write-ahead log with its shared memory beside the file, which SQLite
 * reads along with it. A file without a log is read as one that does not change. A log that a crash or a copy left without
 * its shared memory cannot be read in its place: the file and the log are copied.
 */
export function openReadOnly(file: string, driver: DatabaseClass): ReadOnlyDatabase {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (log && existsSync(`${file}-shm`)) {
    // One that may write would move the log of a process that died into the file. SQLite may make `-shm` anew all the same.
    return { database: openBy("mode=ro", file, driver) ?? tried(new driver(file)), locked: true };
  }
  if (!log || log.size === 0) {
    const database = openBy("immutable=1", file, driver);
    if (database) return { database, locked: false };
  }
  return { database: openCopy(file, driver), locked: false };
}

/** Undefined where the driver's SQLite takes no URI, as that of `better-sqlite3`. */
function openBy(way: string, file: string, driver: DatabaseClass): SqliteDatabase | undefined {
  try {
    return tried(new driver(`${pathToFileURL(file).href}?${way}`));
  } catch (error) {
    if (["corrupt", "not-a-database"].includes(faultOf(error))) throw error;
    return undefined;
  }
}

function openCopy(file: string, driver: DatabaseClass): SqliteDatabase {
  if (descriptorsOf(file) > 0) throw new Error("it needs a copy, and this process has it open elsewhere");
  const folder = mkdtempSync(join(tmpdir(), "windrow-read-only-"));
  try {
    const copy = join(folder, basename(file));
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    return tried(new driver(copy));
  } finally {
    // Its connection still has it; the system frees it with the last descriptor.
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A driver opens a file when it is first read. */
function tried(database: SqliteDatabase): SqliteDatabase {
  try {
    database.prepare("SELECT name FROM sqlite_schema LIMIT 1").all();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The state of a file that is to stay as it is. */
export function versionOf(file: string): string {
  const states = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false }));
  return states.map((state) => (state ? `${state.mtimeMs}:${state.size}` : "none")).join(" ");
}

/** Whether it changed since. */
export function changeOf(file: string, version: string): boolean {
  return versionOf(file) !== version;
}
