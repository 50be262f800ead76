/** Options that works on the sessions of a store share. */
import type { Scope } from "../store/store.ts";

/** Whose sessions are meant. */
export interface ScopedOptions {
  /** The owner of the sessions. Default: every user's, of no tenant. */
  readonly scope?: Scope;
}

/** Whose sessions are meant, and what time it is. */
export interface TimedOptions extends ScopedOptions {
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}
