/** Whether a store still has a session, wherever it keeps it. */
import { isWindrowError } from "../../../errors.ts";
import type { Scope, Store } from "../../store.ts";
import type { Upkeep } from "../../upkeep.ts";

/** Whether a store has a session, or its trash has; one that moves between the two is found, too. */
export async function isSomewhere(
  { store, upkeep }: { readonly store: Store; readonly upkeep: Upkeep },
  scope: Scope,
  id: string,
): Promise<boolean> {
  const isInTrash = async (): Promise<boolean> => {
    for await (const _one of upkeep.trashed(scope, id)) return true;
    return false;
  };
  const isThere = async (): Promise<boolean> => {
    try {
      await store.info(scope, id);
      return true;
    } catch (error) {
      if (isWindrowError(error, "session-not-found")) return false;
      throw error;
    }
  };
  return (await isInTrash()) || (await isThere()) || (await isInTrash());
}

/** Whether the session of an id in the trash names an object: one that was restored and archived again has the same name. */
export async function isNamedInTrash(upkeep: Upkeep, scope: Scope, id: string, key: string): Promise<boolean> {
  for await (const { archivedAs } of upkeep.trashed(scope, id)) if (archivedAs === key) return true;
  return false;
}

/** Whether a session of an id names an object, in the store or in the trash. */
export async function isNamed(
  { store, upkeep }: { readonly store: Store; readonly upkeep: Upkeep },
  scope: Scope,
  id: string,
  key: string,
): Promise<boolean> {
  const isInTrash = (): Promise<boolean> => isNamedInTrash(upkeep, scope, id, key);
  // One whose metadata cannot be read names none.
  const isInStore = async (): Promise<boolean> => {
    const info = await store.info(scope, id).catch((error: unknown) => {
      if (isWindrowError(error, "session-not-found") || isWindrowError(error, "store-corrupt")) return undefined;
      throw error;
    });
    return info?.state.archived?.key === key;
  };
  return (await isInTrash()) || (await isInStore()) || (await isInTrash());
}
