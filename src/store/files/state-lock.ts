/** `.state.lock`: one process at a time reads, changes and replaces state.json (docs/format.md). */
import { constants } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../errors.ts";
import type { Clock } from "../shared/clock.ts";
import type { Disk } from "../../disk/disk.ts";
import { stateLockFile } from "./layout.ts";
import { fileMode } from "../../disk/safe-write.ts";

/** How long the lock is waited for before the change is given up, in milliseconds. */
const timeoutMs = 5_000;

/** How often it is tried meanwhile, in milliseconds. */
const retryMs = 50;

/**
 * Runs a change of state.json while nobody else makes one.
 *
 * @throws WindrowError `session-busy` when another process holds `.state.lock` for 5 seconds; nothing was changed
 */
export async function withStateLock(
  folder: string,
  disk: Disk,
  clock: Clock,
  change: () => Promise<void>,
): Promise<void> {
  const path = join(folder, stateLockFile);
  const file = disk.open(path, constants.O_RDWR | constants.O_CREAT, fileMode);
  try {
    disk.setMode(file, fileMode);
    if (disk.tryLock(file, 0) === false) await untilFree(disk, clock, file, path);
    await change();
  } finally {
    disk.close(file);
  }
}

function untilFree(disk: Disk, clock: Clock, file: number, path: string): Promise<void> {
  const started = clock.now();
  return new Promise((resolve, reject) => {
    const stop = clock.every(retryMs, () => {
      try {
        if (disk.tryLock(file, 0) !== false) return end(resolve);
      } catch (error) {
        return end(() => reject(error));
      }
      if (clock.now() - started >= timeoutMs) end(() => reject(stateBusy(path)));
    });
    function end(settle: () => void): void {
      stop();
      settle();
    }
  });
}

function stateBusy(path: string): WindrowError {
  return new WindrowError(
    "session-busy",
    `Another process has held ${path} for ${timeoutMs / 1_000} seconds, so the state was not changed. Try again.`,
    { path, timeoutMs },
  );
}
