/**
 * Compressed files: gzip, as `zcat` and `zgrep` read it, in members of one MiB, each with its length in its header
 * (RFC 1952 §2.3.1.1), so that any place is read by unpacking one member. What another program gzipped is read too,
 * whole. A member that is damaged reads as zeros: it hides nothing around it.
 */
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateRaw, gunzipSync, inflateRawSync } from "node:zlib";
import { WindrowError } from "../../errors.ts";
import type { SessionSize } from "../upkeep.ts";
import type { Disk } from "./disk.ts";
import { readExactly } from "./jsonl.ts";
import { blobsFolder, draftOf, lockFile, metadataFile, openNew, remove, removeDrafts } from "./layout.ts";
import { stateFile, stateLockFile, syncFolder, writeAll } from "./layout.ts";

/** What is put behind the name of a file that is compressed. */
export const archiveEnding = ".gz";

/** The mark of a session that is kept. */
export const keepFile = "keep.json";

/** When a session was put into the trash. */
export const trashedFile = "trashed.json";

/** Plain bytes of a member. */
const memberBytes = 1024 * 1024;

/** Smaller files take one block of the disk either way. */
const smallestBytes = 512;

/** Magic, deflate, an extra field, no time, best compression, Unix; the field: 12 bytes, "WR", 8 bytes. */
const headerStart = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 2, 3, 12, 0, 0x57, 0x52, 8, 0]);
const headerBytes = headerStart.length + 8;
const trailerBytes = 8;

/** Files that stay as they are: small, and read whenever sessions are listed. */
const plainFiles: ReadonlySet<string> = new Set([
  metadataFile,
  stateFile,
  lockFile,
  stateLockFile,
  keepFile,
  trashedFile,
]);

const deflate = promisify(deflateRaw);

interface Member {
  /** Where it begins, in plain bytes and in the file. */
  readonly start: number;
  readonly offset: number;
  /** Bytes, plain and with header and trailer. */
  readonly size: number;
  readonly length: number;
}

/** A compressed file that is read as if it were not. */
export class ArchiveFile {
  /** Plain bytes. */
  readonly size: number;
  readonly #file: number;
  readonly #disk: Disk;
  readonly #members: readonly Member[];
  /** The last two: a line may lie across both. */
  readonly #unpacked: { readonly member: Member; readonly bytes: Buffer }[] = [];

  /** @param file - open for reading */
  constructor(file: number, disk: Disk) {
    this.#file = file;
    this.#disk = disk;
    const { size } = disk.stat(file);
    const members = membersOf(file, size, disk);
    if (members) this.#members = members;
    else {
      const bytes = foreign(readExactly(file, 0, size, disk));
      this.#members = [{ start: 0, offset: 0, size: bytes.length, length: size }];
      this.#unpacked.push({ member: this.#members[0]!, bytes });
    }
    const last = this.#members.at(-1);
    this.size = last ? last.start + last.size : 0;
  }

  /** As {@link Disk.read}. */
  read(into: Buffer, offset: number, length: number, position: number): number {
    const member = this.#memberAt(position);
    if (!member) return 0;
    const from = position - member.start;
    return this.#bytesOf(member).copy(into, offset, from, Math.min(member.size, from + length));
  }

  #memberAt(position: number): Member | undefined {
    let [low, high] = [0, this.#members.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { start, size } = this.#members[middle]!;
      if (start + size <= position) low = middle + 1;
      else high = middle;
    }
    return this.#members[low];
  }

  #bytesOf(member: Member): Buffer {
    const known = this.#unpacked.find((one) => one.member === member);
    if (known) return known.bytes;
    const packed = readExactly(this.#file, member.offset, member.length, this.#disk);
    const bytes = unpack(packed, member.size) ?? Buffer.alloc(member.size);
    this.#unpacked.unshift({ member, bytes });
    this.#unpacked.length = Math.min(2, this.#unpacked.length);
    return bytes;
  }
}

/** Its members; undefined where another program compressed it. */
function membersOf(file: number, size: number, disk: Disk): readonly Member[] | undefined {
  const members: Member[] = [];
  let start = 0;
  for (let offset = 0; offset < size;) {
    const header = readExactly(file, offset, headerBytes, disk);
    if (header.length < headerBytes || !header.subarray(0, headerStart.length).equals(headerStart)) return undefined;
    const length = header.readUInt32LE(headerStart.length);
    const plain = header.readUInt32LE(headerStart.length + 4);
    if (length < headerBytes + trailerBytes || plain > memberBytes) return undefined;
    members.push({ start, offset, size: plain, length });
    offset += length;
    start += plain;
  }
  return members;
}

/** A member's plain bytes; undefined where it is damaged. */
function unpack(packed: Buffer, size: number): Buffer | undefined {
  try {
    const bytes = inflateRawSync(packed.subarray(headerBytes, -trailerBytes), { maxOutputLength: memberBytes });
    return bytes.length === size && crc32(bytes) === packed.readUInt32LE(packed.length - 8) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function foreign(packed: Buffer): Buffer {
  try {
    return gunzipSync(packed);
  } catch (error) {
    const message = "A compressed file of a session cannot be unpacked: restore it from a backup.";
    throw new WindrowError("store-corrupt", message, {}, { cause: error });
  }
}

async function pack(bytes: Buffer): Promise<Buffer> {
  const packed = await deflate(bytes, { level: 9 });
  const numbers = Buffer.alloc(8 + trailerBytes);
  numbers.writeUInt32LE(headerBytes + packed.length + trailerBytes, 0);
  numbers.writeUInt32LE(bytes.length, 4);
  numbers.writeUInt32LE(crc32(bytes), 8);
  numbers.writeUInt32LE(bytes.length, 12);
  const member = Buffer.concat([headerStart, numbers.subarray(0, 8), packed, numbers.subarray(8)]);
  if (unpack(member, bytes.length)?.equals(bytes) === true) return member;
  throw new Error("what was compressed does not come back the same");
}

/** Compresses what is large enough in the folder of a session that nobody writes. */
export async function compressFolder(folder: string, disk: Disk): Promise<void> {
  await eachFile(folder, disk, async (path) => {
    if (path.endsWith(archiveEnding) || disk.statPath(path).size < smallestBytes) return;
    await exchange(path, `${path}${archiveEnding}`, disk, async (file, size, write) => {
      for (let at = 0; at < size; at += memberBytes) {
        write(await pack(readExactly(file, at, Math.min(memberBytes, size - at), disk)));
      }
    });
  });
}

/** Undoes it. */
export async function decompressFolder(folder: string, disk: Disk): Promise<void> {
  await eachFile(folder, disk, async (path) => {
    if (!path.endsWith(archiveEnding)) return;
    await exchange(path, path.slice(0, -archiveEnding.length), disk, async (file, _size, write) => {
      const archive = new ArchiveFile(file, disk);
      const bytes = Buffer.allocUnsafe(memberBytes);
      for (let at = 0; at < archive.size;) {
        const length = archive.read(bytes, 0, bytes.length, at);
        write(bytes.subarray(0, length));
        at += length;
      }
    });
  });
}

/** Puts one file in the place of another: the new one is durable before the old one goes. */
async function exchange(
  from: string,
  to: string,
  disk: Disk,
  fill: (file: number, size: number, write: (bytes: Buffer) => void) => Promise<void>,
): Promise<void> {
  const draft = draftOf(to);
  try {
    const file = disk.open(from, constants.O_RDONLY);
    try {
      const made = openNew(draft, disk);
      try {
        await fill(file, disk.stat(file).size, (bytes) => writeAll(made, bytes, disk));
        await disk.sync(made);
      } finally {
        disk.close(made);
      }
    } finally {
      disk.close(file);
    }
    disk.rename(draft, to);
  } catch (error) {
    remove(draft, disk);
    throw error;
  }
  await syncFolder(dirname(to), disk);
  disk.unlink(from);
  await syncFolder(dirname(to), disk);
}

/** What the folder of a session takes. */
export async function sizeOfFolder(folder: string, disk: Disk): Promise<SessionSize> {
  let [bytes, plainBytes, archives, others] = [0, 0, 0, 0];
  for (const path of await filesIn(folder, disk)) {
    const { size } = disk.statPath(path);
    const isArchive = path.endsWith(archiveEnding);
    bytes += size;
    plainBytes += isArchive ? plainSize(path, disk) : size;
    if (isArchive) archives += 1;
    else if (!plainFiles.has(basename(path)) && size >= smallestBytes) others += 1;
  }
  return { bytes, plainBytes, compressed: archives > 0 && others === 0 };
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
