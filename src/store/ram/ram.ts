/** A store in memory: for tests, and for hosts that keep their messages themselves. It ends with its process. */
import { sessionStore } from "../session-store/session-store.ts";
import type { SessionStoreOptions } from "../session-store/session-store.ts";
import type { Store } from "../store.ts";
import { ramEngine } from "./engine.ts";

/** How a store in memory works. */
export type RamStoreOptions = SessionStoreOptions;

/** Opens a store in memory, empty. */
export function ramStore(options: RamStoreOptions = {}): Store {
  return sessionStore(ramEngine(), options);
}
