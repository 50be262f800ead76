/**
 * The folders of a file store: `running/<uuid>/` and `completed/<uuid>/` under one base folder (docs/format.md). Files
 * are 0600 and folders 0700, whatever the umask.
 */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { systemCode, unavailable } from "../../disk/safe-write.ts";
import { kindFiles } from "../format/logs.ts";
import { archiveEnding } from "../../disk/archive/archive-disk.ts";

/** Held while state.json is replaced. */
export const stateLockFile = ".state.lock";

/** The folder of a session. */
export interface Place {
  readonly id: string;
  readonly folder: string;
  readonly completed: boolean;
}

/** The folders of a store. */
export interface Layout {
  readonly base: string;
  readonly running: string;
  readonly completed: string;
}

/** The folders under a base folder. */
export function layoutOf(base: string): Layout {
  return { base, running: join(base, "running"), completed: join(base, "completed") };
}

/** The place of a session now, in either folder; undefined when it is in neither. */
export function locate(layout: Layout, id: string, disk: Disk = systemDisk): Place | undefined {
  const running = join(layout.running, id);
  if (disk.exists(running)) return { id, folder: running, completed: false };
  const completed = join(layout.completed, id);
  if (disk.exists(completed)) return { id, folder: completed, completed: true };
  // A move between the two looks, from running to completed, was missed by the first and is seen by a second.
  return disk.exists(running) ? { id, folder: running, completed: false } : undefined;
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

/** Whether a session is not finished and has no log yet: the logs are made last, all before anybody is told of it. */
export function hasNoLog(
  { folder, completed = false }: Pick<Place, "folder"> & Partial<Place>,
  disk: Disk = systemDisk,
): boolean {
  if (completed) return false;
  const paths = Object.values(kindFiles).map((name) => join(folder, name));
  return !paths.some((path) => disk.exists(path) || disk.exists(`${path}${archiveEnding}`));
}
