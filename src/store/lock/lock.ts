/**
 * The lock of a session: one writer at a time. The kernel holds it on the visible `.lock` file and releases it when the
 * process dies; the JSON in the file names the holder. Its `generation` rises with every acquisition and is read before
 * every acknowledgement, so that a holder that was passed over writes nothing more.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { Clock } from "../shared/clock.ts";
import { fenced } from "../shared/unlock.ts";
import { timestamp } from "../shared/clock.ts";
import type { Holding, LockOwner } from "../store.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { lockFile } from "./owner-record.ts";
import { fileMode, systemCode } from "../../disk/safe-write.ts";
import type { SeededFault } from "../shared/internals.ts";
import { encodeOwnerRecord, generationOf, ownerOf, readOwner, readOwnerRecord, recordBytes } from "./owner-record.ts";
import { decodeOwnerRecord } from "./owner-record.ts";
import type { OwnerNote } from "./owner-record.ts";

export { readOwner } from "./owner-record.ts";

/** The kernel's lock is on one byte behind the record, so that the record can be read on every system. */
export const lockedByte = 4096;

/** How often the holder says that it is alive, in milliseconds. */
const heartbeatMs = 30_000;

/** The clock and the disk of a lock. */
export interface LockTools {
  readonly clock: Clock;
  readonly disk: Disk;
  /** A known fault, for tests that must find it. */
  readonly fault?: SeededFault;
}

/** A session's `.lock`, held. */
export class SessionLock {
  /** Whether the holder before this one let go in order; if not, it died, or never was. */
  readonly predecessorReleased: boolean;
  readonly #file: number;
  readonly #tools: LockTools;
  readonly #stopHeartbeat: () => void;
  #owner: LockOwner;
  #note: OwnerNote;
  #written: Buffer = Buffer.alloc(0);
  #fenced = false;
  #closed = false;

  /**
   * The record is written, and durable once {@link SessionLock.sync} or {@link SessionLock.syncNow} was called.
   *
   * @param file - `.lock`, open for reading and writing, the kernel's lock taken
   * @param previous - what the file says of the holder before
   */
  constructor(file: number, previous: Buffer, tools: LockTools, note: OwnerNote = {}) {
    this.#file = file;
    this.#tools = tools;
    this.#note = note;
    this.predecessorReleased = decodeOwnerRecord(previous)?.["released"] === true;
    this.#owner = ownerOf(timestamp(tools.clock), generationOf(previous) + 1);
    this.#write();
    this.#stopHeartbeat = tools.clock.every(heartbeatMs, () => this.heartbeat());
  }

  /** The holder, with the latest heartbeat. */
  get owner(): LockOwner {
    return this.#owner;
  }

  /**
   * Makes sure that nobody took the session over.
   *
   * @throws WindrowError `fenced`
   */
  check(): void {
    if (this.#tools.fault === "no-generation-check") return;
    if (!this.#fenced && this.#isMine()) return;
    this.#fenced = true;
    throw fenced({ owner: this.#owner });
  }

  /** Says in the file that the holder is alive. Does nothing once it was passed over. */
  heartbeat(): void {
    if (this.#closed || !this.#isMine()) return;
    this.#owner = { ...this.#owner, heartbeatAt: timestamp(this.#tools.clock) };
    this.#write();
  }

  /** Makes the record durable. A lock whose record cannot be is abandoned. */
  async sync(): Promise<void> {
    try {
      await this.#tools.disk.sync(this.#file);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** As {@link SessionLock.sync}, at once. */
  syncNow(): void {
    try {
      this.#tools.disk.syncDataNow(this.#file);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** The logs are out of reach of the holder it was taken from: says so in the file, durably. */
  stolen(): void {
    this.#note = {};
    this.check();
    this.#write();
    this.#tools.disk.syncDataNow(this.#file);
  }

  /** Lets go. Idempotent. */
  release(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeat();
    try {
      this.#note = { ...this.#note, released: true };
      if (this.#isMine()) this.#write();
    } finally {
      this.#tools.disk.close(this.#file);
    }
  }

  /** Releases the kernel's lock and leaves the owner's record, as a dying process does. For a lock that was taken only in part. */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeat();
    this.#tools.disk.close(this.#file);
  }

  /** Mine: the record has my number, and the file is still the one that `.lock` names. */
  #isMine(): boolean {
    const { disk } = this.#tools;
    const found = Buffer.allocUnsafe(recordBytes);
    const length = disk.read(this.#file, found, 0, recordBytes, 0);
    const same = length === this.#written.length && found.equals(this.#written);
    if (!same && generationOf(found.subarray(0, length)) !== this.#owner.generation) return false;
    return disk.stat(this.#file).nlink > 0;
  }

  #write(): void {
    this.#written = encodeOwnerRecord(this.#owner, this.#note);
    this.#tools.disk.write(this.#file, this.#written, 0, recordBytes, 0);
  }
}

/** `.lock` open, with the kernel's lock on it where the system has such. */
export interface LockFile {
  readonly file: number;
  /** False where the system has no kernel locks. */
  readonly kernel: boolean;
  readonly previous: Buffer;
}

/**
 * Opens a session's `.lock` and takes the kernel's lock on it.
 *
 * @throws WindrowError `session-busy` with the owner, while another process holds it; a system error ENOENT when the
 *   folder is gone
 */
export function openLockFile(folder: string, disk: Disk): LockFile {
  const path = join(folder, lockFile);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const file = disk.open(path, constants.O_RDWR | constants.O_CREAT, fileMode);
    try {
      const taken = disk.tryLock(file, lockedByte);
      if (taken === false) throw busy(folder, disk);
      if (isSameFile(disk, file, path)) {
        disk.setMode(file, fileMode);
        return { file, kernel: taken === true, previous: disk.readFile(path) };
      }
    } catch (error) {
      disk.close(file);
      throw error;
    }
    disk.close(file);
  }
  throw busy(folder, disk);
}

/** Takes an open lock over, in place: the holder before is gone. */
export function takeOver({ file, previous }: LockFile, tools: LockTools): SessionLock {
  const { disk } = tools;
  try {
    disk.truncate(file, Math.min(disk.stat(file).size, recordBytes));
    return new SessionLock(file, previous, tools);
  } catch (error) {
    disk.close(file);
    throw error;
  }
}

/**
 * Takes the kernel's lock on a session without a word in `.lock`, to look at it or to mend it; undefined while held.
 * The system's ENOENT where there is no `.lock`, unless it is to be made.
 */
export function holdQuietly(folder: string, make = false, disk: Disk = systemDisk): { release(): void } | undefined {
  const path = join(folder, lockFile);
  const file = disk.open(path, make ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR, fileMode);
  try {
    const taken = disk.tryLock(file, lockedByte) ?? readOwnerRecord(folder, disk)?.["released"] === true;
    if (taken && isSameFile(disk, file, path)) return { release: () => disk.close(file) };
  } catch (error) {
    disk.close(file);
    throw error;
  }
  disk.close(file);
  return undefined;
}

/**
 * Whether a process writes a session. A record that says it was released is believed; else the kernel is asked, which
 * takes its lock for an instant.
 */
export function holderOf(folder: string, disk: Disk = systemDisk): Holding {
  const owner = readOwner(folder, disk);
  const about = owner ? { owner } : {};
  if (readOwnerRecord(folder, disk)?.["released"] === true) return { state: "none", ...about };
  try {
    const held = holdQuietly(folder, false, disk);
    held?.release();
    return { state: held ? "gone" : "held", ...about };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { state: "none" };
    throw error;
  }
}

/**
 * The refusal of a lock that another process holds.
 *
 * @param retryAfterMs - when it may be worth another try, where that is known
 */
export function busy(folder: string, disk: Disk, retryAfterMs?: number): WindrowError {
  // The record still names the previous holder; the new one has not written its record yet, so it has no name.
  const hasLetGo = readOwnerRecord(folder, disk)?.["released"] === true;
  const owner = hasLetGo ? undefined : readOwner(folder, disk);
  const who = owner ? `process ${owner.processId} on ${owner.hostname} since ${owner.acquiredAt}` : "another process";
  return new WindrowError(
    "session-busy",
    `This session is being written by ${who}. Wait until it is done, or open the session for reading.`,
    {
      path: join(folder, lockFile),
      ...(owner ? { owner: { ...owner, since: owner.acquiredAt } } : {}),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
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
