/** Work in a store that no other process may do at the same time. */
import { constants } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WindrowError } from "../../errors.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemCode } from "../../disk/safe-write.ts";

/** The file that is locked meanwhile. */
const upkeepFile = ".upkeep.lock";

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
export async function alone<T>(base: string, disk: Disk, work: () => Promise<T>): Promise<T> {
  const file = disk.open(join(base, upkeepFile), constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    for (let waited = 0; disk.tryLock(file, upkeepByte) === false; waited += tryEveryMs) {
      if (waited >= patienceMs) {
        const message = "Another process is cleaning or erasing in this store; nothing was changed. Try again later.";
        throw new WindrowError("store-unavailable", message, { path: base });
      }
      await wait(tryEveryMs);
    }
    return await work();
  } finally {
    disk.close(file);
  }
}

/** Runs work that changes nothing behind what other processes are at, where they can be waited for. */
export async function behindOthers<T>(base: string, disk: Disk, work: () => Promise<T>): Promise<T> {
  if (!disk.exists(join(base, upkeepFile))) return work();
  return alone(base, disk, work).catch(async (error: unknown) => {
    if (systemCode(error) === undefined) throw error;
    return work();
  });
}
