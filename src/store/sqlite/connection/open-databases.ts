/**
 * The open databases of this process: one connection for each file, whatever path led to it, shared by all its stores and
 * closed with the last of them. Copies of Windrow in one process share them too. A second SQLite library on the same file
 * is refused, since the two would take away each other's locks (docs/operations.md, "One connection for a process").
 */
import { WindrowError } from "../../../errors.ts";
import { readyDatabase, pathOf } from "./database.ts";
import { Connection, readSchema, sqliteFailure, writeFailure } from "./driver.ts";
import type { DatabaseClass, SqliteDatabase } from "./driver.ts";
import { checkLinks, descriptorsOf, identityOf, librariesAt, prepareFile, whyReadOnly } from "./file.ts";
import { openReadOnly, versionOf } from "./read-only.ts";

/** Milliseconds between two looks at the file where nothing is acknowledged. */
const lookMs = 100;

/** An open database, as every copy of Windrow in the process knows it. A change of its shape changes the symbol's name. */
interface OpenDatabase {
  readonly connection: Connection;
  /** Its path without symbolic links. */
  readonly file: string;
  /** The identity of the file to the system, whatever its name. */
  readonly identity: string;
  /** The same of its write-ahead log; null where it has none. */
  readonly log: string | null;
  /** Why it cannot be written; null where it can. */
  readonly readOnly: string | null;
  /** The state of a file that is read without SQLite's locks; null elsewhere. */
  readonly version: string | null;
  /** Stores that work with it. */
  users: number;
  /** Why nobody may work with it any more. */
  lost: string | null;
}

interface Registry {
  readonly open: Map<string, OpenDatabase>;
  /** Connections that are never closed: closing one would harm another. Kept, so that no garbage collection does. */
  readonly kept: SqliteDatabase[];
}

/** A store's share in an open database. */
export interface DatabaseShare {
  readonly file: string;
  readonly connection: Connection;
  /**
   * Runs changes in one transaction, all of them or none.
   *
   * @param isDurable - whether a power cut must not take them
   * @throws WindrowError `not-durable`, `store-unavailable`, `store-corrupt`, with `refused` in its data
   */
  write<T>(isDurable: boolean, work: () => T): T;
  /**
   * Looks now and then whether the file is still the one that was opened.
   *
   * @throws WindrowError `store-unavailable` where it is not
   */
  check(): void;
  /** Gives the share back; the last one closes the database. */
  release(): void;
}

const name = Symbol.for("windrow.sqlite.open.1");

/**
 * The database of a path, opened where the process does not have it open yet.
 *
 * @param checked - whether all of an existing database is read and checked first
 * @throws WindrowError `store-unavailable`, `store-foreign`, `store-corrupt`, `format-newer`
 */
export async function openDatabase(path: string, driver: DatabaseClass, checked: boolean): Promise<DatabaseShare> {
  let file = path;
  try {
    file = await prepareFile(path);
    // From here on nothing waits: of two that open a database at once, the second finds the first.
    const found = registry().open.get(identityOf(file) ?? "");
    if (found) return share(found);
    const readOnly = whyReadOnly(file) ?? null;
    const { database, version } =
      readOnly === null ? { database: new driver(file), version: null } : openReadOnly(file, driver);
    return ready(database, checked, { file, readOnly, version });
  } catch (error) {
    throw sqliteFailure(error, "Opening the database", file);
  }
}

/**
 * Takes a database that the caller opened. Where the process has its file open as a store already, that connection is
 * used, and the given one is closed.
 *
 * @throws WindrowError as {@link openDatabase}; `bad-option` for one in memory, and for a second SQLite library
 */
export function adoptDatabase(database: SqliteDatabase, checked: boolean): DatabaseShare {
  let file = "the database";
  let found: OpenDatabase | undefined;
  try {
    file = pathOf(database);
    found = registry().open.get(identityOf(file) ?? "");
    if (found) readSchema(database);
    if (found && librariesAt(file) > 1) throw secondLibrary(file);
  } catch (error) {
    discard(database, file);
    throw sqliteFailure(error, "Opening the database", file);
  }
  if (!found) return ready(database, checked, { file, readOnly: whyReadOnly(file) ?? null, version: null });
  const shared = share(found);
  if (found.connection.database !== database) database.close();
  return shared;
}

/** A connection that is not used: closed, unless that takes away the locks of another one on its file. */
function discard(database: SqliteDatabase, file: string): void {
  if (descriptorsOf(file) > 1) registry().kept.push(database);
  else database.close();
}

function ready(
  database: SqliteDatabase,
  checked: boolean,
  opened: Pick<OpenDatabase, "file" | "readOnly" | "version">,
): DatabaseShare {
  const { file, readOnly, version } = opened;
  const connection = new Connection(database);
  try {
    checkLinks(file);
    readyDatabase(connection, file, checked, readOnly !== null);
    if (librariesAt(file) > 1) throw lostAt(file) ?? secondLibrary(file);
  } catch (error) {
    discard(database, file);
    throw sqliteFailure(error, "Opening the database", file);
  }
  const identity = identityOf(file) ?? "";
  const log = version === null ? (identityOf(`${file}-wal`) ?? null) : null;
  const entry = { ...opened, connection, identity, log, users: 0, lost: null };
  registry().open.set(identity, entry);
  return share(entry);
}

function share(entry: OpenDatabase): DatabaseShare {
  lookAt(entry);
  const { file, connection, readOnly } = entry;
  entry.users += 1;
  let released = false;
  let looked = performance.now();
  return {
    file,
    connection,
    write(isDurable, work) {
      try {
        if (readOnly !== null) throw cannotWrite(file, readOnly);
        const done = connection.transaction(isDurable ? "FULL" : "NORMAL", work);
        // It is acknowledged only if others find it where they look.
        lookAt(entry);
        return done;
      } catch (error) {
        throw writeFailure(error, file);
      }
    },
    check() {
      if (entry.lost === null && performance.now() - looked < lookMs) return;
      lookAt(entry);
      looked = performance.now();
    },
    release() {
      if (released) return;
      released = true;
      entry.users -= 1;
      if (entry.users === 0) end(entry);
    },
  };
}

/** Makes sure that what is written goes where other processes look for it. */
function lookAt(entry: OpenDatabase): void {
  const { file, identity, log, version } = entry;
  entry.lost ??= lossOf(file, identity, log);
  if (entry.lost !== null) throw unusable(file, entry.lost);
  if (version !== null && versionOf(file) !== version) {
    const message = `${file} was written since it was opened for reading only. Close its stores and open them again.`;
    throw new WindrowError("store-unavailable", message, { location: file });
  }
}

function cannotWrite(file: string, reason: string): WindrowError {
  return new WindrowError(
    "store-unavailable",
    `${file} was opened for reading only, since it or its folder cannot be written (${reason}). Nothing was changed. Make ` +
      "both writable, or copy the file to a disk that is, and open the store again.",
    { location: file, reason },
  );
}

function unusable(file: string, reason: string): WindrowError {
  const message =
    `${file} is no longer usable in this process: ${reason}. Nothing more is written to it, and what was not ` +
    "acknowledged is not kept. Start the process again, and let nothing but Windrow open, move or replace the file " +
    "meanwhile.";
  return new WindrowError("store-unavailable", message, { location: file, reason });
}

/** The error of a database that was lost under the same name, and whose shared memory still lies there. */
function lostAt(file: string): WindrowError | undefined {
  for (const { lost, file: other } of registry().open.values()) {
    if (other === file && lost !== null) return unusable(file, lost);
  }
  return undefined;
}

function lossOf(file: string, identity: string, log: string | null): string | null {
  if (identityOf(file) !== identity) return "the file was removed or replaced";
  if (log !== null && identityOf(`${file}-wal`) !== log) return "its write-ahead log was removed or replaced";
  return null;
}

/**
 * The last store is closed. A connection whose file or log was taken from under it is left as it is: closing it would copy
 * old pages over new ones.
 */
function end(entry: OpenDatabase): void {
  const { open, kept } = registry();
  entry.lost ??= lossOf(entry.file, entry.identity, entry.log);
  if (entry.lost === null) open.delete(entry.identity);
  if (entry.lost !== null || librariesAt(entry.file) > 1) {
    kept.push(entry.connection.database);
    return;
  }
  try {
    entry.connection.close();
  } catch (error) {
    throw sqliteFailure(error, "Closing the database", entry.file);
  }
}

function registry(): Registry {
  const known = globalThis as { [name]?: Registry };
  known[name] ??= { open: new Map(), kept: [] };
  return known[name];
}

function secondLibrary(file: string): WindrowError {
  return new WindrowError(
    "bad-option",
    `Two SQLite libraries of this process have ${file} open; each would take away the other's locks, and messages would ` +
      "be lost. Use one driver for it in the whole process: every thread, every package, the program's own code.",
    { location: file },
  );
}
