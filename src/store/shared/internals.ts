/** The disk and the faults that tests put into a store. */
import type { Disk } from "../../disk/disk.ts";

/**
 * A fault that a test puts into a store to see that it is caught: `no-generation-check` acknowledges without asking who
 * holds the lock, `state-before-log` syncs the state before the records it speaks of.
 */
export type SeededFault = "no-generation-check" | "state-before-log";

/** The second argument of a store, for tests only. */
export interface StoreInternals {
  /** Default: the system's. */
  readonly disk?: Disk;
  readonly fault?: SeededFault;
}
