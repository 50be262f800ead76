/** Opening a store by path or URL in the name of a principal: the guard before it, and the audit of its accesses. */
import { guardedStore, isGuarded } from "./guarded.ts";
import type { AccessOptions, OpenStoreOptions } from "./options.ts";
import { checkStoreOptions, openUnguarded } from "../store/open.ts";
import type { SqliteDatabase } from "../store/sqlite/connection/driver.ts";
import type { Store } from "../store/store.ts";
import { auditOf, whoOf } from "./audit-place.ts";

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
  checkStoreOptions(options);
  const { access, ...rest } = options;
  const store = await openUnguarded(target, rest);
  if (!access) return store;
  if (typeof target !== "string") return guardOpened(store, undefined, access, rest);
  try {
    return guardOpened(store, target, access, rest);
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
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
