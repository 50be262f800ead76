/**
 * Taking a session's lock: at once where the kernel says that its holder is gone; after a minute without a sign of life
 * where only its heartbeat tells (another host, or a system without kernel locks); by force where a caller asks for it.
 *
 * A holder that may live is fenced: `.lock` is replaced by a new file with the next generation, durably, and then each
 * log by a copy. A holder that still saw its own generation wrote before that, hence before the copy; whatever it
 * writes later goes into files that nobody reads.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isWindrowError } from "../../errors.ts";
import type { Clock } from "../shared/clock.ts";
import { kindFiles } from "../format/logs.ts";
import type { Disk } from "../../disk/disk.ts";
import { lockFile } from "./owner-record.ts";
import { copyFile, draftOf, openNew, remove, syncFolderNow, systemCode } from "../../disk/safe-write.ts";
import { SessionLock, busy, lockedByte, openLockFile, takeOver } from "./lock.ts";
import type { LockFile, LockTools } from "./lock.ts";
import { decodeOwnerRecord, originOf } from "./owner-record.ts";

/** How long a holder that cannot be asked may be silent, in milliseconds. */
export const leaseMs = 60_000;

/** The kernel's lock on this byte of `.lock` makes those who steal come one after the other. */
const stealingByte = 4097;

/** The records of holders that cannot be asked, and since when they have not changed: never two wall clocks compared. */
export class Leases {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { readonly record: Buffer; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long, in milliseconds, a holder has to stay silent until its lease is over; 0 when it is. */
  left(folder: string, record: Buffer): number {
    const now = this.#clock.elapsed?.() ?? performance.now();
    const seen = this.#seen.get(folder);
    if (seen?.record.equals(record) !== true) {
      this.#seen.set(folder, { record, since: now });
      return leaseMs;
    }
    return Math.max(0, seen.since + leaseMs - now);
  }
}

/**
 * Takes a session's lock.
 *
 * @throws WindrowError `session-busy` with the owner, while another process holds it or may; a system error ENOENT when
 *   the folder is gone
 */
export function acquire(folder: string, tools: LockTools, leases = new Leases(tools.clock)): SessionLock {
  const lock = taken(folder, tools, leases);
  lock.syncNow();
  return lock;
}

/** Takes a lock whose record may not be durable yet. */
function taken(folder: string, tools: LockTools, leases: Leases): SessionLock {
  const { disk } = tools;
  const opened = openLockFile(folder, disk);
  const fields = decodeOwnerRecord(opened.previous);
  const released = fields === undefined || fields["released"] === true;
  const origin = fields ? originOf(fields) : "here";
  const stealing = fields?.["stealing"] === true;
  if (opened.kernel && !stealing && (released || origin === "here")) return takeOver(opened, tools);
  const silent = opened.kernel ? origin !== "elsewhere" || released : released;
  const left = silent ? 0 : leases.left(folder, opened.previous);
  if (left > 0) {
    disk.close(opened.file);
    throw busy(folder, disk, Math.ceil(left));
  }
  return replaceLock(folder, opened, tools);
}

/**
 * As {@link acquire}. A holder that took the lock just now has yet to write its name: the lock is asked for again, so
 * that the refusal can name the holder.
 *
 * @throws WindrowError as {@link acquire}
 */
export async function acquireNamed(folder: string, tools: LockTools, leases: Leases): Promise<SessionLock> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const lock = taken(folder, tools, leases);
      // Many sessions may begin at once: nobody else waits for the disk.
      await lock.sync();
      return lock;
    } catch (error) {
      const isNamed = !isWindrowError(error, "session-busy") || error.data["owner"] !== undefined;
      if (isNamed || attempt === 5) throw error;
      await sleep(2);
    }
  }
}

/** Takes a session's lock from whoever has it. The caller decides that this is wanted. */
export function steal(folder: string, tools: LockTools): SessionLock {
  const { disk } = tools;
  const path = join(folder, lockFile);
  const file = disk.open(path, constants.O_RDWR);
  return replaceLock(folder, { file, kernel: true, previous: disk.readFile(path) }, tools);
}

/** Puts a new `.lock` in the place of the old, and a copy in the place of each log. */
function replaceLock(folder: string, old: LockFile, tools: LockTools): SessionLock {
  const { disk } = tools;
  const path = join(folder, lockFile);
  try {
    if (disk.tryLock(old.file, stealingByte) === false || disk.statPath(path).ino !== disk.stat(old.file).ino) {
      throw busy(folder, disk);
    }
    const draft = draftOf(path);
    const file = openNew(draft, disk);
    let lock: SessionLock | undefined;
    try {
      disk.tryLock(file, lockedByte);
      disk.tryLock(file, stealingByte);
      lock = new SessionLock(file, old.previous, tools, { stealing: true });
      disk.syncDataNow(file);
      disk.rename(draft, path);
      syncFolderNow(folder, disk);
      // The last written first: what the old holder still adds to two logs is then never in the later one alone.
      for (const log of Object.values(kindFiles).toReversed()) renew(folder, log, lock, disk);
      syncFolderNow(folder, disk);
      lock.stolen();
      disk.unlock(file, stealingByte);
      return lock;
    } catch (error) {
      remove(draft, disk);
      if (lock) lock.abandon();
      else disk.close(file);
      throw error;
    }
  } finally {
    disk.close(old.file);
  }
}

function renew(folder: string, log: string, lock: SessionLock, disk: Disk): void {
  const path = join(folder, log);
  const draft = draftOf(path);
  try {
    copyFile(path, draft, disk);
  } catch (error) {
    remove(draft, disk);
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  lock.check();
  disk.rename(draft, path);
}
