/** Reading a file. */
import { constants } from "node:fs";
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";
import { systemCode } from "./safe-write.ts";

/** Bytes of a file; fewer than asked for only where the file ends. */
export function readExactly(file: number, offset: number, length: number, disk: Disk = systemDisk): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const got = disk.read(file, bytes, done, length - done, offset + done);
    if (got === 0) break;
    done += got;
  }
  return done === length ? bytes : bytes.subarray(0, done);
}

/** Works with a file that is opened for reading; does nothing if there is none. */
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
