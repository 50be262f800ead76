import { createRequire } from "node:module";
import { join } from "node:path";
import { openStore } from "windrow/store";
import type { OpenStoreOptions, SqliteDatabase } from "windrow/store";
import type { StoreFixture } from "windrow/testing";
import { fixtureOf, temporaryFolder } from "./stores.ts";

type DatabaseClass = new (path: string) => SqliteDatabase;

/** The driver that `openStore("sqlite:…")` takes here; undefined where there is none. */
export const driver: DatabaseClass | undefined = findDriver();

if (!driver)
  console.warn("No SQLite driver: Node is older than 22.13 and libsql is not installed. Its tests are skipped.");

function findDriver(): DatabaseClass | undefined {
  const own = process.getBuiltinModule?.("node:sqlite") as { readonly DatabaseSync?: DatabaseClass } | undefined;
  if (own?.DatabaseSync) return own.DatabaseSync;
  try {
    return createRequire(import.meta.url)("libsql") as DatabaseClass;
  } catch {
    return undefined;
  }
}

/** A database file opened without Windrow. */
export function openDatabase(file: string): SqliteDatabase {
  if (!driver) throw new Error("no SQLite driver");
  return new driver(file);
}

/** A SQLite store in a folder of its own, and handles on it. */
export async function sqliteFixture(
  options: OpenStoreOptions = {},
): Promise<StoreFixture & { readonly folder: string; readonly file: string }> {
  const folder = await temporaryFolder();
  const file = join(folder, "contexts.db");
  return { folder, file, ...(await fixtureOf(() => openStore(`sqlite:${file}`, options), folder)) };
}
