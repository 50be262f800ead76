/** One log, read from end to end for its faults. Nothing is changed. */
import type { RecordKind } from "../../../message/record.ts";
import { impliedBy } from "../../shared/losses.ts";
import type { LossCheck, Run } from "../../shared/losses.ts";
import { checksumOf } from "../../format/seal.ts";
import { kindLogs } from "../../format/logs.ts";
import type { FetchBlob } from "../../format/blobs.ts";
import { decodeRecord } from "../../format/record.ts";
import type { Disk } from "../../../disk/disk.ts";
import type { JsonObject } from "../../../message/message.ts";
import { BadLine } from "../../format/fields.ts";
import type { RawLine } from "../../format/lines.ts";
import { linesForward, parseLine } from "../../format/lines.ts";
import type { Damage } from "../log/reader.ts";
import { textOf } from "../log/seal.ts";
import { inspectTail } from "../log/tail.ts";
import type { Tail } from "../log/tail.ts";

/** How often something was seen in a log, and where first (bytes from its start). */
export interface Oddity {
  count: number;
  first: number;
}

/** The contents of a log. `goodBytes` and `badBytes` together are its size. */
export interface LogScan {
  readonly size: number;
  records: number;
  goodBytes: number;
  badBytes: number;
  /** Spans that are no record, before the end. */
  readonly spans: (Damage & { readonly why: string; lost?: Run })[];
  /** The end, where it is unusable. */
  readonly tail: Tail;
  /** Harmless things: two records on a line, blank lines, lines ended by CR LF, numbers that come twice. */
  readonly odd: Record<"welded-lines" | "empty-lines" | "crlf" | "duplicate-seq", Oddity>;
}

/**
 * Reads a log, and every blob its lines name.
 *
 * @param check - is told every record
 * @param alive - a writer is at work, so that the end may be unfinished
 */
export async function scanLog(
  file: number,
  kind: RecordKind,
  fetch: FetchBlob,
  check: LossCheck,
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
  const reading: Reading = { scan, kind, fetch, check, highest: 0, spans: 0 };
  for await (const line of linesForward(file, 0, end, disk)) scanLine(reading, line);
  return scan;
}

interface Reading {
  readonly scan: LogScan;
  readonly kind: RecordKind;
  readonly fetch: FetchBlob;
  readonly check: LossCheck;
  /** The highest number seen so far. */
  highest: number;
  /** How many spans lie before the newest record. */
  spans: number;
}

function scanLine(reading: Reading, line: RawLine): void {
  const { scan } = reading;
  const whole = line.end - line.offset;
  const parsed = parseLine(line.bytes);
  let bad = parsed.damaged.reduce((sum, span) => sum + span.length, 0);
  if (parsed.objects.length + parsed.damaged.length === 0) note(scan.odd["empty-lines"], line.offset);
  if (parsed.objects.length + parsed.damaged.length > 1) note(scan.odd["welded-lines"], line.offset);
  if (whole === line.bytes.length + 2) note(scan.odd.crlf, line.offset);
  for (const span of parsed.damaged) {
    scan.spans.push({ offset: line.offset + span.offset, length: span.length, why: "no record can be read there" });
  }
  const isWhole = parsed.objects.length === 1 && parsed.damaged.length === 0;
  for (const object of parsed.objects) {
    try {
      addRecord(reading, line, object, isWhole);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      scan.spans.push({ offset: line.offset, length: line.bytes.length, why: `JSON, but no record: ${error.message}` });
      bad = line.bytes.length;
    }
  }
  if (bad === line.bytes.length) bad = whole;
  scan.badBytes += bad;
  scan.goodBytes += whole - bad;
}

function addRecord(reading: Reading, { offset, bytes }: RawLine, fields: JsonObject, isWhole: boolean): void {
  const { scan, kind, fetch, check } = reading;
  let isSpilled = false;
  const record = decodeRecord(kind, fields, (name) => {
    isSpilled = true;
    return fetch(name);
  });
  const { seq, pos } = record;
  check.imply(impliedBy(record));
  scan.records += 1;
  if (seq <= reading.highest) note(scan.odd["duplicate-seq"], offset);
  reading.highest = Math.max(reading.highest, seq);
  const checksum = checksumOf({ fields, text: textOf(bytes, fields, isWhole), isSpilled });
  const place = fields["pos"] === undefined ? undefined : pos;
  const lost = check.add(kindLogs[kind], { seq, pos: place, checksum, offset });
  // A number that no line has was in the damaged span that stands in its place.
  if (lost) for (const span of scan.spans.slice(reading.spans)) span.lost = lost;
  reading.spans = scan.spans.length;
}

function none(): Oddity {
  return { count: 0, first: 0 };
}

function note(oddity: Oddity, offset: number): void {
  if (oddity.count === 0) oddity.first = offset;
  oddity.count += 1;
}
