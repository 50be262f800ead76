/**
 * The move of a finished session from `running/` to `completed/`. A crash between any two steps is mended on the next
 * look. On another file system the session is copied under a draft's name, renamed when it is durable, and then taken
 * away from `running/`.
 */
import { join } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import type { Clock } from "../../shared/clock.ts";
import { isFinal } from "../../shared/rules.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { metadataFile, readState } from "../../format/documents.ts";
import { stateLockFile } from "../layout.ts";
import { lockFile } from "../../lock/owner-record.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { copyFile, makeFolder, makeNewFolder, syncFolder } from "../../../disk/safe-write.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import type { Layout, Place } from "../layout.ts";
import { acquire } from "../../lock/steal.ts";

/**
 * Moves a session whose state says that it ended. The caller holds its lock; `.lock` goes last, inside the moved
 * folder, so that nobody else can take the session on the way.
 *
 * @param mayMove - asked before the first step that others see; throws to leave all as it is
 */
export async function moveToCompleted(
  layout: Layout,
  id: string,
  disk: Disk,
  mayMove: () => void = () => undefined,
): Promise<Place> {
  const from = join(layout.running, id);
  const folder = join(layout.completed, id);
  await makeFolder(layout.completed, disk);
  mayMove();
  if (disk.exists(folder)) {
    await syncFolder(layout.completed, disk);
    await takeAway(layout, id, disk);
  } else {
    try {
      disk.rename(from, folder);
      await syncFolder(layout.completed, disk);
      await syncFolder(layout.running, disk);
    } catch (error) {
      if (systemCode(error) !== "EXDEV") throw error;
      await copyAcross(layout, id, disk);
    }
  }
  await removeLocks(folder, disk);
  return { id, folder, completed: true };
}

/**
 * Ends a move that a crash interrupted: a session in `running/` whose state is final, or a `.lock` left in
 * `completed/`. Does nothing while its holder lives, or where the folders cannot be written.
 *
 * @returns where the session lies now
 */
export async function endMove(layout: Layout, place: Place, clock: Clock, disk: Disk = systemDisk): Promise<Place> {
  if (!isHalfMoved(place, disk)) return place;
  try {
    const lock = acquire(place.folder, { clock, disk });
    try {
      if (!isHalfMoved(place, disk)) return place;
      if (!place.completed) return await moveToCompleted(layout, place.id, disk);
      await removeLocks(place.folder, disk);
      return place;
    } finally {
      lock.release();
    }
  } catch (error) {
    if (isWindrowError(error) || systemCode(error) !== undefined) return place;
    throw error;
  }
}

function isHalfMoved(place: Place, disk: Disk): boolean {
  if (place.completed) return disk.exists(join(place.folder, lockFile));
  const state = readState(place.folder, disk);
  return state !== undefined && isFinal(state.status);
}

async function removeLocks(folder: string, disk: Disk): Promise<void> {
  for (const name of [stateLockFile, lockFile]) {
    if (disk.exists(join(folder, name))) disk.unlink(join(folder, name));
  }
  await syncFolder(folder, disk);
}

async function copyAcross(layout: Layout, id: string, disk: Disk): Promise<void> {
  const draft = join(layout.completed, `.moving-${id}`);
  await disk.removeTree(draft);
  await copyFolder(join(layout.running, id), draft, disk);
  disk.rename(draft, join(layout.completed, id));
  await syncFolder(layout.completed, disk);
  await takeAway(layout, id, disk);
}

/** Copies a session to a folder that must not exist, without its locks, synced. What says whose it is comes first. */
export async function copyFolder(from: string, to: string, disk: Disk): Promise<void> {
  makeNewFolder(to, disk);
  const names = [...(await disk.readFolder(from))].sort((one, other) => rankOf(one) - rankOf(other));
  for (const name of names) {
    if (name === lockFile || name === stateLockFile) continue;
    if (name === blobsFolder) await copyFolder(join(from, name), join(to, name), disk);
    else copyFile(join(from, name), join(to, name), disk);
  }
  await syncFolder(to, disk);
}

function rankOf(name: string): number {
  return name === metadataFile ? 0 : 1;
}

/** The session is whole in `completed/`: it leaves `running/` with one rename, and is deleted under a name of no meaning. */
async function takeAway(layout: Layout, id: string, disk: Disk): Promise<void> {
  const away = join(layout.running, `.moved-${id}`);
  await disk.removeTree(away);
  if (disk.exists(join(layout.running, id))) disk.rename(join(layout.running, id), away);
  await syncFolder(layout.running, disk);
  await disk.removeTree(away);
}
