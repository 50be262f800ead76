/** Sessions that are not whole yet: a process is making them, or died while it did. */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { metadataFile } from "../format/documents.ts";
import { kindFiles } from "../format/logs.ts";
import { holderOf } from "../lock/lock.ts";
import { lockFile } from "../lock/owner-record.ts";
import type { Place } from "./layout.ts";

/** Whether a session was made to its end; one that is just being made has no metadata yet, and no records. */
export function isMade({ folder, completed }: Place, disk: Disk): boolean {
  return completed || [metadataFile, kindFiles.message].some((name) => sizeOf(join(folder, name), disk) > 0);
}

/** A process is making it, or died before it took the lock: nobody was told of it yet. */
export function isBeingMade(place: Place, disk: Disk): boolean {
  if (isMade(place, disk)) return false;
  return !disk.exists(join(place.folder, lockFile)) || holderOf(place.folder, disk).state === "held";
}

function sizeOf(path: string, disk: Disk): number {
  try {
    return disk.statPath(path).size;
  } catch {
    return 0;
  }
}
