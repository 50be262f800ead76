/**
 * The members of a compressed file: gzip (RFC 1952) of one MiB of text each. An extra field has the member's length,
 * the offset of its text and the length of the whole text, so a damaged member hides nothing around it.
 */
import { promisify } from "node:util";
import { crc32, deflateRaw, inflateRawSync } from "node:zlib";

/** Plain bytes of every member but the last. */
export const memberBytes = 1024 * 1024;

/** Magic, deflate, an extra field, no time, best compression, Unix; the field's bytes, "WR", and the bytes of its value. */
const start = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 2, 3, 32, 0, 0x57, 0x52, 28, 0]);
const trailerBytes = 8;

/** Bytes of a header as it is written now. */
export const headerBytes = start.length + 28;

/** The beginning of every header, for a search. */
export const magic = start.subarray(0, 4);

/** Bytes of the longest member: what deflate cannot compress grows by five bytes in some thousands. */
export const longestMember = headerBytes + memberBytes + 64 * 1024 + trailerBytes;

/** The fields of a member's header. */
export interface Header {
  /** Bytes of the member, header and trailer included. */
  readonly length: number;
  /** Plain bytes of the member. */
  readonly size: number;
  /** The offset of the member's text in the file's, and the length of the file's. */
  readonly start: number;
  readonly total: number;
  /** The text's checksum. */
  readonly crc: number;
}

const deflate = promisify(deflateRaw);

/** A header, where these bytes begin with one that is whole. */
export function headerIn(bytes: Buffer): Header | undefined {
  if (bytes.length < headerBytes || !bytes.subarray(0, start.length).equals(start)) return undefined;
  const length = bytes.readUInt32LE(start.length);
  const size = bytes.readUInt32LE(start.length + 4);
  if (length < headerBytes + trailerBytes || length > longestMember || size > memberBytes) return undefined;
  if (crc32(bytes.subarray(0, headerBytes - 4)) !== bytes.readUInt32LE(headerBytes - 4)) return undefined;
  const at = start.length + 8;
  const crc = bytes.readUInt32LE(at + 12);
  return { length, size, start: bytes.readUIntLE(at, 6), total: bytes.readUIntLE(at + 6, 6), crc };
}

/** A member's text, and how many bytes the member takes. */
export interface Unpacked {
  readonly bytes: Buffer;
  readonly length: number;
}

/**
 * The member these bytes begin with; undefined where it is damaged. Its header or its trailer may be damaged: the text
 * counts as whole when either of them, or both, confirm it.
 */
export function unpackMember(packed: Buffer, header: Header | undefined): Unpacked | undefined {
  const found = inflate(packed.subarray(headerBytes));
  if (!found) return undefined;
  const { bytes, taken } = found;
  const trailer = packed.subarray(headerBytes + taken, headerBytes + taken + trailerBytes);
  const crc = crc32(bytes);
  const confirmed =
    trailer.length === trailerBytes && trailer.readUInt32LE(0) === crc && trailer.readUInt32LE(4) === bytes.length;
  const known = header?.size === bytes.length && header.crc === crc;
  if (!confirmed && !known) return undefined;
  return { bytes, length: Math.min(packed.length, headerBytes + taken + trailerBytes) };
}

function inflate(packed: Buffer): { readonly bytes: Buffer; readonly taken: number } | undefined {
  try {
    // Typed for one result; with `info` the buffer comes with its engine, which knows how many bytes it took.
    const { buffer, engine } = inflateRawSync(packed, { maxOutputLength: memberBytes, info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return { bytes: buffer, taken: engine.bytesWritten };
  } catch {
    return undefined;
  }
}

/**
 * A text as a member, unpacked again to see that it comes back the same.
 *
 * @param at - where the text begins in the file, of `total` plain bytes
 */
export async function packMember(bytes: Buffer, at: number, total: number): Promise<Buffer> {
  const packed = await deflate(bytes, { level: 9 });
  const crc = crc32(bytes);
  const header = Buffer.alloc(headerBytes);
  start.copy(header);
  header.writeUInt32LE(headerBytes + packed.length + trailerBytes, start.length);
  header.writeUInt32LE(bytes.length, start.length + 4);
  header.writeUIntLE(at, start.length + 8, 6);
  header.writeUIntLE(total, start.length + 14, 6);
  header.writeUInt32LE(crc, start.length + 20);
  header.writeUInt32LE(crc32(header.subarray(0, headerBytes - 4)), headerBytes - 4);
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(bytes.length, 4);
  const member = Buffer.concat([header, packed, trailer]);
  if (unpackMember(member, headerIn(member))?.bytes.equals(bytes) === true) return member;
  throw new Error("what was compressed does not come back the same");
}
