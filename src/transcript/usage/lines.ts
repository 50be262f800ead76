/** Lines of a file that hold given strings, found without reading the others as text. */
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/** Bytes that are read at a time. */
const chunkBytes = 1 << 20;
/** A longer line is passed over: no agent writes one, and it would have to be held as a whole. */
const longestLine = 64 << 20;
const newline = 0x0a;

/** Options of {@link linesWith}. */
export interface LineOptions {
  /** A line is told where it holds all strings of one of these lists. */
  readonly needles: readonly (readonly string[])[];
  /** Takes the text of a line. */
  readonly onLine: (text: string) => void;
  /** Called with the bytes of each piece that was read. */
  readonly onBytes?: (bytes: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Tells the lines of a file that hold the strings. One piece of the file is in memory at a time, and the line it ends in.
 *
 * @throws what the system throws, and the signal's reason
 */
export async function linesWith(path: string, options: LineOptions): Promise<void> {
  const file = await open(path, "r");
  try {
    await scan(file, options);
  } finally {
    await file.close();
  }
}

async function scan(file: FileHandle, { needles, onLine, onBytes, signal }: LineOptions): Promise<void> {
  const finder = new LineFinder(needles, onLine);
  let buffer = Buffer.allocUnsafe(chunkBytes);
  let held = 0;
  let skipping = false;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, held, buffer.length - held);
    onBytes?.(bytesRead);
    const filled = held + bytesRead;
    const ended = bytesRead === 0;
    const end = ended ? filled : buffer.subarray(0, filled).lastIndexOf(newline) + 1;
    const start = skipping ? buffer.subarray(0, end).indexOf(newline) + 1 : 0;
    if (end > 0 && !(skipping && start === 0)) {
      finder.find(buffer.subarray(start, end));
      skipping = false;
    }
    if (ended) return;
    buffer.copyWithin(0, end, filled);
    held = filled - end;
    if (held < buffer.length) continue;
    if (buffer.length < longestLine) buffer = Buffer.concat([buffer], Math.min(longestLine, 2 * buffer.length));
    else [held, skipping] = [0, true];
  }
}

class LineFinder {
  readonly #lists: readonly (readonly Buffer[])[];
  readonly #onLine: (text: string) => void;

  constructor(needles: readonly (readonly string[])[], onLine: (text: string) => void) {
    this.#lists = needles.map((list) => list.map((needle) => Buffer.from(needle)));
    this.#onLine = onLine;
  }

  /** Finds the lines in whole lines. */
  find(bytes: Buffer): void {
    const next = this.#lists.map(() => -1);
    for (let from = 0; from < bytes.length;) {
      const hit = this.#hit(bytes, from, next);
      if (hit === undefined) return;
      const start = bytes.lastIndexOf(newline, hit) + 1;
      const found = bytes.indexOf(newline, hit);
      const end = found < 0 ? bytes.length : found;
      const line = bytes.subarray(Math.max(start, from), end);
      if (this.#lists.some((list) => list.every((needle) => line.includes(needle))))
        this.#onLine(line.toString("utf8"));
      from = end + 1;
    }
  }

  /** The first place from there on that holds the first string of a list. */
  #hit(bytes: Buffer, from: number, next: number[]): number | undefined {
    let first = Infinity;
    for (const [place, list] of this.#lists.entries()) {
      if ((next[place] as number) < from) {
        const at = bytes.indexOf(list[0] as Buffer, from);
        next[place] = at < 0 ? Infinity : at;
      }
      first = Math.min(first, next[place] as number);
    }
    return Number.isFinite(first) ? first : undefined;
  }
}
