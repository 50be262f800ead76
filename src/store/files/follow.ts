/** One session wherever it lies by now: another that is made under its id meanwhile is not it. */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { systemCode, unavailable } from "../../disk/safe-write.ts";
import { metadataFile, readMetadata } from "../format/documents.ts";
import { notFound } from "../shared/rules.ts";
import type { SessionMetadata } from "../store.ts";
import { locate } from "./layout.ts";
import type { Layout, Place } from "./layout.ts";

/** A session that was found. */
export interface Found {
  readonly place: Place;
  readonly metadata: SessionMetadata;
  /** Which file its metadata is: it goes with the session's folder, and a session that is made anew has another. */
  readonly making: string | undefined;
}

/** A look for one session, as it lies now; throws `session-not-found` where it is gone, whoever has its id by then. */
export type Follow = () => Found;

/**
 * The session that lies in a place.
 *
 * @throws WindrowError `store-corrupt` where its metadata cannot be read
 */
export function foundAt(place: Place, disk: Disk = systemDisk): Found {
  for (;;) {
    const making = makingOf(place.folder, disk);
    const metadata = readMetadata(place.folder, place.id, disk);
    if (making === makingOf(place.folder, disk)) return { place, metadata, making };
  }
}

/** Which file the metadata in a folder is; undefined where there is none. */
export function makingOf(folder: string, disk: Disk): string | undefined {
  const path = join(folder, metadataFile);
  try {
    // An inode alone may be given out again; a later file is written later.
    const { dev, ino, mtimeMs } = disk.statPath(path);
    return `${dev}:${ino}:${mtimeMs}`;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw unavailable(error, "Reading a session", path);
  }
}

/** Follows a session that was found. */
export function follow(layout: Layout, found: Found, disk: Disk = systemDisk): Follow {
  const { id } = found.place;
  let last = found;
  return () => {
    for (;;) {
      const place = locate(layout, id, disk);
      if (!place) throw notFound(id);
      if (makingOf(place.folder, disk) === last.making) return { ...last, place };
      const now = orMoved(place, disk);
      if (!now) continue;
      if (!isCopy(last, now)) throw notFound(id);
      last = now;
      return last;
    }
  };
}

/** The session in a place; undefined where it moved between the two looks. */
function orMoved(place: Place, disk: Disk): Found | undefined {
  try {
    return foundAt(place, disk);
  } catch (error) {
    if (!disk.exists(place.folder)) return undefined;
    throw error;
  }
}

/** Whether it is what a move to `completed/` on another file system made. */
function isCopy(from: Found, to: Found): boolean {
  if (from.making === to.making) return true;
  const isMove = !from.place.completed && to.place.completed;
  return isMove && JSON.stringify(from.metadata) === JSON.stringify(to.metadata);
}
