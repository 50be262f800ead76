/**
 * The trash of a file store: `trash/<uuid>/`, a whole session with the time in its `trashed.json`. One rename puts a
 * session there, and one brings it back.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../../errors.ts";
import { alreadyExists, haveOneOwner, inScope, isSessionId } from "../../shared/rules.ts";
import type { Scope, SessionMetadata } from "../../store.ts";
import { notFinished, notInTrash } from "../../upkeep.ts";
import type { TrashedSession } from "../../upkeep.ts";
import { sizeOfFolder, trashedFile } from "./compress.ts";
import { indexFile } from "../index-file.ts";
import type { Disk } from "../../../disk/disk.ts";
import { metadataIn, page, parseDocument, readObject } from "../../format/documents.ts";
import { locate, namesIn } from "../layout.ts";
import { makeFolder, remove, replaceFile, syncFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { Layout } from "../layout.ts";
import { noteIn } from "../session/archived.ts";
import { copyFolder } from "../session/move.ts";
import { checkNotErased } from "./notes.ts";

/** Folder under the base folder. */
export const trashFolder = "trash";

/** Moves a finished session into the trash. The index is left to the caller: it is written once for many. */
export async function moveToTrash(layout: Layout, id: string, time: string, disk: Disk): Promise<void> {
  const place = locate(layout, id, disk);
  if (place?.completed !== true) throw notFinished(id);
  const target = join(layout.base, trashFolder, id);
  await makeFolder(join(layout.base, trashFolder), disk);
  await replaceFile(join(place.folder, trashedFile), page({ trashed_at: time }), true, disk);
  await moveFolder(place.folder, target, disk);
}

/** Brings a session back. */
export async function moveFromTrash(layout: Layout, scope: Scope, id: string, disk: Disk): Promise<void> {
  const folder = join(layout.base, trashFolder, id);
  const metadata = trashedMetadata(layout, id, disk);
  if (!metadata || !inScope(scope, metadata)) throw notInTrash(id);
  if (locate(layout, id, disk)) throw alreadyExists(id);
  checkNotErased(layout, id, folder, disk);
  const target = join(layout.completed, id);
  await makeFolder(layout.completed, disk);
  await moveFolder(folder, target, disk);
  remove(join(target, trashedFile), disk);
}

/** The sessions of a scope that lie in the trash, or the one of an id. */
export async function* trashedIn(
  layout: Layout,
  scope: Scope,
  id: string | undefined,
  disk: Disk,
): AsyncGenerator<TrashedSession> {
  const trash = join(layout.base, trashFolder);
  for (const sessionId of id === undefined ? await namesIn(trash, disk) : [id]) {
    const metadata = isSessionId(sessionId) ? trashedMetadata(layout, sessionId, disk) : undefined;
    if (!metadata || !inScope(scope, metadata)) continue;
    const folder = join(trash, sessionId);
    const trashedAt = readObject(join(folder, trashedFile), disk)?.["trashed_at"];
    const bytes = await bytesOf(folder, disk);
    // It came back, or was erased, meanwhile.
    if (bytes === undefined) continue;
    const { user, createdAt } = metadata;
    const when = typeof trashedAt === "string" ? { trashedAt } : {};
    const { mark } = noteIn(folder, disk);
    const lies = mark && { archivedAs: mark.key };
    yield { sessionId, ...when, ...(user !== undefined && { user }), createdAt, bytes, ...lies };
  }
}

async function bytesOf(folder: string, disk: Disk): Promise<number | undefined> {
  try {
    return (await sizeOfFolder(folder, disk)).bytes;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The metadata of a session in the trash; undefined where there is none that can be read. */
export function trashedMetadata(layout: Layout, id: string, disk: Disk): SessionMetadata | undefined {
  return metadataIn(join(layout.base, trashFolder, id), id, disk);
}

/** Refuses an id that lies in the trash of another owner; asked behind {@link locate}, as a session goes from there. */
export function checkNotInTrash(layout: Layout, owner: Scope & { readonly uuid: string }, disk: Disk): void {
  const { uuid: id } = owner;
  const old = disk.exists(join(layout.base, trashFolder, id)) ? trashedMetadata(layout, id, disk) : undefined;
  if (old && !haveOneOwner(old, owner)) throw alreadyExists(id);
}

/**
 * Removes sessions from the index, and from temporary copies of the index that a crash left beside it.
 *
 * @returns lines and bytes, by session
 */
export async function dropFromIndex(
  layout: Layout,
  ids: ReadonlySet<string>,
  disk: Disk,
): Promise<ReadonlyMap<string, { readonly count: number; readonly bytes: number }>> {
  const dropped = new Map<string, { count: number; bytes: number }>();
  for (const name of await namesIn(layout.base, disk)) {
    const isDraft = name.startsWith(`.${indexFile}.`);
    if (name !== indexFile && !isDraft) continue;
    const path = join(layout.base, name);
    const left: string[] = [];
    const lines = textOf(path, disk).split("\n");
    for (const line of lines) {
      const id = parseDocument(line)?.["uuid"];
      if (typeof id !== "string" || !ids.has(id)) left.push(line);
      else {
        const { count, bytes } = dropped.get(id) ?? { count: 0, bytes: 0 };
        dropped.set(id, { count: count + 1, bytes: bytes + Buffer.byteLength(line) + 1 });
      }
    }
    if (left.length === lines.length) continue;
    if (isDraft) remove(path, disk);
    else await replaceFile(path, left.join("\n"), true, disk);
  }
  return dropped;
}

function textOf(path: string, disk: Disk): string {
  try {
    return disk.readFile(path).toString("utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return "";
    throw unavailable(error, "Reading the index", path);
  }
}

/** Moves a folder, also to another file system: it is there whole before it leaves its old place. */
export async function moveFolder(from: string, to: string, disk: Disk): Promise<void> {
  try {
    disk.rename(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    const draft = `${to}.moving`;
    await disk.removeTree(draft);
    await copyFolder(from, draft, disk);
    disk.rename(draft, to);
    await syncFolder(join(to, ".."), disk);
    await disk.removeTree(from);
  }
  await syncFolder(join(to, ".."), disk);
  await syncFolder(join(from, ".."), disk);
}

/** Bytes behind the beginning of the lock's file, so that the file itself may stay empty. */
const upkeepByte = 0;

/** How long to wait for another process at the same work, in milliseconds, and between two tries. */
const patienceMs = 30_000;
const tryEveryMs = 20;

/**
 * Runs work that no other process may do at the same time: what one compresses, another may just be unpacking. The kernel
 * lets go of the lock when the process dies.
 *
 * @throws WindrowError `store-unavailable` when another process keeps at it
 */
export async function alone<T>(layout: Layout, disk: Disk, work: () => Promise<T>): Promise<T> {
  const file = disk.open(join(layout.base, ".upkeep.lock"), constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    for (let waited = 0; disk.tryLock(file, upkeepByte) === false; waited += tryEveryMs) {
      if (waited >= patienceMs) {
        const message = "Another process is cleaning or erasing in this store; nothing was changed. Try again later.";
        throw new WindrowError("store-unavailable", message, { path: layout.base });
      }
      await new Promise((resolve) => setTimeout(resolve, tryEveryMs));
    }
    return await work();
  } finally {
    disk.close(file);
  }
}
