/**
 * Compressing the files of a session that nobody writes, and unpacking them. A file is removed only when its
 * replacement is whole.
 */
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { EngineSize } from "../engine.ts";
import { ArchiveFile, damagedArchive } from "../../disk/archive/archive-file.ts";
import { membersOf } from "../../disk/archive/member-map.ts";
import { memberBytes, packMember } from "../../disk/archive/member.ts";
import type { Disk } from "../../disk/disk.ts";
import { readExactly } from "../../disk/read.ts";
import { lockFile } from "../lock/owner-record.ts";
import { archiveEnding } from "../../disk/archive/archive-disk.ts";
import { blobsFolder } from "../format/blobs.ts";
import { metadataFile } from "../format/documents.ts";
import { draftOf, openNew, remove } from "../../disk/safe-write.ts";
import { stateLockFile } from "./layout.ts";
import { markFile } from "./folder.ts";
import { stateFile } from "../format/documents.ts";
import { removeDrafts, syncFolder, systemCode, writeAll } from "../../disk/safe-write.ts";

/** Smaller files take one block of the disk either way. */
const smallestBytes = 512;

/** Looks at a folder whose files change their names meanwhile. */
const looks = 20;

/** Files that stay as they are: small, and read whenever sessions are listed. */
const plainFiles: ReadonlySet<string> = new Set([metadataFile, stateFile, lockFile, stateLockFile, markFile]);

/**
 * Compresses what is large enough in the folder of a session that nobody writes.
 *
 * @param mayRemove - asked before each file goes; throws to leave it
 * @throws WindrowError `store-corrupt` where a file is there under both of its names, and the two differ
 */
export async function compressFolder(
  folder: string,
  disk: Disk,
  mayRemove: () => void = () => undefined,
): Promise<void> {
  await eachFile(folder, disk, async (path) => {
    if (path.endsWith(archiveEnding)) return;
    const archive = `${path}${archiveEnding}`;
    if (disk.exists(archive)) return endExchange(path, archive, path, disk);
    if (disk.statPath(path).size < smallestBytes) return;
    const pack: Fill = async (file, size, write) => {
      for (let at = 0; at < size; at += memberBytes) {
        write(await packMember(readExactly(file, at, Math.min(memberBytes, size - at), disk), at, size));
      }
    };
    await exchange(path, archive, disk, pack, mayRemove);
  });
}

/**
 * Undoes it, after every member of every file was unpacked and found whole.
 *
 * @throws WindrowError `store-corrupt` where one is not: it names file, member and place, and nothing is changed
 */
export async function decompressFolder(folder: string, disk: Disk): Promise<void> {
  await verifyFolder(folder, disk);
  await eachFile(folder, disk, async (archive) => {
    if (!archive.endsWith(archiveEnding)) return;
    const path = archive.slice(0, -archiveEnding.length);
    if (disk.exists(path)) return endExchange(path, archive, archive, disk);
    await exchange(archive, path, disk, async (file, _size, write) => {
      const whole = new ArchiveFile(file, archive, disk);
      const bytes = Buffer.allocUnsafe(memberBytes);
      for (let at = 0; at < whole.size;) {
        const length = whole.read(bytes, 0, bytes.length, at);
        const damage = whole.damage();
        if (damage.length > 0) throw damagedArchive(archive, damage);
        write(bytes.subarray(0, length));
        at += length;
      }
    });
  });
}

/**
 * Unpacks every member of every compressed file of a session.
 *
 * @throws WindrowError `store-corrupt` for the first that is damaged: it names file, member and place
 */
export async function verifyFolder(folder: string, disk: Disk): Promise<void> {
  for (const path of await filesIn(folder, disk)) {
    // One that is unpacked meanwhile is verified by who unpacks it.
    if (!path.endsWith(archiveEnding) || !disk.exists(path)) continue;
    const file = disk.open(path, constants.O_RDONLY);
    try {
      const damage = new ArchiveFile(file, path, disk).verify();
      if (damage.length > 0) throw damagedArchive(path, damage);
    } finally {
      disk.close(file);
    }
  }
}

/** Writes the text of the new file from the old one. */
type Fill = (file: number, size: number, write: (bytes: Buffer) => void) => Promise<void>;

/** Puts one file in the place of another: the new one is durable, and was read again, before the old one goes. */
async function exchange(
  from: string,
  to: string,
  disk: Disk,
  fill: Fill,
  mayRemove: () => void = () => undefined,
): Promise<void> {
  const draft = draftOf(to);
  try {
    const file = disk.open(from, constants.O_RDONLY);
    try {
      const made = openNew(draft, disk);
      try {
        await fill(file, disk.stat(file).size, (bytes) => writeAll(made, bytes, disk));
        await disk.sync(made);
        const [plain, archive] = from.endsWith(archiveEnding) ? [made, file] : [file, made];
        if (!holdsSame(plain, archive, to, disk)) throw new Error(`${to} reads back different from ${from}`);
      } finally {
        disk.close(made);
      }
    } finally {
      disk.close(file);
    }
    mayRemove();
    disk.rename(draft, to);
  } catch (error) {
    remove(draft, disk);
    throw error;
  }
  await syncFolder(dirname(to), disk);
  mayRemove();
  disk.unlink(from);
  await syncFolder(dirname(to), disk);
}

/** Ends an exchange that a crash cut short between its last two steps: both files are there, and hold the same. */
async function endExchange(path: string, archive: string, old: string, disk: Disk): Promise<void> {
  const [plain, packed] = [disk.open(path, constants.O_RDONLY), disk.open(archive, constants.O_RDONLY)];
  try {
    if (!holdsSame(plain, packed, archive, disk)) {
      const message =
        `${path} and ${basename(archive)} are both there, and do not hold the same. Nothing was changed: compare them, ` +
        "and move the one that is not wanted out of the session's folder.";
      throw new WindrowError("store-corrupt", message, { path, archive });
    }
    // One of them may never have been synced.
    await disk.sync(plain);
    await disk.sync(packed);
  } finally {
    disk.close(packed);
    disk.close(plain);
  }
  disk.unlink(old);
  await syncFolder(dirname(path), disk);
}

function holdsSame(plain: number, archive: number, path: string, disk: Disk): boolean {
  const packed = new ArchiveFile(archive, path, disk);
  const { size } = disk.stat(plain);
  if (packed.size !== size) return false;
  const bytes = Buffer.allocUnsafe(memberBytes);
  for (let at = 0; at < size;) {
    const length = packed.read(bytes, 0, bytes.length, at);
    if (length === 0 || !bytes.subarray(0, length).equals(readExactly(plain, at, length, disk))) return false;
    at += length;
  }
  return packed.damage().length === 0;
}

/** The size of a session's folder; a file that changes its name meanwhile is counted once. */
export async function sizeOfFolder(folder: string, disk: Disk): Promise<EngineSize> {
  for (let look = 1; ; look += 1) {
    try {
      return sizeOf(await filesIn(folder, disk), disk);
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || look === looks || !disk.exists(folder)) throw error;
    }
  }
}

function sizeOf(paths: readonly string[], disk: Disk): EngineSize {
  let [bytes, plainBytes, archives, others] = [0, 0, 0, 0];
  const names = new Set(paths);
  for (const path of paths) {
    const isArchive = path.endsWith(archiveEnding);
    const isTwin = isArchive && names.has(path.slice(0, -archiveEnding.length));
    if (isTwin || /^\..+\.tmp$/.test(basename(path))) continue;
    const { size } = disk.statPath(path);
    bytes += size;
    plainBytes += isArchive ? plainSize(path, disk) : size;
    if (isArchive) archives += 1;
    else if (!plainFiles.has(basename(path)) && size >= smallestBytes) others += 1;
  }
  return { count: names.size, bytes, plainBytes, compressed: archives > 0 && others === 0 };
}

function plainSize(path: string, disk: Disk): number {
  const file = disk.open(path, constants.O_RDONLY);
  try {
    const { size } = disk.stat(file);
    const members = membersOf(file, size, disk);
    if (members) return members.reduce((sum, one) => sum + one.size, 0);
    return size < 4 ? 0 : readExactly(file, size - 4, 4, disk).readUInt32LE(0);
  } finally {
    disk.close(file);
  }
}

async function eachFile(folder: string, disk: Disk, visit: (path: string) => Promise<void>): Promise<void> {
  await removeDrafts(folder, disk);
  const blobs = join(folder, blobsFolder);
  if (disk.exists(blobs)) await removeDrafts(blobs, disk);
  for (const path of await filesIn(folder, disk)) if (!plainFiles.has(basename(path))) await visit(path);
}

/** The files of a session, its large values among them. */
async function filesIn(folder: string, disk: Disk): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const name of await disk.readFolder(folder)) {
    if (name === blobsFolder) paths.push(...(await filesIn(join(folder, name), disk)));
    else paths.push(join(folder, name));
  }
  return paths;
}
