/**
 * The lock of a session: one writer at a time. The kernel holds it on the visible `.lock` file and releases it when the
 * process dies; the JSON in the file names the holder. Its `generation` rises with every acquisition and is read before
 * every acknowledgement, so that a holder that was passed over writes nothing more.
 *
 * A holder that may live is fenced: `.lock` is replaced by a new file with the next generation, durably, and then each
 * log by a copy. A holder that still saw its own generation wrote before that, hence before the copy; whatever it
 * writes later goes into files that nobody reads.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { Disk } from "../../disk/disk.ts";
import { copyFile, draftOf, fileMode, openNew, remove } from "../../disk/safe-write.ts";
import { syncFolderNow, systemCode } from "../../disk/safe-write.ts";
import { kindFiles } from "../format/logs.ts";
import type { Clock } from "../shared/clock.ts";
import type { Taker } from "../shared/holder.ts";
import { fenced } from "../shared/unlock.ts";
import { decodeOwnerRecord, encodeOwnerRecord, generationOf, isReleased, lockFile, originOf } from "./owner-record.ts";
import { readOwnerRecord, recordBytes, takerFrom } from "./owner-record.ts";
import type { OwnerNote } from "./owner-record.ts";

/** The kernel's lock is on one byte behind the record, so that the record can be read on every system. */
const lockedByte = 4096;

/** The kernel's lock on this byte makes those who replace the file come one after the other. */
const stealingByte = 4097;

/** A session's `.lock`, held. */
export class SessionLock {
  /** Whether the holder before this one let go in order; if not, it died, or never was. */
  readonly predecessorReleased: boolean;
  readonly #file: number;
  readonly #disk: Disk;
  #owner: Taker;
  #note: OwnerNote;
  #written: Buffer = Buffer.alloc(0);
  #isClosed = false;

  /**
   * Writes the record, which is not durable yet.
   *
   * @param file - `.lock`, open for reading and writing, the kernel's lock taken
   * @param previous - what the file says of the holder before
   */
  constructor(file: number, previous: Buffer, owner: Taker, disk: Disk, note: OwnerNote = {}) {
    this.#file = file;
    this.#disk = disk;
    this.#owner = owner;
    this.#note = note;
    this.predecessorReleased = decodeOwnerRecord(previous)?.["released"] === true;
    this.#write();
  }

  /** The holder, with the latest heartbeat. */
  get owner(): Taker {
    return this.#owner;
  }

  /**
   * Makes sure that nobody took the session over.
   *
   * @throws WindrowError `fenced`
   */
  check(): void {
    if (!this.isMine()) throw fenced({ owner: this.#owner });
  }

  /** Says in the file that the holder is alive, or that it is another one of this process. */
  rewrite(owner: Taker): void {
    if (this.#isClosed || !this.isMine()) return;
    this.#owner = owner;
    this.#write();
  }

  /** Makes the record durable. */
  sync(): Promise<void> {
    return this.#disk.sync(this.#file);
  }

  /** The logs are out of reach of the holder it was taken from: says so in the file, durably. */
  stolen(): void {
    this.#note = {};
    this.check();
    this.#write();
    this.#disk.syncDataNow(this.#file);
    this.#disk.unlock(this.#file, stealingByte);
  }

  /** Lets go. Idempotent. */
  release(): void {
    if (this.#isClosed) return;
    try {
      this.#note = { ...this.#note, released: true };
      if (this.isMine()) this.#write();
    } finally {
      this.abandon();
    }
  }

  /** Releases the kernel's lock and leaves the owner's record, as a dying process does. */
  abandon(): void {
    if (!this.#isClosed) this.#disk.close(this.#file);
    this.#isClosed = true;
  }

  /** Mine: the record has my number, and the file is still the one that `.lock` names. */
  isMine(): boolean {
    const found = Buffer.allocUnsafe(recordBytes);
    const length = this.#disk.read(this.#file, found, 0, recordBytes, 0);
    const same = length === this.#written.length && found.equals(this.#written);
    if (!same && generationOf(found.subarray(0, length)) !== this.#owner.generation) return false;
    return this.#disk.stat(this.#file).nlink > 0;
  }

  #write(): void {
    this.#written = encodeOwnerRecord(this.#owner, this.#note);
    this.#disk.write(this.#file, this.#written, 0, recordBytes, 0);
  }
}

/**
 * Takes a session's lock from whoever has it: the caller knows that this is wanted.
 *
 * @param isUnchanged - asked once nobody else can take it: whether all is still as the caller found it
 * @returns the lock; `changed` where it is not; `taken` while another process takes the lock, or mends the session
 * @throws the system's ENOENT where the folder is gone
 */
export function takeLock(
  folder: string,
  taker: Taker,
  isUnchanged: () => boolean,
  disk: Disk,
): SessionLock | "changed" | "taken" {
  const path = join(folder, lockFile);
  const file = disk.open(path, constants.O_RDWR | constants.O_CREAT, fileMode);
  let lock: SessionLock | undefined;
  try {
    const taken = disk.tryLock(file, lockedByte);
    const previous = disk.readFile(path);
    const fields = decodeOwnerRecord(previous);
    const isFree = fields === undefined || fields["released"] === true;
    if (!isSameFile(disk, file, path) || (taken === false && isFree)) return "taken";
    if (!isUnchanged()) return "changed";
    disk.setMode(file, fileMode);
    const isGone = fields?.["stealing"] !== true && (isFree || originOf(fields) === "here");
    if (taken !== true || !isGone) return replaceLock(folder, file, previous, taker, isUnchanged, disk);
    disk.truncate(file, Math.min(previous.length, recordBytes));
    lock = new SessionLock(file, previous, taker, disk);
    return lock;
  } finally {
    if (!lock) disk.close(file);
  }
}

/** Puts a new `.lock` in the place of the old, and a copy in the place of each log. */
function replaceLock(
  folder: string,
  old: number,
  previous: Buffer,
  taker: Taker,
  isUnchanged: () => boolean,
  disk: Disk,
): SessionLock | "taken" | "changed" {
  const path = join(folder, lockFile);
  if (disk.tryLock(old, stealingByte) === false || !isSameFile(disk, old, path)) return "taken";
  if (!isUnchanged()) return "changed";
  const draft = draftOf(path);
  const file = openNew(draft, disk);
  let lock: SessionLock | undefined;
  try {
    disk.tryLock(file, lockedByte);
    disk.tryLock(file, stealingByte);
    lock = new SessionLock(file, previous, taker, disk, { stealing: true });
    disk.syncDataNow(file);
    disk.rename(draft, path);
    syncFolderNow(folder, disk);
    // The last written first: what the old holder still adds to two logs is then never in the later one alone.
    for (const log of Object.values(kindFiles).toReversed()) renew(folder, log, lock, disk);
    syncFolderNow(folder, disk);
    lock.stolen();
    return lock;
  } catch (error) {
    remove(draft, disk);
    if (lock) lock.abandon();
    else disk.close(file);
    throw error;
  }
}

function renew(folder: string, log: string, lock: SessionLock, disk: Disk): void {
  const path = join(folder, log);
  if (!disk.exists(path)) return;
  const draft = draftOf(path);
  try {
    copyFile(path, draft, disk);
    lock.check();
    disk.rename(draft, path);
  } catch (error) {
    remove(draft, disk);
    throw error;
  }
}

/**
 * Takes the kernel's lock on a session without a word in `.lock`, to look at it or to mend it; undefined while a process
 * holds it. A folder without a `.lock` is held by nobody.
 *
 * @param make - whether `.lock` is made where there is none
 */
export function holdQuietly(folder: string, disk: Disk, make = false): { release(): void } | undefined {
  const path = join(folder, lockFile);
  let file: number;
  try {
    file = disk.open(path, make ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR, fileMode);
  } catch (error) {
    if (systemCode(error) === "ENOENT" && disk.exists(folder)) return { release: () => undefined };
    throw error;
  }
  try {
    const taken = disk.tryLock(file, lockedByte) ?? isReleased(folder, disk);
    if (taken && isSameFile(disk, file, path)) return { release: () => disk.close(file) };
  } catch (error) {
    disk.close(file);
    throw error;
  }
  disk.close(file);
  return undefined;
}

/** Says in `.lock` that a dead holder has let go. For who holds the session quietly. */
export function releaseRecord(folder: string, disk: Disk): void {
  const fields = decodeOwnerRecord(readOwnerRecord(folder, disk));
  if (!fields || fields["released"] === true) return;
  const file = disk.open(join(folder, lockFile), constants.O_RDWR);
  // Of a takeover that was cut short, the logs are still in reach of the holder before.
  const note: OwnerNote = { ...(fields["stealing"] === true && { stealing: true }), released: true };
  try {
    disk.write(file, encodeOwnerRecord(takerFrom(fields), note), 0, recordBytes, 0);
  } finally {
    disk.close(file);
  }
}

/** A session's lock, as somebody sees it who does not hold it. */
export interface LockLook {
  readonly generation: number;
  /** The process that has it, or died without letting go. */
  readonly holder: Taker | undefined;
  /** Whether that process lives, where the kernel can say so. */
  readonly isAlive: boolean | undefined;
  /** How long its record has been as it is, in milliseconds, as far as this process has seen. */
  readonly silentMs: number;
}

/** The records of holders that the kernel does not know, and since when they have not changed: two clocks are never compared. */
export class Leases {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly record: Buffer; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at a session's lock. A record that says it was released is believed; else the kernel is asked. */
  look(folder: string, disk: Disk): LockLook {
    const record = readOwnerRecord(folder, disk);
    const fields = decodeOwnerRecord(record);
    const generation = generationOf(record);
    if (!fields || fields["released"] === true)
      return { generation, holder: undefined, isAlive: undefined, silentMs: 0 };
    const isAlive = isAliveHere(folder, originOf(fields), disk);
    const silentMs = isAlive === undefined ? this.#silentMs(folder, record) : 0;
    return { generation, holder: takerFrom(fields), isAlive, silentMs };
  }

  #silentMs(folder: string, record: Buffer): number {
    const now = this.#clock.elapsed?.() ?? performance.now();
    const seen = this.#seen.get(folder);
    if (seen?.record.equals(record) === true) return now - seen.since;
    this.#seen.set(folder, { record, since: now });
    return 0;
  }
}

/** Whether the holder lives, by the kernel of this system; undefined where it cannot know. */
function isAliveHere(folder: string, origin: "here" | "before" | "elsewhere", disk: Disk): boolean | undefined {
  const path = join(folder, lockFile);
  let file: number | undefined;
  try {
    file = disk.open(path, constants.O_RDWR);
    const taken = disk.tryLock(file, lockedByte);
    if (taken === false) return true;
    return taken === undefined || origin === "elsewhere" ? undefined : false;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    if (systemCode(error) === "EACCES" || systemCode(error) === "EROFS") return undefined;
    throw error;
  } finally {
    if (file !== undefined) disk.close(file);
  }
}

/** A lock on a file that was unlinked or replaced in the meantime guards nothing. */
function isSameFile(disk: Disk, file: number, path: string): boolean {
  try {
    const now = disk.statPath(path);
    const held = disk.stat(file);
    return now.ino === held.ino && now.dev === held.dev;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}
