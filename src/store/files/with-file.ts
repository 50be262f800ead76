/** Reading a file that may not be there. */
import { constants } from "node:fs";
import type { Disk } from "../../disk/disk.ts";
import { systemCode } from "../../disk/safe-write.ts";

/** Works with a file that is opened for reading; nothing happens where there is none. */
export async function withFile<T>(
  path: string,
  disk: Disk,
  work: (file: number) => Promise<T> | T,
): Promise<T | undefined> {
  let file: number;
  try {
    file = disk.open(path, constants.O_RDONLY);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return await work(file);
  } finally {
    disk.close(file);
  }
}
