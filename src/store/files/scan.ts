/** One log, read from end to end to say what is wrong with it. Nothing is changed. */
import type { RecordKind } from "../../message/record.ts";
import type { FetchBlob } from "./blobs.ts";
import { decodeRecord } from "./codec.ts";
import type { Disk } from "./disk.ts";
import { BadLine } from "./fields.ts";
import type { RawLine } from "./jsonl.ts";
import { linesForward, parseLine } from "./jsonl.ts";
import type { Damage } from "./reader.ts";
import { inspectTail } from "./tail.ts";
import type { Tail } from "./tail.ts";

/** How often something was seen in a log, and where first (bytes from its start). */
export interface Oddity {
  count: number;
  first: number;
}

/** What a log holds. `goodBytes` and `badBytes` together are its size. */
export interface LogScan {
  readonly size: number;
  records: number;
  goodBytes: number;
  badBytes: number;
  /** Spans that are no record, before the end. */
  readonly spans: (Damage & { readonly why: string })[];
  /** The end, where it is unusable. */
  readonly tail: Tail;
  /** Harmless things: two records on a line, blank lines, lines ended by CR LF, numbers that come twice. */
  readonly odd: Record<"welded-lines" | "empty-lines" | "crlf" | "duplicate-seq", Oddity>;
}

/**
 * Reads a log, and every blob its lines name.
 *
 * @param alive - a writer is at work, so that the end may be unfinished
 */
export async function scanLog(
  file: number,
  kind: RecordKind,
  fetch: FetchBlob,
  alive: boolean,
  disk: Disk,
): Promise<LogScan> {
  const { size } = disk.stat(file);
  const found = inspectTail(file, size, disk);
  const working = alive && found.problem === "unfinished";
  const end = found.cutAt ?? size;
  const scan: LogScan = {
    size: working ? end : size,
    records: 0,
    goodBytes: 0,
    badBytes: working ? 0 : size - end,
    spans: [],
    tail: working ? { seq: found.seq, pos: found.pos } : found,
    odd: { "welded-lines": none(), "empty-lines": none(), "crlf": none(), "duplicate-seq": none() },
  };
  let highest = 0;
  for await (const line of linesForward(file, 0, end, disk)) highest = scanLine(scan, kind, line, fetch, highest);
  return scan;
}

/** @returns the highest number seen so far */
function scanLine(scan: LogScan, kind: RecordKind, line: RawLine, fetch: FetchBlob, highest: number): number {
  const whole = line.end - line.offset;
  const parsed = parseLine(line.bytes);
  let bad = parsed.damaged.reduce((sum, span) => sum + span.length, 0);
  let newest = highest;
  if (parsed.objects.length + parsed.damaged.length === 0) note(scan.odd["empty-lines"], line.offset);
  if (parsed.objects.length + parsed.damaged.length > 1) note(scan.odd["welded-lines"], line.offset);
  if (whole === line.bytes.length + 2) note(scan.odd.crlf, line.offset);
  for (const span of parsed.damaged) {
    scan.spans.push({ offset: line.offset + span.offset, length: span.length, why: "no record can be read there" });
  }
  for (const object of parsed.objects) {
    try {
      const { seq } = decodeRecord(kind, object, fetch);
      scan.records += 1;
      if (seq <= newest) note(scan.odd["duplicate-seq"], line.offset);
      newest = Math.max(newest, seq);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      scan.spans.push({ offset: line.offset, length: line.bytes.length, why: `JSON, but no record: ${error.message}` });
      bad = line.bytes.length;
    }
  }
  if (bad === line.bytes.length) bad = whole;
  scan.badBytes += bad;
  scan.goodBytes += whole - bad;
  return newest;
}

function none(): Oddity {
  return { count: 0, first: 0 };
}

function note(oddity: Oddity, offset: number): void {
  if (oddity.count === 0) oddity.first = offset;
  oddity.count += 1;
}
