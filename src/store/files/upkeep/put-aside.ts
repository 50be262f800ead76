/** A session taken out of a file store without deleting anything: its folder moves into `aside/`, under its old path. */
import { join, relative } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import { timestamp } from "../../shared/clock.ts";
import { inScope, notFound } from "../../shared/rules.ts";
import type { Scope } from "../../store.ts";
import { readMetadata } from "../../format/documents.ts";
import type { Disk } from "../../../disk/disk.ts";
import { asideFolder } from "../examine/examination.ts";
import { lockFile } from "../../lock/owner-record.ts";
import { makeFolder } from "../../../disk/safe-write.ts";
import type { Catalogue } from "../catalogue.ts";
import { locate } from "../layout.ts";
import type { Layout, Place } from "../layout.ts";
import type { LockTools } from "../../lock/lock.ts";
import { acquire } from "../../lock/steal.ts";
import { dropFromIndex, moveFolder } from "./trash.ts";

/**
 * Moves a session aside, from wherever it lies.
 *
 * @returns where it lies now, relative to the base folder
 * @throws WindrowError `session-not-found`; `session-busy` while a process writes it
 */
export async function putAside(layout: Layout, scope: Scope, id: string, tools: LockTools): Promise<string> {
  const { disk, clock } = tools;
  const folders = [layout.running, layout.completed].map((parent) => join(parent, id));
  const found = folders.filter((folder) => disk.exists(folder));
  if (found.length === 0 || !found.every((folder) => belongs(folder, id, scope, disk))) throw notFound(id);
  const stamp = timestamp(clock).replaceAll(/[-:.]/g, "");
  const targets: string[] = [];
  for (const folder of found) {
    const isRunning = folder.startsWith(layout.running);
    const lock = isRunning || disk.exists(join(folder, lockFile)) ? acquire(folder, tools) : undefined;
    try {
      const target = join(layout.base, asideFolder, stamp, relative(layout.base, folder));
      await makeFolder(join(target, ".."), disk);
      await moveFolder(folder, target, disk);
      targets.push(relative(layout.base, target));
    } finally {
      lock?.release();
    }
  }
  await dropFromIndex(layout, new Set([id]), disk);
  return targets.join(", ");
}

/** Whether a session belongs to a scope. One with unreadable metadata belongs to the scope of no user and no tenant. */
function belongs(folder: string, id: string, scope: Scope, disk: Disk): boolean {
  try {
    return inScope(scope, readMetadata(folder, id, disk));
  } catch (error) {
    if (!isWindrowError(error, "store-corrupt")) throw error;
    return scope.user === undefined && scope.tenant === undefined;
  }
}

/**
 * The place of a session of a scope, also of one whose metadata cannot be read.
 *
 * @throws WindrowError `session-not-found`; `store-corrupt` for one that is damaged, and may be another's
 */
export function evenDamaged(catalogue: Catalogue, layout: Layout, scope: Scope, id: string, disk: Disk): Place {
  try {
    return catalogue.find(scope, id).place;
  } catch (error) {
    const place = isWindrowError(error, "store-corrupt") ? locate(layout, id, disk) : undefined;
    if (!place || !belongs(place.folder, id, scope, disk)) throw error;
    return place;
  }
}
