/** Reading the records of one log: only the part a query needs, whatever the size of the file. */
import type { RecordKind, StoredRecord } from "../../../message/record.ts";
import type { ReadQuery } from "../../store.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { BlobName, LoadBlob } from "../../format/blobs.ts";
import { decodeRecord } from "../../format/record.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { BadLine } from "../../format/fields.ts";
import type { RawLine } from "../../format/lines.ts";
import { linesBackward, linesForward, parseLine } from "../../format/lines.ts";
import { offsetOfSeq } from "../../format/seq-offset.ts";
import { inspectTail } from "./tail.ts";

/** A span that is no record, in bytes from the start of the file. */
export interface Damage {
  readonly offset: number;
  readonly length: number;
}

/**
 * How much of the file to read: `acknowledged` bytes when this process writes it; the whole file when nobody writes it;
 * else what is finished, because its writer may be at work.
 */
export type Extent = { readonly acknowledged: number } | "whole" | "finished";

/** Bytes of lines from the end that are kept while the place is looked for where they begin. */
const keptBytes = 256 * 1024;

/** A line, taken apart. */
interface ReadLine {
  readonly records: readonly Found[];
  readonly damaged: readonly Damage[];
}

/**
 * The records a query asks for, oldest first. Spans that are no record are told to `damaged` and stepped over.
 *
 * @param load - brings large values; without it they show their beginning and end
 */
export async function* readRecords(
  file: number,
  query: ReadQuery,
  extent: Extent,
  damaged: (span: Damage) => void,
  load?: LoadBlob,
  disk: Disk = systemDisk,
): AsyncGenerator<StoredRecord> {
  const end = endOf(file, extent, disk);
  const start = query.from === undefined ? 0 : offsetOfSeq(file, 0, end, query.from, disk);
  const stop = query.to === undefined ? end : offsetOfSeq(file, start, end, query.to + 1, disk);
  const found = query.last === undefined ? { start, skip: 0 } : newest(file, start, stop, query, query.last, disk);
  let skip = found.skip;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0 || query.last === 0) return;
  for await (const line of found.lines ?? readLines(file, query.kind, { start: found.start, stop }, disk)) {
    for (const span of line.damaged) damaged(span);
    for (const found of line.records) {
      if (!isAskedFor(query, found.record)) continue;
      if (skip > 0) {
        skip -= 1;
        continue;
      }
      yield load && found.blobs.length > 0 ? await withBlobs(query.kind, found, load) : found.record;
      left -= 1;
      if (left === 0) return;
    }
  }
}

async function* readLines(
  file: number,
  kind: RecordKind,
  { start, stop }: { readonly start: number; readonly stop: number },
  disk: Disk,
): AsyncGenerator<ReadLine> {
  for await (const raw of linesForward(file, start, stop, disk)) yield readLine(kind, raw);
}

function endOf(file: number, extent: Extent, disk: Disk): number {
  if (typeof extent === "object") return extent.acknowledged;
  const { size } = disk.stat(file);
  if (extent === "whole") return size;
  const tail = inspectTail(file, size, disk);
  return tail.problem === "unfinished" ? (tail.cutAt ?? size) : size;
}

/**
 * The first byte of the newest `last` records, and how many to leave out there (a line can hold more than one). The lines too,
 * unless they are many: nothing is read and parsed twice then.
 */
function newest(
  file: number,
  start: number,
  stop: number,
  query: ReadQuery,
  last: number,
  disk: Disk,
): { readonly start: number; readonly skip: number; readonly lines?: readonly ReadLine[] } {
  const lines: ReadLine[] = [];
  let count = 0;
  let offset = stop;
  for (const raw of linesBackward(file, start, stop, disk)) {
    const line = readLine(query.kind, raw);
    offset = raw.offset;
    if (stop - offset <= keptBytes) lines.push(line);
    for (const { record } of line.records) count += isAskedFor(query, record) ? 1 : 0;
    if (count >= last) break;
  }
  const skip = Math.max(0, count - last);
  return stop - offset <= keptBytes ? { start: offset, skip, lines: lines.reverse() } : { start: offset, skip };
}

function isAskedFor(query: ReadQuery, record: StoredRecord): boolean {
  return record.seq >= (query.from ?? 0) && record.seq <= (query.to ?? Number.POSITIVE_INFINITY);
}

/** A record whose large values show their beginning and end, and what it takes to have them whole. */
interface Found {
  readonly record: StoredRecord;
  readonly object: JsonObject;
  readonly blobs: readonly BlobName[];
}

function readLine(kind: RecordKind, raw: RawLine): ReadLine {
  const parsed = parseLine(raw.bytes);
  const damaged = parsed.damaged.map(({ offset, length }) => ({ offset: raw.offset + offset, length }));
  const records: Found[] = [];
  for (const object of parsed.objects) {
    try {
      const blobs: BlobName[] = [];
      const record = decodeRecord(kind, object, (name) => {
        blobs.push(name);
        return undefined;
      });
      records.push({ record, object, blobs });
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      damaged.push({ offset: raw.offset, length: raw.bytes.length });
    }
  }
  return { records, damaged };
}

async function withBlobs(kind: RecordKind, { object, blobs }: Found, load: LoadBlob): Promise<StoredRecord> {
  const texts = new Map<string, string | undefined>();
  for (const name of blobs) if (!texts.has(name.sha256)) texts.set(name.sha256, await load(name));
  return decodeRecord(kind, object, ({ sha256 }) => texts.get(sha256));
}
