/** The end of a log: what is there, what a crash left unfinished, and cutting that off without losing a byte. */
import {
  closeSync,
  fchmodSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  fstatSync,
  openSync,
  writeSync,
} from "node:fs";
import type { JsonObject } from "../../message/message.ts";
import type { Recovered } from "../store.ts";
import { linesBackward, parseLine, readExactly } from "./jsonl.ts";
import { fileMode, systemCode } from "./layout.ts";

/** Bytes copied at once into a quarantine file. */
const copyBytes = 1024 * 1024;

/** How a log ends. */
export interface Tail {
  /** Of the last whole record; 0 in an empty log. */
  readonly seq: number;
  readonly pos: number;
  /** Where the unusable end begins, if there is one. */
  readonly cutAt?: number;
  /**
   * What is behind `cutAt`: `unfinished`, as a writer at work or a dead one leaves it (no line end, or not all lines of
   * one append); `damaged`, a whole line that is no record.
   */
  readonly problem?: "unfinished" | "damaged";
}

/** Reads a log's end, backwards, as far as the last whole record. */
export function inspectTail(file: number, size: number): Tail {
  let cutAt: number | undefined;
  let problem: Tail["problem"];
  for (const line of linesBackward(file, 0, size)) {
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
    if (!isNumber(last, "seq")) continue;
    return { seq: last["seq"], pos: isNumber(last, "pos") ? last["pos"] : last["seq"], ...cut(cutAt, problem) };
  }
  return { seq: 0, pos: 0, ...cut(cutAt, problem) };
}

/**
 * Cuts the unusable end off a log, after copying it beside the log, and makes sure that the log ends with a line end.
 *
 * @param stamp - for the name of the side file, for example `20240115T103001123Z`
 * @returns what was cut, or undefined when the log was whole
 */
export function mendTail(file: number, path: string, name: string, tail: Tail, stamp: string): Recovered | undefined {
  const size = fstatSync(file).size;
  const { cutAt } = tail;
  let recovered: Recovered | undefined;
  if (cutAt !== undefined && cutAt < size) {
    const suffix = quarantine(file, path, cutAt, size - cutAt, `corrupt-${stamp}`);
    ftruncateSync(file, cutAt);
    fdatasyncSync(file);
    const problem = "torn-tail";
    recovered = { file: name, offset: cutAt, length: size - cutAt, problem, quarantine: `${name}.${suffix}` };
  }
  const end = cutAt ?? size;
  if (end > 0 && readExactly(file, end - 1, 1)[0] !== 0x0a) {
    writeSync(file, "\n");
    fdatasyncSync(file);
  }
  return recovered;
}

/**
 * Copies a span of a log into a side file that did not exist, synced.
 *
 * @returns what was put behind the log's name; a number is added where a side file of this name exists
 */
export function quarantine(file: number, path: string, offset: number, length: number, suffix: string): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? suffix : `${suffix}-${count}`;
    try {
      copySpan(file, `${path}.${name}`, offset, length);
      return name;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}

/**
 * Copies a damaged span beside its log, once: the log keeps the bytes too, as nothing of it is ever rewritten.
 *
 * @returns what was put behind the log's name; undefined where no copy could be made
 */
export function keepDamaged(file: number, path: string, offset: number, length: number): string | undefined {
  const suffix = `corrupt-at-${offset}`;
  try {
    copySpan(file, `${path}.${suffix}`, offset, length);
    return suffix;
  } catch (error) {
    return systemCode(error) === "EEXIST" ? suffix : undefined;
  }
}

function copySpan(file: number, target: string, offset: number, length: number): void {
  const copy = openSync(target, "wx", fileMode);
  try {
    fchmodSync(copy, fileMode);
    for (let done = 0; done < length; done += copyBytes) {
      writeSync(copy, readExactly(file, offset + done, Math.min(copyBytes, length - done)));
    }
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}

function cut(cutAt: number | undefined, problem: Tail["problem"]): Pick<Tail, "cutAt" | "problem"> {
  return cutAt === undefined || problem === undefined ? {} : { cutAt, problem };
}

function endsLine(end: number, length: number, offset: number): boolean {
  return end > offset + length;
}

function isNumber<N extends string>(
  object: JsonObject,
  name: N,
): object is JsonObject & { readonly [key in N]: number } {
  return Number.isSafeInteger(object[name]);
}
