/** Opening a store by its path or URL; the code of a store is loaded only then. */
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WindrowError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { shown } from "../shown.ts";
import { withoutSecrets } from "../address.ts";
import type { DatabaseClass, SqliteDatabase } from "./sqlite/connection/driver.ts";
import type { Clock } from "./shared/clock.ts";
import type { Mask } from "../mask/mask.ts";
import type { ArchiveBucket } from "./shared/archive/bucket.ts";
import type { Store } from "./store.ts";

/** The options of every store that is opened by path or URL. */
export interface StoreOptions {
  /** Default: secrets of a known form are masked. */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** For stores on disk; default `strict`. Each store says what `group` may lose. */
  readonly durability?: "strict" | "group";
  /** Whether a store that is not there is made, on its first use at the latest. Default true. */
  readonly create?: boolean;
  /**
   * The archive of finished sessions (docs/retention.md): a folder's path, `s3://bucket/prefix`, or what `s3Archive` or
   * `folderArchive` made. Sessions that lie there are read as if they lay in the store. Default: none.
   */
  readonly archive?: string | ArchiveBucket;
}

/** The schemes a store's address may have. A path without a scheme is a folder. */
export const storeSchemes: readonly string[] = ["file", "ram", "sqlite", "postgres", "postgresql", "redis", "rediss"];

/** Packages that bring a SQLite database where Node has none, in the order they are tried. */
const sqlitePackages: readonly string[] = ["libsql", "better-sqlite3"];

/**
 * Opens a store by its address, for everyone who may read it. The code of a store is loaded only when it is opened.
 *
 * @throws WindrowError `unknown-store` for another scheme, with the nearest known one; `store-unavailable` where
 *   `sqlite:` finds no driver, or `create` is false and nothing is there; what the store itself throws
 */
export async function openUnguarded(target: string | Store | SqliteDatabase, options: StoreOptions): Promise<Store> {
  checkStoreOptions(options);
  const { archive, ...others } = options;
  const store = await openAlone(target, others);
  if (archive === undefined || store.archiving) return store;
  const [{ archivedStore }, { openArchive }, { createMask }] = await Promise.all([
    import("./shared/archive/archived.ts"),
    import("./shared/archive/open.ts"),
    import("../mask/mask.ts"),
  ]);
  const { mask = createMask(), clock } = options;
  try {
    return archivedStore(store, await openArchive(archive), { mask, ...(clock && { clock }) });
  } catch (error) {
    // A connection that stays open keeps the process from ending.
    if (typeof target === "string") await store.close().catch(() => undefined);
    throw error;
  }
}

/** Opens a store without an archive. */
async function openAlone(
  target: string | Store | SqliteDatabase,
  options: Omit<StoreOptions, "archive">,
): Promise<Store> {
  const { create = true, ...settings } = options;
  if (typeof target !== "string") {
    if (typeof target !== "object" || target === null) {
      const message = `A store is a folder's path, an address such as sqlite:./agent.db, or a Store, not ${shown(target)}.`;
      throw new WindrowError("bad-option", message);
    }
    if (!("prepare" in target)) {
      if (typeof fieldOf(target, "create") === "function") return target;
      const message =
        'This object is no Store, and no database of SQLite: hand a path, such as openStore("./contexts").';
      throw new WindrowError("bad-option", message);
    }
    return (await import("./sqlite/sqlite.ts")).sqliteStore({ database: target, ...settings });
  }
  // One letter before a colon is a drive on Windows, no scheme.
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme === "ram") {
    const { ramStore } = await import("./ram/ram.ts");
    const { durability: _durability, ...common } = settings;
    return ramStore(common);
  }
  if (scheme === "sqlite") {
    const { sqliteFileStore } = await import("./sqlite/sqlite.ts");
    const driver = await sqliteDriver();
    const path = pathOf(target, scheme);
    if (!create || isFolder(path)) await checkDatabase(path);
    return sqliteFileStore(path, driver, settings);
  }
  if (scheme === "postgres" || scheme === "postgresql") {
    return (await import("./postgres/open.ts")).openPostgres(target, { create, ...settings });
  }
  if (scheme === "redis" || scheme === "rediss") {
    return (await import("./redis/open.ts")).openRedis(target, settings);
  }
  if (scheme === undefined || scheme === "file") {
    const folder = scheme === undefined ? target : pathOf(target, scheme);
    if (create) await checkNoFile(folder);
    else await checkFolder(folder);
    const { filesStore } = await import("./files/files.ts");
    return filesStore({ folder, ...settings });
  }
  throw new WindrowError("unknown-store", `No store handles "${scheme}:".${nearest(scheme, storeSchemes)}`, {
    target: withoutSecrets(target),
    scheme,
    known: storeSchemes,
  });
}

/**
 * The driver of SQLite: that of Node itself, else of the first package that is installed.
 *
 * @throws WindrowError `store-unavailable` where there is none
 */
export async function sqliteDriver(): Promise<DatabaseClass> {
  const own = process.getBuiltinModule?.("node:sqlite") as { readonly DatabaseSync?: DatabaseClass } | undefined;
  if (own?.DatabaseSync) return own.DatabaseSync;
  const causes: unknown[] = [];
  for (const name of sqlitePackages) {
    try {
      return ((await import(name)) as { readonly default: DatabaseClass }).default;
    } catch (error) {
      causes.push(error);
    }
  }
  throw new WindrowError(
    "store-unavailable",
    `SQLite needs a driver: Node from 22.13 has one, this is ${process.versions.node}. Install one with ` +
      '"npm install libsql", or hand an open database to openStore.',
    { node: process.versions.node, tried: ["node:sqlite", ...sqlitePackages] },
    { cause: new AggregateError(causes) },
  );
}

const kindsOfOptions = {
  mask: ["a mask that createMask made", (value) => Array.isArray(fieldOf(value, "rules"))],
  clock: ["an object with the function now", (value) => typeof fieldOf(value, "now") === "function"],
  create: ["true or false", (value) => typeof value === "boolean"],
} as const satisfies Record<string, readonly [is: string, fits: (value: unknown) => boolean]>;

/**
 * Checks the options that every store takes; each store checks the names of its own.
 *
 * @throws WindrowError `bad-option` for a value of another kind
 */
export function checkStoreOptions(options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new WindrowError("bad-option", `openStore takes an object of options, not ${shown(options)}.`);
  }
  for (const [option, [is, fits]] of Object.entries(kindsOfOptions)) {
    const value = fieldOf(options, option);
    if (value === undefined || fits(value)) continue;
    throw new WindrowError("bad-option", `openStore: \`${option}\` is ${is}, not ${shown(value)}.`, { option });
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

async function checkFolder(path: string): Promise<void> {
  checkThere(path);
  const { isFilesStore, noStoreIn } = await import("./files/there.ts");
  if (!isFilesStore(path)) throw noStoreIn(path);
}

async function checkDatabase(path: string): Promise<void> {
  checkThere(path);
  if (!isFolder(path)) return;
  const { isFilesStore, noStoreIn } = await import("./files/there.ts");
  if (!isFilesStore(path)) throw noStoreIn(path);
  const message = `${path} is a store of files: name it without "sqlite:".`;
  throw new WindrowError("store-unavailable", message, { path });
}

/** A folder can be made where nothing is and the nearest path above it that is there is no file. */
async function checkNoFile(path: string): Promise<void> {
  let there = resolve(path);
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  if (existsSync(there) && !isFolder(there)) throw (await import("./files/there.ts")).noStoreIn(there);
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

function checkThere(path: string): void {
  if (existsSync(path)) return;
  throw new WindrowError(
    "store-unavailable",
    `There is no store at ${path}. Check the path; an agent makes one with its first session.`,
    { path },
  );
}

/** `file:///a/b` is a URL; `file:./a` names a folder relative to the working folder, which URLs cannot. */
function pathOf(target: string, scheme: string): string {
  const rest = target.slice(scheme.length + 1);
  const path = rest.startsWith("//") ? pathOfUrl(`file:${rest}`, scheme) : rest;
  if (path !== "") return path;
  throw new WindrowError("bad-option", `"${target}" names no path; for example ${scheme}:./contexts.`, { target });
}

function pathOfUrl(url: string, scheme: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    // The parser's own error holds the whole address, which may have a password.
    const { code } = error as { readonly code?: string };
    const message = `The store's address names no path of this machine: write ${scheme}:///folder or ${scheme}:./folder.`;
    throw new WindrowError("bad-option", message, { scheme, ...(code !== undefined && { reason: code }) });
  }
}
