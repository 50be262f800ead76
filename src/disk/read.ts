/** Reading a stretch of a file. */
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";

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
