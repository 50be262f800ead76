/**
 * JSON Lines as bytes: writing a line with its checksum, taking a line apart, and walking the lines of a file forwards
 * and backwards in pieces.
 */
import { crc32 } from "node:zlib";
import type { JsonObject } from "../../message/message.ts";
import type { Disk } from "../../disk/disk.ts";
import { systemDisk } from "../../disk/disk.ts";
import { isObject } from "../../message/json.ts";
import type { LineFields } from "./fields.ts";
import { readExactly } from "../../disk/read.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;

/** `,"crc":"` + 8 hex digits + `"}`, the end of every line Windrow writes. */
const crcTail = /^,"crc":"([0-9a-f]{8})"\}$/;
const crcTailBytes = 18;
const recordStart = Buffer.from('{"seq":');

/** Bytes read at once when walking: forwards, and for the first step backwards (then doubled up to the first). */
const forwardBytes = 256 * 1024;
const backwardBytes = 8 * 1024;

/** A line as it lies in a file: `bytes` without its line end; `end` is the offset behind the line end. */
export interface RawLine {
  readonly offset: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** A line taken apart: the objects it holds, and the spans (offsets within the line) that are none. */
export interface ParsedLine {
  readonly objects: readonly JsonObject[];
  readonly damaged: readonly { readonly offset: number; readonly length: number }[];
  /** Whether the line's last bytes belong to an object: nothing was torn off. */
  readonly complete: boolean;
}

/** A record's fields as strings of JSON, waiting for their numbers. */
export interface LineText {
  readonly alias?: LineFields["alias"];
  readonly before: string;
  readonly after: string;
}

/**
 * A record's fields as JSON.
 *
 * @throws TypeError when a value is none JSON can carry (a BigInt, a cycle)
 */
export function lineText(fields: LineFields): LineText {
  const before = JSON.stringify(fields.before).slice(1, -1);
  const after = Object.keys(fields.after).length === 0 ? "" : JSON.stringify(fields.after).slice(1, -1);
  return fields.alias ? { alias: fields.alias, before, after } : { before, after };
}

/**
 * One line as text, without its end: `seq`, the fields, `pos` among them, and last `crc` of the bytes before it.
 *
 * @param more - how many lines of the same write follow in this log; none for a write of one line
 */
export function numberedLine(line: LineText, seq: number, pos: number, more?: number): string {
  const body = bodyOf(line, seq, pos, more);
  return `${body},"crc":"${checksum(body)}"}`;
}

/** A line up to its checksum. JSON escapes a lone surrogate, so the text is well formed. */
function bodyOf({ alias, before, after }: LineText, seq: number, pos: number, more?: number): string {
  const numbers = alias ? `"seq":${seq},"${alias}":${seq}` : `"seq":${seq}`;
  return `{${numbers},${before},"pos":${pos}${after === "" ? "" : `,${after}`}${more === undefined ? "" : `,"more":${more}`}`;
}

function checksum(body: string | Buffer): string {
  return crc32(body).toString(16).padStart(8, "0");
}

/**
 * Takes a line apart. A line that is not one whole object (two records welded together, a record behind a run of NULs)
 * still gives every object in it whose checksum holds. A blank line is nothing at all.
 */
export function parseLine(bytes: Buffer): ParsedLine {
  const object = parseObject(bytes);
  if (object) return { objects: [object], damaged: [], complete: true };
  if (isBlank(bytes)) return { objects: [], damaged: [], complete: true };
  const objects: JsonObject[] = [];
  const damaged: { offset: number; length: number }[] = [];
  let start = 0;
  while (start < bytes.length) {
    const found = firstChecked(bytes, start);
    const gap = (found?.start ?? bytes.length) - start;
    if (gap > 0) damaged.push({ offset: start, length: gap });
    if (!found) return { objects, damaged, complete: false };
    objects.push(found.object);
    start = found.end;
  }
  return { objects, damaged, complete: true };
}

/** The first object from `start` on whose checksum holds. */
function firstChecked(bytes: Buffer, start: number): { start: number; end: number; object: JsonObject } | undefined {
  let from = bytes.indexOf(recordStart, start);
  while (from >= 0) {
    const next = bytes.indexOf(recordStart, from + 1);
    const stretch = next < 0 ? bytes.subarray(from) : bytes.subarray(from, next);
    const length = stretch.lastIndexOf(',"crc":"') + crcTailBytes;
    const object = length > crcTailBytes ? parseChecked(stretch.subarray(0, length)) : undefined;
    if (object) return { start: from, end: from + length, object };
    from = next;
  }
  return undefined;
}

/** The object that a line of text is, if it is whole; {@link parseLine} takes every other one apart. */
export function parseText(line: string): JsonObject | undefined {
  const crc = crcTail.exec(line.slice(-crcTailBytes))?.[1];
  if (crc === undefined || crc32(line.slice(0, -crcTailBytes)) !== Number.parseInt(crc, 16)) return undefined;
  return parseJson(line);
}

/** The object these bytes are: with a checksum that holds, or without one (a line of another program). */
function parseObject(bytes: Buffer): JsonObject | undefined {
  const crc = checksumIn(bytes);
  return crc === undefined || holds(bytes, crc) ? parseJson(bytes.toString("utf8")) : undefined;
}

function parseChecked(bytes: Buffer): JsonObject | undefined {
  const crc = checksumIn(bytes);
  return crc !== undefined && holds(bytes, crc) ? parseJson(bytes.toString("utf8")) : undefined;
}

/** The checksum at the end of a line. */
function checksumIn(bytes: Buffer): string | undefined {
  return crcTail.exec(bytes.toString("latin1", Math.max(0, bytes.length - crcTailBytes)))?.[1];
}

function holds(bytes: Buffer, crc: string): boolean {
  return crc32(bytes.subarray(0, bytes.length - crcTailBytes)) === Number.parseInt(crc, 16);
}

function parseJson(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonObject;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn);
}

/** The lines between two offsets that are line starts, oldest first. The last one may lack its line end. */
export async function* linesForward(
  file: number,
  start: number,
  end: number,
  disk: Disk = systemDisk,
): AsyncGenerator<RawLine> {
  let held: Buffer[] = [];
  let lineStart = start;
  let at = start;
  while (at < end) {
    const chunk = Buffer.allocUnsafe(Math.min(forwardBytes, end - at));
    // A small read is done before a thread of the pool would have woken.
    const length =
      chunk.length <= backwardBytes
        ? disk.read(file, chunk, 0, chunk.length, at)
        : await disk.readLater(file, chunk, 0, chunk.length, at);
    if (length === 0) break;
    let from = 0;
    for (let stop = chunk.indexOf(newline, from); stop >= 0 && stop < length; stop = chunk.indexOf(newline, from)) {
      held.push(chunk.subarray(from, stop));
      from = stop + 1;
      yield rawLine(lineStart, at + from, joined(held));
      held = [];
      lineStart = at + from;
    }
    if (from < length) held.push(chunk.subarray(from, length));
    at += length;
  }
  if (held.length > 0) yield rawLine(lineStart, at, joined(held));
}

/** The lines between two offsets, newest first. `start` must be a line start. */
export function* linesBackward(file: number, start: number, end: number, disk: Disk = systemDisk): Generator<RawLine> {
  let stop = end;
  let size = backwardBytes;
  while (stop > start) {
    const from = Math.max(start, stop - size);
    const chunk = readExactly(file, from, stop - from, disk);
    let lineEnd = chunk.length;
    for (;;) {
      const before = lineEnd >= 2 ? chunk.lastIndexOf(newline, lineEnd - 2) : -1;
      if (before < 0) break;
      yield rawLine(from + before + 1, from + lineEnd, withoutEnd(chunk.subarray(before + 1, lineEnd)));
      lineEnd = before + 1;
    }
    if (from === start) {
      yield rawLine(start, from + lineEnd, withoutEnd(chunk.subarray(0, lineEnd)));
      return;
    }
    const nothingFound = lineEnd === chunk.length;
    size = nothingFound ? size * 2 : Math.min(size * 2, forwardBytes);
    stop = from + lineEnd;
  }
}

/** A line's number: `seq`, or `summary_id` of a summary that another program wrote. */
export function numberOf(object: JsonObject): number | undefined {
  const seq = object["seq"] ?? object["summary_id"];
  return Number.isSafeInteger(seq) ? Number(seq) : undefined;
}

function rawLine(offset: number, end: number, bytes: Buffer): RawLine {
  const trimmed = bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes;
  return { offset, end, bytes: trimmed };
}

function withoutEnd(bytes: Buffer): Buffer {
  return bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes;
}

function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
