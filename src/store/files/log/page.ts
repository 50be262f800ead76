/** Reading some lines of one log: only the part a query needs, whatever the size of the file. */
import { join } from "node:path";
import { isReleased } from "../../lock/owner-record.ts";
import { withFile } from "../../../disk/read.ts";
import { logNames } from "../../format/logs.ts";
import { noCounts } from "../../format/seal.ts";
import type { Counters } from "../../shared/session-log.ts";
import type { RecordKind } from "../../../message/record.ts";
import type { Disk } from "../../../disk/disk.ts";
import type { PageQuery, PlacedLine } from "../../engine.ts";
import type { FetchBlob } from "../../format/blobs.ts";
import { linesBackward, linesForward, numberOf, parseLine } from "../../format/lines.ts";
import { BadLine } from "../../format/fields.ts";
import { decodeRecord } from "../../format/record.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { RawLine } from "../../format/lines.ts";
import { offsetOfSeq } from "../../format/seq-offset.ts";
import { inlined } from "./large-values.ts";
import type { Place } from "../layout.ts";
import { inspectTail } from "./tail.ts";
import type { Tail } from "./tail.ts";

/** A log to be read. */
export interface ReadLog {
  readonly kind: RecordKind;
  readonly file: number;
  /** Bytes of it that count. */
  readonly end: number;
  /** Brings large values. */
  readonly fetch: FetchBlob;
}

/** How far a log is good that a process may be adding to. */
export function finishedEnd(file: number, disk: Disk): number {
  const { size } = disk.stat(file);
  const { problem, cutAt } = inspectTail(file, size, disk);
  return problem === "unfinished" ? (cutAt ?? size) : size;
}

/** The last numbers of a log, of which so many bytes and places of the session count. */
export function lastOf(file: number, end: number, disk: Disk, places = Infinity): Pick<Tail, "seq" | "pos"> {
  for (const { bytes } of linesBackward(file, 0, end, disk)) {
    const last = parseLine(bytes).objects.at(-1);
    const seq = last && numberOf(last);
    const pos = Number.isSafeInteger(last?.["pos"]) ? Number(last?.["pos"]) : (seq ?? 0);
    if (seq !== undefined && pos <= places) return { seq, pos };
  }
  return { seq: 0, pos: 0 };
}

/**
 * The last numbers of the logs of a session that this process does not write. A writer adds to one log after the other: what it
 * adds behind the highest place of a first look does not count, and so no place below it is missing.
 */
export async function lastNumbers({ folder, parent }: Place, disk: Disk): Promise<Counters> {
  const isRunning = parent === "running";
  const crashed = isRunning && !isReleased(folder, disk);
  const look = async (places?: number): Promise<Counters> => {
    const numbers: Counters = { seqs: noCounts(), pos: 0 };
    for (const log of logNames) {
      await withFile(join(folder, `${log}.jsonl`), disk, (file) => {
        const { size } = disk.stat(file);
        // Nobody adds to a session that has ended: whatever it lacks, what is there counts.
        const end = isRunning ? (inspectTail(file, size, disk, crashed).cutAt ?? size) : size;
        const { seq, pos } = lastOf(file, end, disk, places);
        numbers.seqs[log] = seq;
        numbers.pos = Math.max(numbers.pos, pos);
      });
    }
    return numbers;
  };
  const first = await look();
  return isRunning && crashed ? look(first.pos) : first;
}

/** The lines of a page, oldest first. Spans that are no record are lines, too. */
export async function readPage(log: ReadLog, query: PageQuery, disk: Disk): Promise<readonly PlacedLine[]> {
  const { file, end } = log;
  const { from, to, last, after, most } = query;
  const low = from <= 1 ? 0 : offsetOfSeq(file, 0, end, from, disk);
  const stop = to === Number.MAX_SAFE_INTEGER ? end : offsetOfSeq(file, low, end, to + 1, disk);
  const start = after ? Math.floor(after.row) : last === undefined ? low : undefined;
  const found: Line[] = [];
  const isAskedFor = ({ seq, row }: Line) =>
    (seq ?? from) >= from && (seq ?? from) <= to && (!after || row > after.row);
  if (start === undefined) return numbered(newest(log, low, stop, query, isAskedFor, disk));
  for await (const raw of linesForward(file, start, stop, disk)) {
    for (const line of linesIn(log, raw)) {
      if (!isAskedFor(line)) continue;
      found.push(line);
      if (found.length === most) return numbered(found, after?.seq);
    }
  }
  return numbered(found, after?.seq);
}

/** A record, or a span that is none and has no number. */
type Line = Omit<PlacedLine, "seq"> & { readonly seq: number | undefined };

/** Lines with their numbers: a span that is no record has the highest of those that nobody else has. */
function numbered(lines: readonly Line[], before = 0): readonly PlacedLine[] {
  let last = before;
  return lines.map((line, place) => {
    const next = lines.slice(place + 1).find(({ seq }) => seq !== undefined)?.seq;
    const seq = line.seq ?? Math.max(last, (next ?? last + 1) - 1);
    last = seq;
    return { ...line, seq };
  });
}

/** The newest records, and what is between them; of more than a page the first. */
function newest(
  log: ReadLog,
  start: number,
  stop: number,
  { last = 0, most }: PageQuery,
  isAskedFor: (line: Line) => boolean,
  disk: Disk,
): readonly Line[] {
  const found: Line[] = [];
  let left = last;
  for (const raw of left > 0 ? linesBackward(log.file, start, stop, disk) : []) {
    for (const line of linesIn(log, raw).filter(isAskedFor).reverse()) {
      if (left > 0) found.push(line);
      if (line.seq !== undefined) left -= 1;
    }
    if (left <= 0) break;
    // The lines behind the first page are read again.
    if (last > most && found.length > 2 * most) found.splice(0, found.length - most);
  }
  return last > most ? found.reverse().slice(0, most) : found.reverse();
}

/** The records on a line, and what is none. */
function linesIn({ kind, fetch }: ReadLog, { bytes, offset }: RawLine): readonly Line[] {
  const seq = /^\{"seq":(\d{1,15}),/.exec(bytes.toString("latin1", 0, 30))?.[1];
  const hasCrc = /^,"crc":"[0-9a-f]{8}"\}$/.test(bytes.toString("latin1", Math.max(0, bytes.length - 18)));
  // A plain line is taken apart by its reader alone.
  if (seq !== undefined && hasCrc && !bytes.includes('{"seq":', 1) && !bytes.includes('"blob":')) {
    return [{ seq: Number(seq), row: offset, line: bytes.toString("utf8") }];
  }
  const { objects, damaged } = parseLine(bytes);
  const isWhole = objects.length === 1 && damaged.length === 0;
  const records = objects.map((object) => ({
    seq: seqOf(kind, object),
    line: inlined(kind, object, bytes, fetch) ?? (isWhole ? bytes.toString("utf8").trim() : JSON.stringify(object)),
  }));
  // As text of one byte a character it is no record either, and as long as it was.
  const spans = damaged.map(({ offset: at, length }) => ({
    seq: undefined,
    line: bytes.toString("latin1", at, at + length),
  }));
  return [...spans, ...records].map((one, place, all) => ({ ...one, row: offset + place / (all.length + 1) }));
}

/** The number of a record; undefined for an object that is none. */
function seqOf(kind: RecordKind, object: JsonObject): number | undefined {
  try {
    return decodeRecord(kind, object).seq;
  } catch (error) {
    if (error instanceof BadLine) return undefined;
    throw error;
  }
}
