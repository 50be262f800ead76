/** The place of a number in a log, found by bisecting the bytes of its file. */
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { readExactly } from "../../disk/read.ts";
import { numberOf, parseLine } from "./lines.ts";

const newline = 0x0a;
/** Bytes of one look at a file. A line's number stands within its first {@link headBytes}. */
const lookBytes = 8 * 1024;
const headBytes = 40;
/** A stretch this short is read once: a dozen looks cost more. */
const stretchBytes = 64 * 1024;

/**
 * The offset of the first line between `start` and `end` with a `seq` of at least this, else `end`. Bisects: lines
 * carry rising numbers. Lines that cannot be read are stepped over.
 *
 * @param start - where a line starts
 */
export function offsetOfSeq(file: number, start: number, end: number, seq: number, disk: Disk = systemDisk): number {
  const bytes = new LookedAt(file, end, disk);
  let low = start;
  let high = end;
  while (low < high) {
    if (high - low <= stretchBytes) bytes.look(low, high - low + lookBytes);
    const middle = Math.floor((low + high) / 2);
    let line = middle <= low ? low : bytes.nextLine(middle - 1, high);
    let found = line < high ? bytes.seqAt(line) : undefined;
    while (line < high && found === undefined) {
      line = bytes.nextLine(line, high);
      if (line < high) found = bytes.seqAt(line);
    }
    if (found === undefined || found >= seq) high = middle;
    else low = bytes.nextLine(line, end);
  }
  return low;
}

/** A file's bytes before `end`, with the stretch that was read last. */
class LookedAt {
  readonly #file: number;
  readonly #end: number;
  readonly #disk: Disk;
  #from = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(file: number, end: number, disk: Disk) {
    this.#file = file;
    this.#end = end;
    this.#disk = disk;
  }

  /** The bytes from `at` on: at least `length` of them where the file has as many. Reads what is not held. */
  look(at: number, length: number): Buffer {
    const wanted = Math.min(length, this.#end - at);
    const inside = at - this.#from;
    if (inside < 0 || inside + wanted > this.#bytes.length) {
      this.#from = at;
      this.#bytes = readExactly(this.#file, at, Math.min(Math.max(lookBytes, wanted), this.#end - at), this.#disk);
      return this.#bytes;
    }
    return this.#bytes.subarray(inside);
  }

  /** The offset behind the first newline at or behind `from`; `end` when there is none before it. */
  nextLine(from: number, end: number): number {
    for (let at = from; at < end;) {
      const bytes = this.look(at, 1);
      if (bytes.length === 0) break;
      const found = bytes.indexOf(newline);
      if (found >= 0) return Math.min(end, at + found + 1);
      at += bytes.length;
    }
    return end;
  }

  /** The number of the line at an offset. */
  seqAt(line: number): number | undefined {
    const head = this.look(line, headBytes).toString("latin1", 0, headBytes);
    const written = /^\{"seq":(\d{1,15}),/.exec(head);
    if (written) return Number(written[1]);
    const length = this.nextLine(line, this.#end) - line;
    const bytes = this.look(line, length).subarray(0, length);
    const [object] = parseLine(bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes).objects;
    return object && numberOf(object);
  }
}
