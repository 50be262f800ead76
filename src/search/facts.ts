/** The facts about each message of an index: twelve bytes at the place of its number, in memory and in one file. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { fileMode, systemCode } from "../disk/safe-write.ts";

/** The facts of a message. */
export interface MessageFacts {
  /** Terms of its text. */
  readonly length: number;
  /** Seconds since 1970. */
  readonly time: number;
  /** Characters of its text. */
  readonly size: number;
  /** Whether it is what a user said. */
  readonly isUser: boolean;
}

const words = 3;
const bytesEach = 4 * words;

/** The length stands in the lower bits of its word. */
const mostLength = 0xffffff;
const userBit = 1 << 24;

/** The facts of an index's messages, by number. */
export class Facts {
  readonly #path: string | undefined;
  #values = new Uint32Array(256 * words);
  /** Numbers from this one on are not in the file yet. */
  #written = 0;
  #next = 0;

  /** @param path - of the file; without one they are in memory alone */
  constructor(path?: string) {
    this.#path = path;
  }

  /** Terms of a message. */
  length(number: number): number {
    return this.#values[words * number]! & mostLength;
  }

  /** Whether a message is what a user said. */
  isUser(number: number): boolean {
    return (this.#values[words * number]! & userBit) !== 0;
  }

  /** Seconds since 1970. */
  time(number: number): number {
    return this.#values[words * number + 1]!;
  }

  /** Characters of a message. */
  size(number: number): number {
    return this.#values[words * number + 2]!;
  }

  /** Whether there is nothing about a message, as after a power cut: each has a time. */
  isBlank(number: number): boolean {
    return this.#values.subarray(words * number, words * (number + 1)).every((one) => one === 0);
  }

  /** Takes the facts of a new message. */
  set(number: number, { length, time, size, isUser }: MessageFacts): void {
    this.#room(number + 1);
    const first = Math.min(mostLength, length) | (isUser ? userBit : 0);
    this.#values.set([first, Math.max(0, time), size], words * number);
  }

  /**
   * Begins anew at a number: reads what the file has before it.
   *
   * @returns the number up to which the file has them
   */
  read(next: number): number {
    const from = Math.min(this.#written, next);
    this.#room(next);
    this.#next = this.#written = next;
    if (this.#path === undefined || from === next) return next;
    let file: number;
    try {
      file = openSync(this.#path, constants.O_RDONLY);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return from;
      throw error;
    }
    try {
      const into = Buffer.from(this.#values.buffer, from * bytesEach, (next - from) * bytesEach);
      let done = 0;
      while (done < into.length) {
        const got = readSync(file, into, done, into.length - done, from * bytesEach + done);
        if (got === 0) break;
        done += got;
      }
      into.fill(0, done);
      return from + Math.floor(done / bytesEach);
    } finally {
      closeSync(file);
    }
  }

  /** Writes what is new. */
  flush(): void {
    if (this.#path === undefined || this.#written === this.#next) return;
    this.#write(this.#written, this.#next);
    this.#written = this.#next;
  }

  /** Forgets a stretch of messages, also in the file. */
  wipe(from: number, count: number): void {
    this.#values.fill(0, words * from, words * (from + count));
    if (this.#path !== undefined) this.#write(from, from + count);
  }

  /** Forgets everything in memory. */
  drop(): void {
    this.#written = this.#next = 0;
  }

  #write(from: number, to: number): void {
    const file = openSync(this.#path ?? "", constants.O_RDWR | constants.O_CREAT, fileMode);
    try {
      if (fstatSync(file).size === 0) fchmodSync(file, fileMode);
      const bytes = Buffer.from(this.#values.buffer, from * bytesEach, (to - from) * bytesEach);
      for (let done = 0; done < bytes.length;) {
        done += writeSync(file, bytes, done, bytes.length - done, from * bytesEach + done);
      }
    } finally {
      closeSync(file);
    }
  }

  #room(next: number): void {
    this.#next = Math.max(this.#next, next);
    if (words * next <= this.#values.length) return;
    const grown = new Uint32Array(Math.max(2 * this.#values.length, words * next));
    grown.set(this.#values);
    this.#values = grown;
  }
}
