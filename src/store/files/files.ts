/** The file store: every session a folder one can read with `ls`, `jq` and `grep` (docs/format.md). */
import { resolve } from "node:path";
import { archiveDisk, systemArchives } from "../../disk/archive/archive-disk.ts";
import type { Disk } from "../../disk/disk.ts";
import { sessionStore } from "../session-store/session-store.ts";
import { systemClock } from "../shared/clock.ts";
import type { Store } from "../store.ts";
import { filesEngine } from "./engine.ts";
import { checkOptions } from "./options.ts";
import type { FilesStoreOptions } from "./options.ts";

export type { Durability, FilesStoreOptions } from "./options.ts";

/** The second argument of a store, for tests only. */
export interface StoreInternals {
  /** Default: the system's. */
  readonly disk?: Disk;
}

/**
 * Opens a file store. Nothing is read or made until it is used.
 *
 * @param internals - for tests only
 * @throws WindrowError `bad-option` for an option it does not know
 */
export function filesStore(options: FilesStoreOptions, internals: StoreInternals = {}): Store {
  checkOptions(options);
  const { folder, durability = "strict", clock = systemClock } = options;
  const disk = internals.disk ? archiveDisk(internals.disk) : systemArchives;
  return sessionStore(filesEngine(resolve(folder), { durability, clock, disk }), options);
}
