/**
 * The file system, as the stores use it: few calls, each with a promise that a store relies on. Tests bring a disk that
 * loses what was not synced, fills up, or dies at any step. All other code uses {@link systemDisk}.
 */
import { chmodSync, closeSync, existsSync, fchmodSync, fdatasync, fdatasyncSync, fstatSync, fsync } from "node:fs";
import { ftruncateSync, mkdirSync, open, openSync, read, readFileSync, readSync, renameSync, statSync } from "node:fs";
import { unlinkSync, writeSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";

/** A stretch of a compressed file that cannot be unpacked; it reads as zeros. */
export interface DamagedMember {
  /** Which member, from 1, of how many. */
  readonly member: number;
  readonly members: number;
  /** Bytes in the compressed file; a length of 0 is an end that is missing. */
  readonly offset: number;
  readonly length: number;
  /** Bytes of the text that cannot be had. */
  readonly start: number;
  readonly size: number;
}

/** The facts about a file that a store asks for. */
export interface DiskStat {
  /** Bytes. */
  readonly size: number;
  /** With `dev`: which file it is, whatever its name. */
  readonly ino: number;
  readonly dev: number;
  /** 0 once no folder names it any more. */
  readonly nlink: number;
  /** Milliseconds since 1970. */
  readonly mtimeMs: number;
}

/**
 * A file system. Files are numbers, as in node:fs; failures are the system's errors with their `code`. What is written
 * survives a power cut only once the file was synced, and a new, renamed or removed name once its folder was.
 */
export interface Disk {
  /** Flags are those of `node:fs` constants. */
  open(path: string, flags: number, mode?: number): number;
  /** As `open`, without blocking: a name that is made may wait for the file system's journal. Not to open an archive. */
  openLater(path: string, flags: number, mode: number): Promise<number>;
  close(file: number): void;
  read(file: number, into: Buffer, offset: number, length: number, position: number): number;
  /** As `read`, without blocking. */
  readLater(file: number, into: Buffer, offset: number, length: number, position: number): Promise<number>;
  /** Returns the bytes taken, perhaps fewer than given. Without a position: at the end, for a file opened to append. */
  write(file: number, from: Buffer, offset: number, length: number, position?: number): number;
  truncate(file: number, size: number): void;
  /** Makes the file's data durable, and as much of its metadata as reading it back needs. */
  syncData(file: number): Promise<void>;
  /** As `syncData`, at once. */
  syncDataNow(file: number): void;
  /** Makes a file, or a folder's names, durable. */
  sync(file: number): Promise<void>;
  stat(file: number): DiskStat;
  /** The members of a compressed file that could not be unpacked so far; undefined for a file that is not compressed. */
  damage?(file: number): readonly DamagedMember[] | undefined;
  statPath(path: string): DiskStat;
  exists(path: string): boolean;
  readFile(path: string): Buffer;
  setMode(file: number | string, mode: number): void;
  makeFolder(path: string, mode: number): void;
  readFolder(path: string): Promise<readonly string[]>;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Removes a folder and all in it; nothing happens where there is none. */
  removeTree(path: string): Promise<void>;
  /**
   * Takes the kernel's lock on one byte of an open file: false while another open file holds it, undefined where this
   * system has no such locks. It goes when the file is closed or the process dies.
   */
  tryLock(file: number, byte: number): boolean | undefined;
  unlock(file: number, byte: number): void;
}

const openAsync = promisify<string, number, number, number>(open);
const readAsync = promisify(read);
const fsyncAsync = promisify(fsync);
const fdatasyncAsync = promisify(fdatasync);

/** The system's own file system. */
export const systemDisk: Disk = {
  open: (path, flags, mode) => openSync(path, flags, mode),
  openLater: (path, flags, mode) => openAsync(path, flags, mode),
  close: (file) => closeSync(file),
  read: (file, into, offset, length, position) => readSync(file, into, offset, length, position),
  readLater: async (file, into, offset, length, position) =>
    (await readAsync(file, into, offset, length, position)).bytesRead,
  write: (file, from, offset, length, position) => writeSync(file, from, offset, length, position ?? null),
  truncate: (file, size) => ftruncateSync(file, size),
  syncData: (file) => fdatasyncAsync(file),
  syncDataNow: (file) => fdatasyncSync(file),
  sync: (file) => fsyncAsync(file),
  stat: (file) => fstatSync(file),
  statPath: (path) => statSync(path),
  exists: (path) => existsSync(path),
  readFile: (path) => readFileSync(path),
  setMode: (file, mode) => (typeof file === "string" ? chmodSync(file, mode) : fchmodSync(file, mode)),
  makeFolder: (path, mode) => mkdirSync(path, { mode }),
  readFolder: (path) => readdir(path),
  rename: (from, to) => renameSync(from, to),
  unlink: (path) => unlinkSync(path),
  removeTree: (path) => rm(path, { recursive: true, force: true }),
  tryLock: (file, byte) => kernelLocks()?.tryLock(file, byte, 1),
  unlock: (file, byte) => kernelLocks()?.unlock(file, byte, 1),
};

/** The functions of fs-native-extensions that are used. */
interface KernelLocks {
  tryLock(file: number, offset: number, length: number): boolean;
  unlock(file: number, offset: number, length: number): void;
}

let loaded: KernelLocks | null | undefined;

/** Built for glibc Linux, macOS and Windows; elsewhere (Alpine) a session is kept to one writer by its lease alone. */
function kernelLocks(): KernelLocks | undefined {
  if (loaded === undefined) {
    try {
      loaded = createRequire(import.meta.url)("fs-native-extensions") as KernelLocks;
    } catch {
      loaded = null;
    }
  }
  return loaded ?? undefined;
}
