/** The SQLite store: every session in one database file. Many processes can use it at once. */
import { systemClock } from "../shared/clock.ts";
import { sessionStore } from "../session-store/session-store.ts";
import type { Store } from "../store.ts";
import { adoptDatabase, openDatabase } from "./connection/open-databases.ts";
import type { DatabaseShare } from "./connection/open-databases.ts";
import type { DatabaseClass } from "./connection/driver.ts";
import { sqliteEngine } from "./engine.ts";
import { checkSqliteOptions } from "./options.ts";
import type { SharedOptions, SqliteStoreOptions } from "./options.ts";

export type { SqliteStoreOptions } from "./options.ts";

/**
 * Opens a SQLite store on a database that the caller brings.
 *
 * @throws WindrowError `bad-option`; `store-foreign` for a database of another program; `store-corrupt` for a damaged
 *   one; `format-newer` for tables of a newer version; `store-unavailable` where it cannot be written
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  checkSqliteOptions(options);
  return storeOn(adoptDatabase(options.database, options.checked ?? true), options);
}

/**
 * Opens a SQLite store on a file, with the connection that this process has to it, or a new one.
 *
 * @throws WindrowError as {@link sqliteStore}
 */
export async function sqliteFileStore(path: string, driver: DatabaseClass, options: SharedOptions): Promise<Store> {
  checkSqliteOptions(options);
  return storeOn(await openDatabase(path, driver, options.checked ?? true), options);
}

function storeOn(share: DatabaseShare, options: SharedOptions): Store {
  return sessionStore(sqliteEngine(share, options.clock ?? systemClock), options);
}
