/**
 * Postings: which message holds which term, and how often. They lie in 256 files by a term's hash, eight bytes each, in
 * the order in which they were added; those that are not written yet, or never are, are held in memory.
 */
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, openSync, readSync, renameSync } from "node:fs";
import { statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileMode, systemCode } from "../disk/safe-write.ts";

/** The messages that hold one term, in the order in which they were added. */
export interface Posted {
  readonly numbers: Uint32Array;
  /** How often each holds it, at most 255. */
  readonly counts: Uint8Array;
}

/** Files of one index. */
export const shards = 256;

const postingBytes = 8;
const mostCounted = 255;
const toAppend = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/** The postings of an index. */
export class Postings {
  readonly #folder: string | undefined;
  /** By shard: pairs of a hash's upper 24 bits with a count, and a message's number; how many words of it are used. */
  readonly #held: (Uint32Array | undefined)[] = [];
  readonly #used = new Uint32Array(shards);
  #heldCount = 0;
  /** Postings of the files count up to this number: those behind it are another process's, or of one that died. */
  #next = 0;
  #buffer = new ArrayBuffer(0);

  /** @param folder - of the files; without one everything is held in memory */
  constructor(folder?: string) {
    this.#folder = folder;
  }

  /** Postings that are held in memory. */
  get held(): number {
    return this.#heldCount;
  }

  /** Adds a message to a term. */
  add(term: string, number: number, count: number): void {
    const hash = hashOf(term);
    const shard = hash % shards;
    const used = this.#used[shard] ?? 0;
    let held = this.#held[shard];
    if (!held || used + 2 > held.length) {
      const grown = new Uint32Array(Math.max(16, 2 * used));
      if (held) grown.set(held);
      this.#held[shard] = held = grown;
    }
    held[used] = (hash & ~mostCounted) | Math.min(mostCounted, count);
    held[used + 1] = number;
    this.#used[shard] = used + 2;
    this.#heldCount++;
  }

  /** The messages that hold these terms; one answer for each. Two terms of one hash are taken for the same. */
  find(terms: readonly string[]): readonly Posted[] {
    const found = terms.map(() => new Matches());
    const hashes = terms.map((term) => hashOf(term));
    for (const shard of new Set(hashes.map((hash) => hash % shards))) {
      const held = this.#held[shard]?.subarray(0, this.#used[shard]);
      const wanted = hashes.flatMap((hash, place) => (hash % shards === shard ? [{ hash, into: found[place]! }] : []));
      const written = this.#next === 0 ? undefined : this.#read(shard);
      if (written) for (const { hash, into } of wanted) into.take(written, hash, this.#next);
      if (held) for (const { hash, into } of wanted) into.take(held, hash, Infinity);
    }
    return found.map((matches) => matches.done());
  }

  /** Writes what is held, which stays in memory until it is {@link written}. */
  write(): void {
    if (this.#folder === undefined) return;
    for (let shard = 0; shard < shards; shard++) {
      const used = this.#used[shard] ?? 0;
      const held = this.#held[shard];
      if (!held || used === 0) continue;
      const file = openSync(this.#path(shard), toAppend, fileMode);
      try {
        const { size } = fstatSync(file);
        if (size === 0) fchmodSync(file, fileMode);
        // A process that died in a write may have left a part of a posting.
        if (size % postingBytes !== 0) ftruncateSync(file, size - (size % postingBytes));
        const bytes = Buffer.from(held.buffer, 0, 4 * used);
        for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
      } finally {
        closeSync(file);
      }
    }
  }

  /** The files have all postings of messages before a number: what is held is given up. */
  written(next: number): void {
    this.drop();
    this.#next = next;
  }

  /** Gives up what is held, and what the files have. */
  drop(): void {
    this.#held.length = 0;
    this.#used.fill(0);
    this.#heldCount = this.#next = 0;
  }

  /** Bytes of all files. */
  bytes(): number {
    let sum = 0;
    for (let shard = 0; shard < shards && this.#folder !== undefined; shard++) {
      sum += statSync(this.#path(shard), { throwIfNoEntry: false })?.size ?? 0;
    }
    return sum;
  }

  /** Whether a file ends with zeros, as one may after a power cut. A posting has a count of at least 1. */
  get isBlank(): boolean {
    const last = Buffer.alloc(postingBytes);
    for (let shard = 0; shard < shards && this.#folder !== undefined; shard++) {
      const { size } = statSync(this.#path(shard), { throwIfNoEntry: false }) ?? { size: 0 };
      if (size < postingBytes) continue;
      const file = openSync(this.#path(shard), constants.O_RDONLY);
      try {
        readSync(file, last, 0, postingBytes, size - (size % postingBytes) - postingBytes);
      } finally {
        closeSync(file);
      }
      if (last.every((byte) => byte === 0)) return true;
    }
    return false;
  }

  /** The largest number of a message in the files; -1 for none. */
  largest(): number {
    let largest = -1;
    for (let shard = 0; shard < shards; shard++) {
      const postings = this.#read(shard) ?? [];
      for (let place = 1; place < postings.length; place += 2) largest = Math.max(largest, postings[place]!);
    }
    return largest;
  }

  /**
   * Writes every file anew that has postings of messages that are to go.
   *
   * @returns the files that were written
   */
  keep(stays: (number: number) => boolean): readonly string[] {
    const changed: string[] = [];
    for (let shard = 0; shard < shards; shard++) {
      const postings = this.#read(shard);
      if (!postings) continue;
      const left = new Uint32Array(postings.length);
      let used = 0;
      for (let place = 0; place + 1 < postings.length; place += 2) {
        if (!stays(postings[place + 1]!)) continue;
        left[used++] = postings[place]!;
        left[used++] = postings[place + 1]!;
      }
      if (used === postings.length) continue;
      const path = this.#path(shard);
      writeFileSync(`${path}.new`, Buffer.from(left.buffer, 0, 4 * used), { mode: fileMode });
      renameSync(`${path}.new`, path);
      changed.push(path);
    }
    return changed;
  }

  /** The words of a file; valid until the next one is read. */
  #read(shard: number): Uint32Array | undefined {
    if (this.#folder === undefined) return undefined;
    let file: number;
    try {
      file = openSync(this.#path(shard), constants.O_RDONLY);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
    try {
      const { size } = fstatSync(file);
      if (this.#buffer.byteLength < size) this.#buffer = new ArrayBuffer(2 * size);
      const bytes = new Uint8Array(this.#buffer);
      let done = 0;
      while (done < size) {
        const got = readSync(file, bytes, done, size - done, done);
        if (got === 0) break;
        done += got;
      }
      return new Uint32Array(this.#buffer, 0, (done - (done % postingBytes)) / 4);
    } finally {
      closeSync(file);
    }
  }

  #path(shard: number): string {
    return join(this.#folder ?? "", `${shard.toString(16).padStart(2, "0")}.postings`);
  }
}

/** The matches of one term while they are collected. */
class Matches {
  #numbers = new Uint32Array(64);
  #counts = new Uint8Array(64);
  #used = 0;

  /** Takes those of a hash from a list of postings, of messages before a number. */
  take(list: Uint32Array, hash: number, next: number): void {
    const upper = hash & ~mostCounted;
    for (let place = 0; place < list.length; place += 2) {
      const word = list[place]!;
      if (((word ^ upper) & ~mostCounted) !== 0) continue;
      if (list[place + 1]! >= next) continue;
      if (this.#used === this.#numbers.length) this.#grow();
      this.#numbers[this.#used] = list[place + 1]!;
      this.#counts[this.#used++] = word & mostCounted;
    }
  }

  done(): Posted {
    return { numbers: this.#numbers.subarray(0, this.#used), counts: this.#counts.subarray(0, this.#used) };
  }

  #grow(): void {
    const [numbers, counts] = [this.#numbers, this.#counts];
    this.#numbers = new Uint32Array(4 * numbers.length);
    this.#counts = new Uint8Array(4 * counts.length);
    this.#numbers.set(numbers);
    this.#counts.set(counts);
  }
}

/** FNV-1a of a term's UTF-16, 32 bits. */
function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < term.length; index++) {
    hash = Math.imul(hash ^ term.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
