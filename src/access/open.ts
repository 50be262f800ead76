/** Opening a store by path or URL, on somebody's behalf: the guard before it, and the audit of its accesses. */
import { AsyncLocalStorage } from "node:async_hooks";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openAudit } from "./audit.ts";
import type { Audit } from "./audit.ts";
import { guardedStore, isGuarded } from "./guarded.ts";
import type { AccessOptions, OpenStoreOptions } from "./options.ts";
import { openUnguarded } from "../store/open.ts";
import type { SqliteDatabase } from "../store/sqlite/connection/driver.ts";
import type { Store } from "../store/store.ts";

const defaults = new AsyncLocalStorage<OpenStoreOptions>();

/**
 * Runs something in which every store is opened with these options, unless it is opened with others. The command line
 * runs its commands so: none of them can forget whose sessions it may show.
 *
 * @param options - looked at when a store is opened, so that it may be filled in meanwhile
 */
export function withStoreDefaults<T>(options: OpenStoreOptions, run: () => Promise<T>): Promise<T> {
  return defaults.run(options, run);
}

/** The options in force here. */
export function storeDefaults(): OpenStoreOptions {
  return defaults.getStore() ?? {};
}

/**
 * Opens a store: a folder's path or a `file:` URL for files, `sqlite:path` for one file of SQLite, `ram:` for memory. An
 * open database of `node:sqlite`, `libsql` or `better-sqlite3` becomes a SQLite store, which closes it in the end. A
 * {@link Store} is given back as it is; with `access` each of them is guarded. The code of a store is loaded only when it is
 * opened.
 *
 * @throws WindrowError `unknown-store` for another scheme, with the nearest known one; `store-unavailable` where
 *   `sqlite:` finds no driver, or `create` is false and nothing is there; what the store itself throws
 */
export async function openStore(
  target: string | Store | SqliteDatabase,
  options: OpenStoreOptions = {},
): Promise<Store> {
  const { access, ...rest } = { ...storeDefaults(), ...options };
  const store = await openUnguarded(target, rest);
  return access ? guardOpened(store, typeof target === "string" ? target : undefined, access, rest) : store;
}

/** The file of a store's audit: `audit.jsonl` in a folder, `<file>.audit.jsonl` beside a database, none for `ram:`. */
export function auditFileOf(target: string): string | undefined {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(target)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "file" && scheme !== "sqlite") return undefined;
  const rest = scheme === undefined ? target : target.slice(scheme.length + 1);
  const path = scheme !== undefined && rest.startsWith("//") ? fileURLToPath(`file:${rest}`) : rest;
  return scheme === "sqlite" ? `${path}.audit.jsonl` : join(path, "audit.jsonl");
}

/**
 * The store as its principal may use it. One that is guarded already is given back as it is.
 *
 * @param target - how it was opened; absent for one that was handed in open
 */
export function guardOpened(
  store: Store,
  target: string | undefined,
  access: AccessOptions,
  settings: Pick<OpenStoreOptions, "mask" | "clock">,
): Store {
  if (isGuarded(store)) return store;
  const { principal } = access;
  const audit = auditOf(target, access, settings);
  return guardedStore(store, { who: whoOf(access), ...(principal && { principal }), ...(audit && { audit }) });
}

/** The audit that a store's accesses go into; undefined where none is wanted. */
export function auditOf(
  target: string | undefined,
  { audit: wanted = false }: AccessOptions,
  { mask, clock }: Pick<OpenStoreOptions, "mask" | "clock">,
): Audit | undefined {
  const file = wanted === true ? target && auditFileOf(target) : wanted;
  if (file === undefined || file === false || file === "") return undefined;
  return openAudit(file, { ...(mask && { mask }), ...(clock && { clock }), inStore: wanted === true });
}

/** The name that the audit says. */
export function whoOf({ principal, who = principal?.name ?? systemUser() }: AccessOptions): string {
  return who;
}

/** The name of the system's user, who stands in the audit where no principal is named. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
