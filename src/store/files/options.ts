/** The options of a file store, and the check of them. */
import type { Mask } from "../../mask/mask.ts";
import type { Clock } from "../shared/clock.ts";
import { badOption, checkOwnOptions } from "../shared/own-options.ts";

/**
 * The events that an acknowledged append survives. `strict` (default): the death of the process and a power cut, at one sync a
 * batch. `group`: the death of the process at once, a power cut {@link groupWindowMs} milliseconds later, so one takes
 * at most what was acknowledged in that time. The state is never synced before the log.
 */
export type Durability = "strict" | "group";

/** How a file store works. */
export interface FilesStoreOptions {
  /** The base folder; `running/` and `completed/` are made in it. Made on the first `create`. */
  readonly folder: string;
  /** Default: secrets of a known form are masked ({@link createMask}). */
  readonly mask?: Mask;
  /** Default `strict`. */
  readonly durability?: Durability;
  /** Default: the system's. */
  readonly clock?: Clock;
}

const optionNames = ["folder", "mask", "durability", "clock"];

/**
 * Refuses an option that is misspelled or makes no sense.
 *
 * @throws WindrowError `bad-option`
 */
export function checkOptions(options: FilesStoreOptions): void {
  checkOwnOptions("file", options, optionNames);
  if (typeof options.folder !== "string" || options.folder === "") {
    throw badOption('The file store needs a "folder": the path of its base folder.', "folder");
  }
}
