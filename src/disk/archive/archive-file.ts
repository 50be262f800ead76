/** A compressed file that is read like a plain one: a place in the text is reached by unpacking one member. */
import { gunzipSync } from "node:zlib";
import { WindrowError } from "../../errors.ts";
import { membersOf } from "./member-map.ts";
import type { Member } from "./member-map.ts";
import { unpackMember } from "./member.ts";
import type { DamagedMember, Disk } from "../disk.ts";
import { readExactly } from "../read.ts";

/** Most bytes that a file compressed by another program may unpack to: it is unpacked whole, in memory. */
const foreignBytes = 256 * 1024 * 1024;

/** A compressed file. What is damaged reads as zeros, and {@link damage} tells of it. */
export class ArchiveFile {
  /** Plain bytes. */
  readonly size: number;
  readonly #file: number;
  readonly #disk: Disk;
  readonly #members: readonly Member[];
  readonly #damaged = new Set<Member>();
  /** The last two: a line may lie across both. */
  readonly #unpacked: { readonly member: Member; readonly bytes: Buffer }[] = [];

  /**
   * @param file - open for reading
   * @param path - for messages
   * @throws WindrowError `store-corrupt` where nothing of it can be unpacked
   */
  constructor(file: number, path: string, disk: Disk) {
    this.#file = file;
    this.#disk = disk;
    const { size } = disk.stat(file);
    const members = membersOf(file, size, disk);
    if (members) this.#members = members;
    else {
      const bytes = foreign(readExactly(file, 0, size, disk), path);
      this.#members = [{ start: 0, offset: 0, size: bytes.length, length: size }];
      this.#unpacked.push({ member: this.#members[0]!, bytes });
    }
    for (const member of this.#members) if (member.damaged) this.#damaged.add(member);
    const last = this.#members.at(-1);
    this.size = last ? last.start + last.size : 0;
  }

  /** As {@link Disk.read}. */
  read(into: Buffer, offset: number, length: number, position: number): number {
    const member = this.#memberAt(position);
    if (!member) return 0;
    const from = position - member.start;
    const stop = Math.min(member.size, from + length);
    if (this.#damaged.has(member)) {
      into.fill(0, offset, offset + stop - from);
      return stop - from;
    }
    return this.#bytesOf(member).copy(into, offset, from, stop);
  }

  /** The damage met so far, in order. */
  damage(): readonly DamagedMember[] {
    return [...this.#damaged].map((one) => this.#told(one)).toSorted((left, right) => left.offset - right.offset);
  }

  /** Unpacks every member; returns all damage there is. */
  verify(): readonly DamagedMember[] {
    for (const member of this.#members) this.#bytesOf(member);
    return this.damage();
  }

  #told(one: Member): DamagedMember {
    const { offset, length, start, size } = one;
    return { member: this.#members.indexOf(one) + 1, members: this.#members.length, offset, length, start, size };
  }

  #memberAt(position: number): Member | undefined {
    let [low, high] = [0, this.#members.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { start, size } = this.#members[middle]!;
      if (start + size <= position) low = middle + 1;
      else high = middle;
    }
    return this.#members[low];
  }

  #bytesOf(member: Member): Buffer {
    const known = this.#unpacked.find((one) => one.member === member);
    if (known) return known.bytes;
    const packed = member.damaged
      ? undefined
      : unpackMember(readExactly(this.#file, member.offset, member.length, this.#disk), member.header);
    const isWhole = packed?.bytes.length === member.size;
    if (!isWhole) this.#damaged.add(member);
    const bytes = isWhole ? packed.bytes : Buffer.alloc(member.size);
    this.#unpacked.unshift({ member, bytes });
    this.#unpacked.length = Math.min(2, this.#unpacked.length);
    return bytes;
  }
}

function foreign(packed: Buffer, path: string): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: foreignBytes });
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    const message = tooLarge
      ? `${path} was compressed by another program, and holds more than ${foreignBytes} bytes, which can only be ` +
        "unpacked whole. Unpack it with gunzip; `windrow archive` compresses it again so that any part can be read."
      : `${path} cannot be unpacked: no member of it is whole. The file was left as it is; restore the session from a backup.`;
    throw new WindrowError("store-corrupt", message, { path, offset: 0, length: packed.length }, { cause: error });
  }
}

/** The refusal to replace a damaged compressed file by what is left of it. */
export function damagedArchive(path: string, damage: readonly DamagedMember[]): WindrowError {
  const [first] = damage;
  const { member = 1, members = 1, offset = 0, length = 0 } = first ?? {};
  const what = length === 0 ? `ends too early, at byte ${offset}` : `is damaged, bytes ${offset} to ${offset + length}`;
  const more = damage.length > 1 ? `, and ${damage.length - 1} more of its members` : "";
  const message =
    `${path}: member ${member} of ${members} ${what}${more}. The file was left as it is; restore the session from a ` +
    "backup, or `windrow copy` takes what can still be read to another store.";
  return new WindrowError("store-corrupt", message, { path, member, offset, length, damaged: damage.length });
}
