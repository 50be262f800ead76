/** The lines of any file of a store, compressed or not, also around damage in it. */
import { constants } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ArchiveFile } from "./archive-file.ts";
import type { Disk } from "../disk.ts";
import { systemDisk } from "../disk.ts";
import { readExactly } from "../read.ts";
import { archiveEnding } from "./archive-disk.ts";

/** Bytes read at once. */
const chunkBytes = 256 * 1024;

/** Bytes of a line that are looked at as one; what goes on behind them is a line of its own. */
const longestLine = 64 * 1024 * 1024;

const newline = 0x0a;

/**
 * The lines of a file; one that is gzipped is unpacked, whatever its name.
 *
 * @param missing - told what could not be unpacked
 * @throws WindrowError `store-corrupt` for a gzip file of which nothing can be unpacked
 */
export async function* plainLines(
  path: string,
  missing: (message: string) => void,
  disk: Disk = systemDisk,
): AsyncGenerator<string> {
  const file = disk.open(path, constants.O_RDONLY);
  try {
    const head = readExactly(file, 0, 2, disk);
    const isPacked = path.endsWith(archiveEnding) || (head[0] === 0x1f && head[1] === 0x8b);
    const packed = isPacked ? new ArchiveFile(file, path, disk) : undefined;
    const size = packed?.size ?? disk.stat(file).size;
    yield* linesOf(size, (into, at) =>
      packed ? packed.read(into, 0, into.length, at) : disk.read(file, into, 0, into.length, at),
    );
    for (const { member, offset, length } of packed?.damage() ?? []) {
      missing(`Member ${member}, bytes ${offset} to ${offset + length}, could not be unpacked and was not looked at.`);
    }
  } finally {
    disk.close(file);
  }
}

async function* linesOf(size: number, read: (into: Buffer, at: number) => number): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let length = 0;
  const text = (): string => {
    const line = Buffer.concat(held).toString("utf8");
    [held, length] = [[], 0];
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  };
  for (let at = 0; at < size;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - at));
    const got = read(chunk, at);
    if (got === 0) break;
    at += got;
    // Others have their turn between two pieces.
    await nextTurn();
    let from = 0;
    for (let stop = chunk.indexOf(newline); stop >= 0 && stop < got; stop = chunk.indexOf(newline, from)) {
      held.push(chunk.subarray(from, stop));
      from = stop + 1;
      yield text();
    }
    if (from < got) held.push(chunk.subarray(from, got));
    length += got - from;
    if (length > longestLine) yield text();
  }
  if (held.length > 0) yield text();
}
