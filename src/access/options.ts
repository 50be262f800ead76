/** What stores are opened with. */
import type { Mask } from "../mask/mask.ts";
import type { Clock } from "../store/shared/clock.ts";
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

/** What every store that is opened by path or URL takes. */
export interface OpenStoreOptions {
  /** Default: secrets of a known form are masked. */
  readonly mask?: Mask;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** For stores on disk; default `strict`. Each store says what `group` and `relaxed` lose. */
  readonly durability?: "strict" | "group" | "relaxed";
  /** For stores of files: write and sync on the calling thread, for programs that have nothing else to do. Default false. */
  readonly blocking?: boolean;
  /** Whether a store that is not there is made, on its first use at the latest. Default true. */
  readonly create?: boolean;
  /** For stores of files: a folder of its own for each user, `users/<name>/` in the store's. Default false. */
  readonly folderPerUser?: boolean;
  /** On whose behalf the store is used, and whether accesses are audited (docs/access.md). Default: the caller's, no. */
  readonly access?: AccessOptions;
}
