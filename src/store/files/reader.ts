/** Reading the records of one log: only the part a query needs, whatever the size of the file. */
import type { RecordKind, StoredRecord } from "../../message/record.ts";
import type { ReadQuery } from "../store.ts";
import type { FetchBlob } from "./blobs.ts";
import { noBlobs } from "./blobs.ts";
import { decodeRecord } from "./codec.ts";
import type { Disk } from "./disk.ts";
import { systemDisk } from "./disk.ts";
import { BadLine } from "./fields.ts";
import type { RawLine } from "./jsonl.ts";
import { linesBackward, linesForward, offsetOfSeq, parseLine } from "./jsonl.ts";
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

/**
 * The records a query asks for, oldest first. Spans that are no record are told to `damaged` and stepped over.
 *
 * @param fetch - brings large values; without it they show their beginning and end
 */
export async function* readRecords(
  file: number,
  query: ReadQuery,
  extent: Extent,
  damaged: (span: Damage) => void,
  fetch: FetchBlob = noBlobs,
  disk: Disk = systemDisk,
): AsyncGenerator<StoredRecord> {
  const end = endOf(file, extent, disk);
  const start = query.from === undefined ? 0 : offsetOfSeq(file, 0, end, query.from, disk);
  const stop = query.to === undefined ? end : offsetOfSeq(file, start, end, query.to + 1, disk);
  const first =
    query.last === undefined ? { offset: start, skip: 0 } : startOfLast(file, start, stop, query, query.last, disk);
  let skip = first.skip;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0 || query.last === 0) return;
  for await (const line of linesForward(file, first.offset, stop, disk)) {
    for (const record of recordsOf(query.kind, line, damaged, fetch)) {
      if (!isAskedFor(query, record)) continue;
      if (skip > 0) {
        skip -= 1;
        continue;
      }
      yield record;
      left -= 1;
      if (left === 0) return;
    }
  }
}

function endOf(file: number, extent: Extent, disk: Disk): number {
  if (typeof extent === "object") return extent.acknowledged;
  const { size } = disk.stat(file);
  if (extent === "whole") return size;
  const tail = inspectTail(file, size, disk);
  return tail.problem === "unfinished" ? (tail.cutAt ?? size) : size;
}

/** Where the newest `last` records begin, and how many to leave out there (a line can hold more than one). */
function startOfLast(
  file: number,
  start: number,
  stop: number,
  query: ReadQuery,
  last: number,
  disk: Disk,
): { readonly offset: number; readonly skip: number } {
  let count = 0;
  for (const line of linesBackward(file, start, stop, disk)) {
    for (const record of recordsOf(query.kind, line, () => undefined, noBlobs))
      if (isAskedFor(query, record)) count += 1;
    if (count >= last) return { offset: line.offset, skip: count - last };
  }
  return { offset: start, skip: 0 };
}

function isAskedFor(query: ReadQuery, record: StoredRecord): boolean {
  return record.seq >= (query.from ?? 0) && record.seq <= (query.to ?? Number.POSITIVE_INFINITY);
}

function recordsOf(
  kind: RecordKind,
  line: RawLine,
  damaged: (span: Damage) => void,
  fetch: FetchBlob,
): readonly StoredRecord[] {
  const parsed = parseLine(line.bytes);
  for (const span of parsed.damaged) damaged({ offset: line.offset + span.offset, length: span.length });
  const records: StoredRecord[] = [];
  for (const object of parsed.objects) {
    try {
      records.push(decodeRecord(kind, object, fetch));
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      damaged({ offset: line.offset, length: line.bytes.length });
    }
  }
  return records;
}
