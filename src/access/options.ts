/** The options of a store that is opened by path or URL. */
import type { StoreOptions } from "../store/open.ts";
import type { Principal } from "./guarded.ts";

/** On whose behalf a store is opened. */
export interface AccessOptions {
  /** Absent: whoever may read the store's files, who may do everything. */
  readonly principal?: Principal;
  /** The name that the audit says. Default: the principal's, else the system's user. */
  readonly who?: string;
  /**
   * Writes every access into the store's audit, or into a file of one's own. Default false. A store in memory, or one
   * that was handed in open, has no place for one: name a file.
   */
  readonly audit?: boolean | string;
}

/** The options that `openStore` takes. */
export interface OpenStoreOptions extends StoreOptions {
  /** On whose behalf the store is used, and whether accesses are audited (docs/access.md). Default: the caller's, no. */
  readonly access?: AccessOptions;
}
