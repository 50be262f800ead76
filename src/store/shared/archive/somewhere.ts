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
    for await (const { sessionId } of upkeep.trashed(scope)) if (sessionId === id) return true;
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

/** Whether a session in the trash names an object: one that was restored and archived again has the same name. */
export async function isNamedInTrash(upkeep: Upkeep, scope: Scope, key: string): Promise<boolean> {
  for await (const { archivedAs } of upkeep.trashed(scope)) if (archivedAs === key) return true;
  return false;
}
