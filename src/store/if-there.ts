/** A session that may be gone. */
import { isWindrowError } from "../errors.ts";
import type { Scope, SessionInfo, Store } from "./store.ts";

/** One session as `Store.info` gives it; undefined where the scope has none of this id. */
export async function infoIfThere(store: Store, scope: Scope, id: string): Promise<SessionInfo | undefined> {
  try {
    return await store.info(scope, id);
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    throw error;
  }
}
