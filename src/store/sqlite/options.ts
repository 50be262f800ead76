/** The options of a SQLite store, and the check of them. */
import type { Mask } from "../../mask/mask.ts";
import type { Clock } from "../shared/clock.ts";
import { checkOwnOptions } from "../shared/own-options.ts";
import type { SqliteDatabase } from "./connection/driver.ts";

/** How a SQLite store works. */
export interface SqliteStoreOptions {
  /**
   * An open database: `new DatabaseSync(path)` of `node:sqlite` (Node from 22.13), or `new Database(path)` of `libsql` or
   * `better-sqlite3`. It belongs to the store from now on, which closes it: with the last store on the same file, or at once
   * where this process has the file open as a store already, whose connection is used then. `openStore("sqlite:path")`
   * opens one by itself.
   */
  readonly database: SqliteDatabase;
  /** Default: secrets of a known form are masked ({@link createMask}). */
  readonly mask?: Mask;
  /**
   * The events that an acknowledged append survives. `strict` (default): the death of the process and a power cut
   * (`synchronous=FULL`: one sync a transaction, shared by what waits). `group`: the same here.
   */
  readonly durability?: "strict" | "group";
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Whether all of the database is read and checked when it is opened (`PRAGMA quick_check`); once for all stores on it. Default true. */
  readonly checked?: boolean;
}

/** The options that each store on one database has for itself. */
export type SharedOptions = Omit<SqliteStoreOptions, "database">;

const optionNames = ["database", "mask", "durability", "clock", "checked"];

/**
 * Refuses an option that is misspelled or has a wrong value.
 *
 * @throws WindrowError `bad-option`
 */
export function checkSqliteOptions(options: SharedOptions): void {
  checkOwnOptions("SQLite", options, optionNames);
}
