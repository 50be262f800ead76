/**
 * Where sessions lie: `running/<uuid>/` and `completed/<uuid>/` under one base folder (seed 001 §2), and the few writes
 * that are not appends. Files are 0600 and folders 0700, whatever the umask.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { WindrowError, isWindrowError } from "../../errors.ts";

/** Mode of every file: only the owner reads and writes. */
export const fileMode = 0o600;
const folderMode = 0o700;

/** The files of a session that are no logs. */
export const metadataFile = "metadata.json";
/** How the session is doing. */
export const stateFile = "state.json";
/** Who writes the session. */
export const lockFile = ".lock";

/** Summaries of ranges; written from the first day, so that a finished session has every file of seed 001 §2.1. */
export const summariesFile = "summaries.jsonl";

/** Where a session was found. */
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

/** Where a session lies now, in either folder; undefined when it is in neither. */
export function locate(layout: Layout, id: string): Place | undefined {
  const running = join(layout.running, id);
  if (existsSync(running)) return { id, folder: running, completed: false };
  const completed = join(layout.completed, id);
  if (existsSync(completed)) return { id, folder: completed, completed: true };
  // A move between the two looks, from running to completed, was missed by the first and is seen by a second.
  return existsSync(running) ? { id, folder: running, completed: false } : undefined;
}

/** Makes a folder and those above it; returns whether anything was made. */
export async function makeFolder(path: string): Promise<boolean> {
  const missing: string[] = [];
  // One by one: Node 20's own recursion never returns where a parent exists and takes no folder, as /proc.
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
  for (const folder of missing) {
    const made = await mkdir(folder, { mode: folderMode }).then(() => true, ignoreExisting);
    if (made) await chmod(folder, folderMode);
  }
  if (missing[0] !== undefined) await syncFolder(dirname(missing[0]));
  return missing.length > 0;
}

/** Another process may have made the folder meanwhile. */
function ignoreExisting(error: NodeJS.ErrnoException): false {
  if (error.code === "EEXIST") return false;
  throw error;
}

/** Makes one folder that must not exist; the system's EEXIST is the caller's to read. */
export async function makeNewFolder(path: string): Promise<void> {
  await mkdir(path, { mode: folderMode });
  await chmod(path, folderMode);
}

/** Writes a file that must not exist, synced. */
export async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx", fileMode);
  try {
    await file.chmod(fileMode);
    if (content.length > 0) await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces a file as a whole: readers see the old or the new content, never a mixture.
 *
 * @param synced - also survive a power cut; without it a power cut may leave any of both, or an empty file
 */
export async function replaceFile(path: string, content: string, synced: boolean): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.${draftNumber++}.tmp`);
  try {
    const file = await open(draft, "wx", fileMode);
    try {
      await file.chmod(fileMode);
      await file.writeFile(content);
      if (synced) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (synced) await syncFolder(dirname(path));
}

let draftNumber = 0;

/** Removes the drafts that a crash left beside the file they were to replace. Only for who holds the session's lock. */
export async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^\..+\.\d+\.\d+\.tmp$/.test(name)) await rm(join(folder, name), { force: true });
  }
}

/** Makes a folder's entries durable. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
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
