/**
 * The lines of the index, taken apart by their places in its bytes. JSON.parse costs ten times as much, and an index has
 * 100,000 lines.
 */
import { readEntries } from "./index-file.ts";
import type { EndEntry, IndexEntry } from "./index-file.ts";
import type { FinalStatus } from "../store.ts";

const lineEnd = 10;
const [quote, zero, nine, lowerA, lowerF, dash] = [0x22, 0x30, 0x39, 0x61, 0x66, 0x2d];

const [idAt, idLength] = [9, 36];
const lineStart = Buffer.from('{"uuid":"');
const madeStart = Buffer.from('","created_at":"');
const endStart = Buffer.from('","status":"');
const closing = Buffer.from('"}\n');
const words = (["completed", "failed", "timeout"] as const).map((status) => ({ status, bytes: Buffer.from(status) }));
/** A time as `2026-01-01T00:00:00.000Z`, a digit for each 0. */
const timeForm = Buffer.from("0000-00-00T00:00:00.000Z");

/**
 * Gives the entries of whole lines, in their order; a line that has none is passed over.
 *
 * @param end - where the lines end
 */
export function eachEntry(bytes: Buffer, end: number, take: (entry: IndexEntry | EndEntry) => void): void {
  const plain = new PlainLines(bytes, end);
  for (let at = 0; at < end;) {
    const entry = plain.entryAt(at);
    if (entry) {
      take(entry);
      at = plain.next;
      continue;
    }
    const found = bytes.indexOf(lineEnd, at);
    const stop = found < 0 || found > end ? end : found;
    for (const other of readEntries([bytes.toString("utf8", at, stop)])) take(other);
    at = stop + 1;
  }
}

/** The lines as the index has them for sessions without a user and a tenant. */
class PlainLines {
  /** The place of the line behind the last one. */
  next = 0;
  readonly #bytes: Buffer;
  readonly #end: number;

  constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** The entry of a line; undefined for a line of another form. */
  entryAt(at: number): IndexEntry | EndEntry | undefined {
    const behind = at + idAt + idLength;
    if (!this.#holds(lineStart, at) || !this.#isId(at + idAt)) return undefined;
    if (this.#holds(madeStart, behind)) {
      const time = behind + madeStart.length;
      const created = this.#timeAt(time);
      if (created === undefined || !this.#closes(time + timeForm.length)) return undefined;
      return { id: this.#idAt(at), created, status: undefined };
    }
    if (!this.#holds(endStart, behind)) return undefined;
    const status = this.#statusAt(behind + endStart.length);
    return status && { id: this.#idAt(at), status };
  }

  #idAt(at: number): string {
    return this.#bytes.toString("latin1", at + idAt, at + idAt + idLength);
  }

  #holds(text: Buffer, at: number): boolean {
    if (at + text.length > this.#end) return false;
    for (let index = 0; index < text.length; index++) if (this.#bytes[at + index] !== text[index]) return false;
    return true;
  }

  #closes(at: number): boolean {
    this.next = at + closing.length;
    return this.#bytes[at] === quote && this.#holds(closing, at);
  }

  #statusAt(at: number): FinalStatus | undefined {
    for (const { status, bytes } of words) {
      if (this.#holds(bytes, at)) return this.#closes(at + bytes.length) ? status : undefined;
    }
    return undefined;
  }

  /** Whether a UUID in canonical form begins here. */
  #isId(at: number): boolean {
    for (let index = 0; index < idLength; index++) {
      const byte = this.#bytes[at + index] ?? 0;
      const isDash = index === 8 || index === 13 || index === 18 || index === 23;
      const isHex = (byte >= zero && byte <= nine) || (byte >= lowerA && byte <= lowerF);
      if (isDash ? byte !== dash : !isHex) return false;
    }
    return true;
  }

  /** A time in milliseconds since 1970; undefined for one of another form, and for one that is no time. */
  #timeAt(at: number): number | undefined {
    for (let index = 0; index < timeForm.length; index++) {
      const [form, byte] = [timeForm[index], this.#bytes[at + index] ?? 0];
      if (form === zero ? byte < zero || byte > nine : byte !== form) return undefined;
    }
    const [year, month, day] = [100 * this.#two(at) + this.#two(at + 2), this.#two(at + 5), this.#two(at + 8)];
    const [hour, minute, second] = [this.#two(at + 11), this.#two(at + 14), this.#two(at + 17)];
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) {
      const read = Date.parse(this.#bytes.toString("latin1", at, at + timeForm.length));
      return Number.isNaN(read) ? undefined : read;
    }
    const milliseconds = 10 * this.#two(at + 20) + (this.#bytes[at + 22] ?? zero) - zero;
    return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  }

  /** The number that two digits make. */
  #two(at: number): number {
    return 10 * ((this.#bytes[at] ?? zero) - zero) + (this.#bytes[at + 1] ?? zero) - zero;
  }
}
