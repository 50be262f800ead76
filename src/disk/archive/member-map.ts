/**
 * The places of the members in a compressed file. A whole file is followed from header to header. In a damaged file,
 * every member that unpacks is searched for, and the bytes between two of them count as a damaged member.
 */
import type { Disk } from "../disk.ts";
import { headerBytes, headerIn, longestMember, magic, memberBytes, unpackMember } from "./member.ts";
import type { Header } from "./member.ts";
import { readExactly } from "../read.ts";

/** One gzip member of a compressed file, which can be unpacked without the others. */
export interface Member {
  /** The place where it begins, in plain bytes and in the file. */
  readonly start: number;
  readonly offset: number;
  /** Bytes, plain and in the file. */
  readonly size: number;
  readonly length: number;
  /** Absent where the header cannot be read. */
  readonly header?: Header;
  /** Known to be damaged without a look into it. */
  readonly damaged?: true;
}

/** Bytes looked through at once for a header. */
const searchedBytes = 256 * 1024;

/** Plain bytes that a stretch of unknown size counts for: enough to be noticed. */
const unknownSize = 1;

/** Bytes that a full member takes at least. */
const leastPacked = 1_000;

/** Its members; undefined where nothing in it is one, as in a file that another program compressed. */
export function membersOf(file: number, size: number, disk: Disk): readonly Member[] | undefined {
  return followed(file, size, disk) ?? searched(file, size, disk);
}

/** From header to header; undefined where they do not lead to the file's end. */
function followed(file: number, size: number, disk: Disk): readonly Member[] | undefined {
  const members: Member[] = [];
  let start = 0;
  let total: number | undefined;
  for (let offset = 0; offset < size;) {
    const header = headerAt(file, offset, disk);
    const isLast = header && offset + header.length === size;
    if (!header || offset + header.length > size || (!isLast && header.size !== memberBytes)) return undefined;
    if ((offset > 0 && header.total !== total) || header.start !== start) return undefined;
    total = header.total;
    members.push({ start, offset, size: header.size, length: header.length, header });
    offset += header.length;
    start += header.size;
  }
  return members.length > 0 && (total ?? start) === start ? members : undefined;
}

function searched(file: number, size: number, disk: Disk): readonly Member[] | undefined {
  const members: Member[] = [];
  let found = false;
  let start = 0;
  let total: number | undefined;
  /** A stretch that no member begins in, and the plain bytes that its header speaks of. */
  let lost: { readonly offset: number; readonly size: number | undefined } | undefined;
  const endLost = (offset: number, next: number | undefined): void => {
    if (!lost) return;
    const length = offset - lost.offset;
    const most = memberBytes * Math.ceil((length + 1) / leastPacked);
    const plain = next === undefined ? (lost.size ?? unknownSize) : Math.min(next - start, most);
    const size = Math.max(plain, unknownSize);
    members.push({ start, offset: lost.offset, size, length, damaged: true });
    start += size;
    lost = undefined;
  };
  for (let offset = 0; offset < size;) {
    const header = headerAt(file, offset, disk);
    found ||= header !== undefined;
    total ??= header?.total;
    const packed = readExactly(file, offset, Math.min(longestMember, size - offset), disk);
    const unpacked = unpackMember(packed, header);
    if (unpacked) {
      found = true;
      endLost(offset, header?.start);
      const { length } = unpacked;
      members.push({ start, offset, size: unpacked.bytes.length, length, ...(header && { header }) });
      offset += length;
      start += unpacked.bytes.length;
      continue;
    }
    if (header) endLost(offset, header.start);
    lost ??= { offset, size: header?.size };
    const next = nextHeader(file, offset + 1, size, disk) ?? size;
    offset = header ? Math.min(next, offset + header.length) : next;
  }
  if (!found) return undefined;
  endLost(size, undefined);
  if (total !== undefined && total > start) {
    members.push({ start, offset: size, size: Math.min(total - start, memberBytes), length: 0, damaged: true });
  }
  return members;
}

function headerAt(file: number, offset: number, disk: Disk): Header | undefined {
  return headerIn(readExactly(file, offset, headerBytes, disk));
}

/** The first whole header at or behind an offset. */
function nextHeader(file: number, from: number, size: number, disk: Disk): number | undefined {
  for (let at = from; at < size; at += searchedBytes) {
    const bytes = readExactly(file, at, Math.min(searchedBytes + magic.length, size - at), disk);
    for (let found = bytes.indexOf(magic); found >= 0; found = bytes.indexOf(magic, found + 1)) {
      if (headerAt(file, at + found, disk)) return at + found;
    }
  }
  return undefined;
}
