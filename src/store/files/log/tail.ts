/**
 * The end of a log: its last whole record, and the part that a crash left unfinished, which is cut off and kept in a
 * file beside it.
 */
import { dirname } from "node:path";
import type { Recovered } from "../../store.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { linesBackward, numberOf, parseLine } from "../../format/lines.ts";
import { readExactly } from "../../../disk/read.ts";
import type { RawLine } from "../../format/lines.ts";
import { copySpan, syncFolderNow, systemCode, writeAll } from "../../../disk/safe-write.ts";

/** How a log ends. */
export interface Tail {
  /** The number of the last whole record; 0 in an empty log. */
  readonly seq: number;
  readonly pos: number;
  /** The first byte of the unusable end, if there is one. */
  readonly cutAt?: number;
  /**
   * The kind of end behind `cutAt`: `unfinished`, as a writer at work or a dead one leaves it (no line end, or not all lines of
   * one append); `damaged`, a whole line that is no record.
   */
  readonly problem?: "unfinished" | "damaged";
}

/**
 * Reads a log's end, backwards, as far as the last whole record.
 *
 * @param crashed - whoever wrote it last did not let go in order: a hole in the last write is looked for too
 */
export function inspectTail(file: number, size: number, disk: Disk = systemDisk, crashed = false): Tail {
  let cutAt: number | undefined;
  let problem: Tail["problem"];
  for (const line of linesBackward(file, 0, size, disk)) {
    const parsed = parseLine(line.bytes);
    const last = parsed.objects.at(-1);
    if (last === undefined) {
      if (parsed.complete) continue;
      cutAt = line.offset;
      problem ??= endsLine(line.end, line.bytes.length, line.offset) ? "damaged" : "unfinished";
      continue;
    }
    if (!parsed.complete) {
      cutAt = line.offset + (parsed.damaged.at(-1)?.offset ?? 0);
      problem ??= endsLine(line.end, line.bytes.length, line.offset) ? "damaged" : "unfinished";
    }
    if (typeof last["more"] === "number" && last["more"] > 0) {
      cutAt = line.offset;
      problem ??= "unfinished";
      continue;
    }
    const seq = numberOf(last);
    if (seq === undefined) continue;
    const hole = crashed && last["more"] === 0 ? holeBefore(file, line, disk) : undefined;
    if (hole !== undefined) return { ...inspectTail(file, hole, disk), cutAt: hole, problem: "unfinished" };
    const { pos } = last;
    return { seq, pos: Number.isSafeInteger(pos) ? Number(pos) : seq, ...cut(cutAt, problem) };
  }
  return { seq: 0, pos: 0, ...cut(cutAt, problem) };
}

/**
 * The first byte of a write that lacks lines before its last one: a power cut left NULs in the place of pages that were
 * never synced, and so nothing of it was acknowledged. Undefined for one that is whole.
 */
function holeBefore(file: number, lastLine: RawLine, disk: Disk): number | undefined {
  let found = false;
  for (const line of linesBackward(file, 0, lastLine.end, disk)) {
    const { objects, damaged } = parseLine(line.bytes);
    const isHole = damaged.length > 0 && line.bytes.includes(0);
    found ||= isHole;
    if (line.offset === lastLine.offset || isHole) continue;
    const more = objects.at(-1)?.["more"];
    if (typeof more !== "number" || more === 0) return found ? line.end : undefined;
  }
  return found ? 0 : undefined;
}

/**
 * Cuts the unusable end off a log, after copying it beside the log, and makes sure that the log ends with a line end.
 *
 * @param stamp - for the name of the side file, for example `20240115T103001123Z`
 * @returns what was cut, or undefined when the log was whole
 */
export function mendTail(
  file: number,
  path: string,
  name: string,
  tail: Tail,
  stamp: string,
  disk: Disk = systemDisk,
): Recovered | undefined {
  const size = disk.stat(file).size;
  const { cutAt } = tail;
  let recovered: Recovered | undefined;
  if (cutAt !== undefined && cutAt < size) {
    const suffix = quarantine(file, path, cutAt, size - cutAt, `corrupt-${stamp}`, disk);
    disk.truncate(file, cutAt);
    disk.syncDataNow(file);
    const problem = "torn-tail";
    recovered = { file: name, offset: cutAt, length: size - cutAt, problem, quarantine: `${name}.${suffix}` };
  }
  const end = cutAt ?? size;
  if (end > 0 && readExactly(file, end - 1, 1, disk)[0] !== 0x0a) {
    writeAll(file, Buffer.from("\n"), disk);
    disk.syncDataNow(file);
  }
  return recovered;
}

/**
 * Copies a span of a log into a side file that did not exist, durably.
 *
 * @returns what was put behind the log's name; a number is added where a side file of this name exists
 */
export function quarantine(
  file: number,
  path: string,
  offset: number,
  length: number,
  suffix: string,
  disk: Disk = systemDisk,
): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? suffix : `${suffix}-${count}`;
    try {
      copySpan(file, `${path}.${name}`, offset, length, disk);
      syncFolderNow(dirname(path), disk);
      return name;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

function cut(cutAt: number | undefined, problem: Tail["problem"]): Pick<Tail, "cutAt" | "problem"> {
  return cutAt === undefined || problem === undefined ? {} : { cutAt, problem };
}

function endsLine(end: number, length: number, offset: number): boolean {
  return end > offset + length;
}
