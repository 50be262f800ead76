/**
 * The folders of a file store: `running/<uuid>/` and `completed/<uuid>/` under one base folder, and `trash/<uuid>/` and
 * `aside/<uuid>/` for sessions that lists leave out (docs/format.md). Files are 0600 and folders 0700, whatever the umask.
 */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { systemCode, unavailable } from "../../disk/safe-write.ts";
import type { Listing } from "../engine.ts";
import { isFinal } from "../shared/rules.ts";
import type { SessionStatus } from "../store.ts";

/** Held while state.json is replaced. */
export const stateLockFile = ".state.lock";

/** The beginning of a folder's name while a session is made, or removed. It is no session then. */
export const draftPrefix = { making: ".making-", erased: ".erased-" } as const;

/** The folders in which sessions lie, in the order in which they come to them. */
export const parents = ["running", "completed", "trash", "aside"] as const;

/** One of the folders in which sessions lie. */
export type Parent = (typeof parents)[number];

/** The folder of a session. */
export interface Place {
  readonly id: string;
  readonly parent: Parent;
  readonly folder: string;
}

/** The folder of a session that lies in one of the parents. */
export function placeIn(base: string, parent: Parent, id: string): Place {
  return { id, parent, folder: join(base, parent, id) };
}

/** The parent in which a session belongs. */
export function parentFor({ status, isHidden, asideOf }: Pick<Listing, "status" | "isHidden" | "asideOf">): Parent {
  if (isHidden) return asideOf === undefined ? "trash" : "aside";
  return isFinal(status as SessionStatus) ? "completed" : "running";
}

/** The place of a session now; undefined when it is nowhere. */
export function locate(base: string, id: string, disk: Disk): Place | undefined {
  // One that moves between two looks is seen by the second round.
  for (let round = 1; round <= 2; round += 1) {
    for (const parent of parents) {
      const place = placeIn(base, parent, id);
      if (disk.exists(place.folder)) return place;
    }
  }
  return undefined;
}

/** The names in a folder; none where it does not exist. */
export async function namesIn(folder: string, disk: Disk): Promise<readonly string[]> {
  try {
    return await disk.readFolder(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw unavailable(error, "Reading a folder", folder);
  }
}
