/** Reads the index a piece at a time, so that a large one keeps nobody waiting. */
import { constants } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Disk } from "../../disk/disk.ts";
import { eachEntry } from "./index-bytes.ts";
import type { EndEntry, IndexEntry } from "./index-file.ts";

/** Bytes that are read and parsed between two turns of the event loop. */
const pieceBytes = 1 << 19;

const lineEnd = 10;

/**
 * Gives the entries that the index has between two places, oldest first. An index that cannot be read has none.
 *
 * @param from - the byte to begin at
 * @param to - the byte to end before; a line that is cut there has no entry
 */
export async function readIndex(
  { path, from, to, disk }: { readonly path: string; readonly from: number; readonly to: number; readonly disk: Disk },
  take: (entry: IndexEntry | EndEntry) => void,
): Promise<void> {
  let file: number;
  try {
    file = disk.open(path, constants.O_RDONLY);
  } catch {
    return;
  }
  try {
    let bytes = Buffer.allocUnsafe(Math.min(pieceBytes, to - from));
    let at = from;
    while (at < to) {
      const read = await disk.readLater(file, bytes, 0, Math.min(bytes.length, to - at), at);
      const isLast = read === 0 || at + read === to;
      const whole = isLast ? read : bytes.lastIndexOf(lineEnd, read - 1) + 1;
      if (read === 0) return;
      if (whole === 0) {
        // The file became shorter, and ends within a line.
        if (read < bytes.length) return;
        // A line that is longer than the piece is read again with more room.
        bytes = Buffer.allocUnsafe(2 * bytes.length);
        continue;
      }
      eachEntry(bytes, whole, take);
      at += whole;
      await nextTurn();
    }
  } catch {
    // What could not be read is looked up in the folders.
  } finally {
    disk.close(file);
  }
}
