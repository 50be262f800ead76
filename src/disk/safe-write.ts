/** Writes that are not appends: each is durable and whole, or leaves nothing. Files are 0600 and folders 0700, whatever the umask. */
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WindrowError, isWindrowError } from "../errors.ts";
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";

/** Mode of every file: only the owner reads and writes. */
export const fileMode = 0o600;

const folderMode = 0o700;

/** Flags of a file that must not exist yet. */
const asNew = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

/** Bytes copied at once. */
const copyBytes = 1024 * 1024;

/** Makes a folder and those above it, durably; returns whether anything was made. */
export async function makeFolder(path: string, disk: Disk = systemDisk): Promise<boolean> {
  const missing: string[] = [];
  // One by one: Node 20's own recursion never returns where a parent exists and takes no folder, as /proc.
  for (let folder = path; !disk.exists(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing) {
    try {
      makeNewFolder(folder, disk);
    } catch (error) {
      // Another process may have made the folder meanwhile.
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
  for (const folder of missing) await syncFolder(dirname(folder), disk);
  return missing.length > 0;
}

/** Makes one folder that must not exist; the system's EEXIST is the caller's to read. */
export function makeNewFolder(path: string, disk: Disk = systemDisk): void {
  disk.makeFolder(path, folderMode);
  disk.setMode(path, folderMode);
}

/** Opens a file that must not exist, 0600. */
export function openNew(path: string, disk: Disk = systemDisk): number {
  return owned(disk.open(path, asNew, fileMode), disk);
}

/** As {@link openNew}, without blocking. */
async function openNewLater(path: string, disk: Disk): Promise<number> {
  return owned(await disk.openLater(path, asNew, fileMode), disk);
}

/** A file that was made, with its mode whatever the umask; closed where it cannot have it. */
function owned(file: number, disk: Disk): number {
  try {
    disk.setMode(file, fileMode);
    return file;
  } catch (error) {
    disk.close(file);
    throw error;
  }
}

/** Writes all of these bytes, however few the system takes at a time; one write where it takes them. */
export function writeAll(file: number, bytes: Buffer, disk: Disk = systemDisk): void {
  for (let done = 0; done < bytes.length;) done += disk.write(file, bytes, done, bytes.length - done);
}

/** Writes a file that must not exist, synced. An empty one has nothing to sync: its folder keeps its name. */
export async function writeNew(path: string, content: string, disk: Disk = systemDisk): Promise<void> {
  const file = await openNewLater(path, disk);
  try {
    if (content === "") return;
    writeAll(file, Buffer.from(content), disk);
    await disk.sync(file);
  } finally {
    disk.close(file);
  }
}

/** As {@link writeNew} for several files at once. A failure is thrown when nothing is under way any more. */
export async function writeNewFiles(
  files: readonly (readonly [path: string, content: string])[],
  disk: Disk = systemDisk,
): Promise<void> {
  const written = await Promise.allSettled(files.map(([path, content]) => writeNew(path, content, disk)));
  for (const one of written) if (one.status === "rejected") throw one.reason;
}

/** The name of a draft beside the file it is to replace; {@link removeDrafts} knows it. */
export function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${draftNumber++}.tmp`);
}

let draftNumber = 0;

/**
 * Replaces a file as a whole: readers see the old or the new content, never a mixture.
 *
 * @param synced - also survive a power cut; without it a power cut may leave any of both, or an empty file
 * @param mayReplace - asked when the draft is ready; throws to leave the old file in place
 */
export async function replaceFile(
  path: string,
  content: string,
  synced: boolean,
  disk: Disk = systemDisk,
  mayReplace: () => void = () => undefined,
): Promise<void> {
  const draft = draftOf(path);
  try {
    const file = await openNewLater(draft, disk);
    try {
      writeAll(file, Buffer.from(content), disk);
      if (synced) await disk.sync(file);
    } finally {
      disk.close(file);
    }
    mayReplace();
    disk.rename(draft, path);
  } catch (error) {
    remove(draft, disk);
    throw error;
  }
  if (synced) await syncFolder(dirname(path), disk);
}

/**
 * Copies a span of an open file into a file that must not exist, synced.
 *
 * @throws Error where the file has less than the span
 */
export function copySpan(file: number, target: string, offset: number, length: number, disk: Disk = systemDisk): void {
  const copy = openNew(target, disk);
  try {
    const bytes = Buffer.allocUnsafe(Math.min(copyBytes, length));
    for (let done = 0; done < length;) {
      const got = disk.read(file, bytes, 0, Math.min(bytes.length, length - done), offset + done);
      if (got === 0) throw new Error(`${target} cannot be copied: its original became shorter meanwhile`);
      writeAll(copy, bytes.subarray(0, got), disk);
      done += got;
    }
    disk.syncDataNow(copy);
  } finally {
    disk.close(copy);
  }
}

/** Copies a whole file into one that must not exist, synced. */
export function copyFile(path: string, target: string, disk: Disk = systemDisk): void {
  const file = disk.open(path, constants.O_RDONLY);
  try {
    copySpan(file, target, 0, disk.stat(file).size, disk);
  } finally {
    disk.close(file);
  }
}

/** Removes a file, if it is there and can be removed. */
export function remove(path: string, disk: Disk = systemDisk): void {
  try {
    disk.unlink(path);
  } catch {
    // A draft that cannot be removed stays; every reader ignores it.
  }
}

/** Removes the drafts that dead processes left in a folder. */
export async function removeDrafts(folder: string, disk: Disk = systemDisk): Promise<void> {
  for (const name of await disk.readFolder(folder)) {
    const path = join(folder, name);
    if (draftName.test(name) && !isAtWork(path, disk)) remove(path, disk);
  }
}

const draftName = /^\..+\.(\d+)\.\d+\.tmp$/;

/** Whether a file is a draft to which a living process is about to give its name. */
export function isAtWork(path: string, disk: Disk): boolean {
  const processId = Number(draftName.exec(basename(path))?.[1] ?? 0);
  if (processId !== process.pid) return processId > 0 && hasProcess(processId);
  // In a container every process may have this number; the own drafts are younger than this process.
  return !disk.exists(path) || disk.statPath(path).mtimeMs >= Date.now() - 1_000 * process.uptime();
}

/** Whether this system has a process of this number. */
export function hasProcess(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** Makes a folder's entries durable. */
export async function syncFolder(path: string, disk: Disk = systemDisk): Promise<void> {
  if (process.platform === "win32") return;
  const folder = disk.open(path, constants.O_RDONLY);
  try {
    await disk.sync(folder);
  } finally {
    disk.close(folder);
  }
}

/** As {@link syncFolder}, at once. */
export function syncFolderNow(path: string, disk: Disk = systemDisk): void {
  if (process.platform === "win32") return;
  const folder = disk.open(path, constants.O_RDONLY);
  try {
    disk.syncDataNow(folder);
  } finally {
    disk.close(folder);
  }
}

/** The system's name of an error, for example `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** A system error as `store-unavailable`; one of Windrow's own as it is. */
export function unavailable(error: unknown, doing: string, path: string): WindrowError {
  if (isWindrowError(error)) return error;
  const reason = systemCode(error) ?? String(error);
  return new WindrowError(
    "store-unavailable",
    `${doing} failed in ${path}: ${reason}. Check that the folder can be written and the disk has room.`,
    { path, reason },
    { cause: error },
  );
}
