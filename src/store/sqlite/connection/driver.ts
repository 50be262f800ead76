/**
 * The port to the driver of SQLite: `DatabaseSync` of `node:sqlite`, or a `Database` of `libsql` or `better-sqlite3`.
 * Only what the three have in common is used.
 */
import { WindrowError, isWindrowError } from "../../../errors.ts";

/** A value that a column can hold. */
export type SqlValue = null | number | string;

/** A row by the names of its columns. `libsql` adds a `_metadata`, so take what was asked for and nothing else. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A prepared statement. A lone `null` must not be bound: `libsql` takes it for named parameters. */
export interface SqliteStatement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

/** An open database, as `node:sqlite`, `libsql` and `better-sqlite3` give it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** A driver's class of databases. */
export type DatabaseClass = new (path: string) => SqliteDatabase;

/** Reads a little: only then a driver opens the file. */
export function readSchema(database: SqliteDatabase): unknown {
  return database.prepare("SELECT name FROM sqlite_schema LIMIT 1").all()[0];
}

/** Why a statement failed, under one name for every driver. */
export type SqliteFault = "busy" | "refused" | "corrupt" | "not-a-database" | "other";

/** SQLite's primary result codes, by the name `libsql` and `better-sqlite3` give and the number of `node:sqlite`. */
const faults: readonly (readonly [name: string, number: number, fault: SqliteFault])[] = [
  ["SQLITE_PERM", 3, "refused"],
  ["SQLITE_BUSY", 5, "busy"],
  ["SQLITE_LOCKED", 6, "busy"],
  ["SQLITE_READONLY", 8, "refused"],
  ["SQLITE_IOERR", 10, "refused"],
  ["SQLITE_CORRUPT", 11, "corrupt"],
  ["SQLITE_FULL", 13, "refused"],
  ["SQLITE_CANTOPEN", 14, "refused"],
  ["SQLITE_NOTADB", 26, "not-a-database"],
];

/** The kind of failure of a driver's error. */
export function faultOf(error: unknown): SqliteFault {
  if (!(error instanceof Error)) return "other";
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  const primary = typeof errcode === "number" ? errcode & 0xff : -1;
  const found = faults.find(([name, number]) => number === primary || String(code).startsWith(name));
  return found?.[2] ?? "other";
}

/** A driver's error as one of Windrow's; `doing` begins the sentence that says what failed. */
export function sqliteFailure(error: unknown, doing: string, location: string): WindrowError {
  if (isWindrowError(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const data = { location, reason };
  const cause = { cause: error };
  switch (faultOf(error)) {
    case "corrupt":
      return new WindrowError(
        "store-corrupt",
        `${doing} failed: ${location} is damaged (${reason}). Restore a copy, or save what is readable with the ` +
          "`.recover` command of the sqlite3 program.",
        data,
        cause,
      );
    case "not-a-database":
      return new WindrowError("store-foreign", `${location} is no SQLite database; nothing was changed.`, data, cause);
    case "busy":
      return new WindrowError(
        "store-unavailable",
        `${doing} failed: another program kept ${location} locked for longer than the busy timeout. Try again.`,
        { ...data, connection: true },
        cause,
      );
    default:
      return new WindrowError(
        "store-unavailable",
        `${doing} failed in ${location}: ${reason}. Check that the file can be written and the disk has room.`,
        data,
        cause,
      );
  }
}

/** The error of a transaction of which nothing was kept: no answer is lost on the way. */
export function writeFailure(error: unknown, location: string): WindrowError {
  const isRefused = !isWindrowError(error) && faultOf(error) === "refused";
  const reason = error instanceof Error ? error.message : String(error);
  const text = `The system refused to write or sync ${location}: ${reason}. Nothing of it was kept; it can be tried again.`;
  const failure = isRefused
    ? new WindrowError("not-durable", text, { location, reason }, { cause: error })
    : sqliteFailure(error, "Writing", location);
  const { code, message, data, cause } = failure;
  return new WindrowError(code, message, { ...data, refused: true }, { cause });
}

/** A database with its statements prepared once, and transactions. */
export class Connection {
  readonly database: SqliteDatabase;
  /** One for each text and way to run it: `get` of `libsql` behind `all` of the same one gives a row of the values before. */
  readonly #statements = { run: new Map(), get: new Map(), all: new Map() } as Readonly<
    Record<keyof SqliteStatement, Map<string, SqliteStatement>>
  >;
  #synchronous = "";

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  /** Runs SQL that gives nothing back; several statements are allowed. */
  exec(sql: string): void {
    this.database.exec(sql);
  }

  /** Runs one statement. */
  run(sql: string, ...values: SqlValue[]): void {
    this.#statement("run", sql).run(...values);
  }

  /** The first row, if there is one. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#statement("get", sql).get(...values) as SqlRow | undefined;
  }

  /** Every row. */
  all(sql: string, ...values: SqlValue[]): readonly SqlRow[] {
    return this.#statement("all", sql).all(...values) as SqlRow[];
  }

  /**
   * The value of one pragma: a text, or a number.
   *
   * @param pragma - for example `journal_mode` or `journal_mode = WAL`
   */
  pragma(pragma: string): SqlValue {
    const row = this.database.prepare(`PRAGMA ${pragma}`).all()[0] as SqlRow | undefined;
    return row === undefined ? null : (Object.values(row)[0] ?? null);
  }

  /**
   * Runs work that is kept whole or not at all. The write lock is taken first, so that nothing read in it can change.
   *
   * @param synchronous - `FULL`: on the disk when it returns; `NORMAL`: a power cut may take it, and what came after
   */
  transaction<T>(synchronous: "FULL" | "NORMAL", work: () => T): T {
    if (this.#synchronous !== synchronous) this.exec(`PRAGMA synchronous = ${synchronous}`);
    this.#synchronous = synchronous;
    return this.#within("BEGIN IMMEDIATE", work);
  }

  /** Runs work that only reads, all of it in one state of the database. */
  snapshot<T>(work: () => T): T {
    return this.#within("BEGIN", work);
  }

  #within<T>(begin: string, work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        this.exec("ROLLBACK");
      } catch {
        // SQLite rolled back by itself, as where the disk is full.
      }
      throw error;
    }
  }

  /** Closes the database, with everything in its main file where nobody else is at work. */
  close(): void {
    for (const statements of Object.values(this.#statements)) statements.clear();
    try {
      // `libsql` leaves its statements open, and SQLite then does not do this by itself.
      this.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The write-ahead log keeps it as safely as the database would.
    }
    this.database.close();
  }

  #statement(way: keyof SqliteStatement, sql: string): SqliteStatement {
    const statements = this.#statements[way];
    const found = statements.get(sql) ?? this.database.prepare(sql);
    statements.set(sql, found);
    return found;
  }
}
