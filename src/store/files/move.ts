/**
 * A finished session moves from `running/` to `completed/`; a crash between any two steps is mended on the next look.
 */
import { existsSync } from "node:fs";
import { rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isWindrowError } from "../../errors.ts";
import type { Clock } from "../clock.ts";
import { isFinal } from "../rules.ts";
import { readState } from "./documents.ts";
import { lockFile, makeFolder, syncFolder } from "./layout.ts";
import type { Layout, Place } from "./layout.ts";
import { acquire } from "./lock.ts";

/**
 * Moves a session whose state says that it ended. The caller holds its lock; `.lock` goes last, inside the moved
 * folder, so that nobody else can take the session on the way.
 */
export async function moveToCompleted(layout: Layout, id: string): Promise<Place> {
  const folder = join(layout.completed, id);
  await makeFolder(layout.completed);
  await rename(join(layout.running, id), folder);
  await syncFolder(layout.completed);
  await syncFolder(layout.running);
  await unlink(join(folder, lockFile));
  await syncFolder(folder);
  return { id, folder, completed: true };
}

/**
 * Ends a move that a crash interrupted: a session in `running/` whose state is final, or a `.lock` left in
 * `completed/`. Does nothing while its holder lives, or where the folders cannot be written.
 *
 * @returns where the session lies now
 */
export async function endMove(layout: Layout, place: Place, clock: Clock): Promise<Place> {
  if (!isHalfMoved(place)) return place;
  try {
    const lock = acquire(place.folder, clock);
    try {
      if (!place.completed) return await moveToCompleted(layout, place.id);
      await unlink(join(place.folder, lockFile));
      await syncFolder(place.folder);
      return place;
    } finally {
      lock.release();
    }
  } catch (error) {
    if (isWindrowError(error) || (error instanceof Error && "code" in error)) return place;
    throw error;
  }
}

function isHalfMoved(place: Place): boolean {
  if (place.completed) return existsSync(join(place.folder, lockFile));
  const state = readState(place.folder);
  return state !== undefined && isFinal(state.status);
}
