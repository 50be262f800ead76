/**
 * The folders of a file store: `running/<uuid>/` and `completed/<uuid>/` under one base folder (docs/format.md). Files
 * are 0600 and folders 0700, whatever the umask.
 */
import { join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { metadataFile, readObject } from "../format/documents.ts";
import { kindFiles } from "../format/logs.ts";
import { beingErased } from "../shared/rules.ts";
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

/** Folder under the base folder: the sessions whose erasure was begun and has not ended, a file each. */
export const erasingFolder = "erasing";

/** The file that says that a session's erasure was begun. */
export function intentFile({ base }: Layout, id: string): string {
  return join(base, erasingFolder, `${id}.json`);
}

/**
 * Refuses an id whose erasure has not ended; asked behind {@link locate}, as the file goes last.
 *
 * @param folder - that of a session which stays where the erasure is that of another owner's. Default: there is none
 */
export function checkNotErased(layout: Layout, id: string, disk: Disk = systemDisk, folder?: string): void {
  const path = intentFile(layout, id);
  if (!disk.exists(path)) return;
  const [noted, own] = [
    readObject(path, disk),
    folder === undefined ? undefined : readObject(join(folder, metadataFile), disk),
  ];
  const isOthers = noted && own && (noted["user"] !== own["user"] || noted["tenant"] !== own["tenant"]);
  if (isOthers !== true) throw beingErased(id);
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
