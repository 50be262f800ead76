/** The seal of a session's folder: made from its logs when it ends, and compared with them when it is opened again. */
import { constants } from "node:fs";
import { basename, join } from "node:path";
import { WindrowError } from "../../../errors.ts";
import type { JsonObject } from "../../../message/message.ts";
import type { RecordKind } from "../../../message/record.ts";
import { SealHash, checksumOf, originalChecksum } from "../../format/seal.ts";
import type { Seal } from "../../format/seal.ts";
import type { LogName, Recovered } from "../../store.ts";
import { kindLogs, logKinds, logNames } from "../../format/logs.ts";
import { decodeRecord } from "../../format/record.ts";
import { kindFiles } from "../../format/logs.ts";
import type { Disk } from "../../../disk/disk.ts";
import { BadLine } from "../../format/fields.ts";
import { readSeal } from "../../format/documents.ts";
import { linesForward, numberOf, parseLine } from "../../format/lines.ts";
import { archiveEnding } from "../../../disk/archive/archive-disk.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import type { LogFile } from "./log-file.ts";
import { inspectTail } from "./tail.ts";

/** The hash over the logs of a session that nobody adds to any more. Reads them once, a piece at a time. */
export async function sealOfFolder(folder: string, disk: Disk): Promise<string> {
  const hash = new SealHash();
  for (const log of logNames) {
    const file = openLog(join(folder, `${log}.jsonl`), disk);
    if (file === undefined) continue;
    try {
      for await (const { bytes } of linesForward(file, 0, disk.stat(file).size, disk)) addLine(hash, log, bytes);
    } finally {
      disk.close(file);
    }
  }
  return hash.digest();
}

/** Adds a line to a seal. A line that begins with its number and ends with its checksum is not parsed. */
function addLine(hash: SealHash, log: LogName, bytes: Buffer): void {
  const seq = /^\{"seq":(\d{1,15}),/.exec(bytes.toString("latin1", 0, 30))?.[1];
  const crc = /^,"crc":"([0-9a-f]{8})"\}$/.exec(bytes.toString("latin1", Math.max(0, bytes.length - 18)))?.[1];
  const isPlain = !bytes.includes('"blob":') && !bytes.includes(originalChecksum) && !bytes.includes('{"seq":', 1);
  if (seq !== undefined && crc !== undefined && isPlain) {
    hash.add(log, Number(seq), checksumOf({ fields: { crc }, text: bytes }));
    return;
  }
  const { objects, damaged } = parseLine(bytes);
  const isWhole = objects.length === 1 && damaged.length === 0;
  for (const fields of objects) {
    const number = numberOf(fields);
    if (number === undefined || !isRecord(log, fields)) continue;
    hash.add(log, number, checksumOf({ fields, text: textOf(bytes, fields, isWhole), isSpilled: spills(log, fields) }));
  }
}

/** A record's line, as every store gives it out. */
export function textOf(bytes: Buffer, fields: JsonObject, isWhole: boolean): string {
  return isWhole ? bytes.toString("utf8").trim() : JSON.stringify(fields);
}

/** Whether a value of a line stands in a file of its own. */
function spills(log: LogName, fields: JsonObject): boolean {
  let asked = false;
  decodeRecord(logKinds[log], fields, () => {
    asked = true;
    return undefined;
  });
  return asked;
}

function isRecord(log: LogName, fields: JsonObject): boolean {
  try {
    decodeRecord(logKinds[log], fields);
    return true;
  } catch (error) {
    if (error instanceof BadLine) return false;
    throw error;
  }
}

/**
 * Makes sure that no log is gone that held records: opened for writing it would be made anew, and be empty.
 *
 * @throws WindrowError `store-corrupt`
 */
export function checkLogs(folder: string, seal: Seal | undefined, disk: Disk): void {
  for (const [kind, name] of Object.entries(kindFiles)) {
    const path = join(folder, name);
    const counted = seal?.counts[kindLogs[kind as RecordKind]] ?? 0;
    if ((kind !== "message" && counted === 0) || disk.exists(path) || disk.exists(`${path}${archiveEnding}`)) continue;
    // A folder that moved takes its logs with it: that is told by who asks for the session again.
    if (disk.exists(folder)) throw logIsGone(path, counted);
  }
}

/**
 * Records that were acknowledged and are gone, as far as the ends of the logs tell.
 *
 * @throws WindrowError `store-corrupt` where no message is left of a session that had some
 */
export function missingFrom(
  folder: string,
  logs: ReadonlyMap<RecordKind, LogFile>,
  seal: Seal | undefined,
): readonly Recovered[] {
  const found = missingBehind(logs, seal);
  const messages = found.find(({ file }) => file === kindFiles.message);
  if (messages && logs.get("message")?.seq === 0) {
    throw logIsGone(join(folder, kindFiles.message), messages.records ?? 0);
  }
  return found;
}

/** As {@link missingFrom}, of a session as it lies there. Reads the ends of its logs. */
export function missingNow(folder: string, disk: Disk): readonly Recovered[] {
  const ends = new Map<RecordKind, LogEnd>();
  const seal = readSeal(folder, disk);
  for (const [kind, name] of Object.entries(kindFiles)) {
    const file = openLog(join(folder, name), disk);
    if (file === undefined) continue;
    try {
      const { size } = disk.stat(file);
      ends.set(kind as RecordKind, { size, ...inspectTail(file, size, disk) });
    } finally {
      disk.close(file);
    }
  }
  return missingBehind(ends, seal);
}

type LogEnd = Pick<LogFile, "seq" | "pos" | "size">;

function missingBehind(ends: ReadonlyMap<RecordKind, LogEnd>, seal: Seal | undefined): readonly Recovered[] {
  const found: Recovered[] = [];
  let [records, newest] = [0, 0];
  for (const [kind, name] of Object.entries(kindFiles)) {
    const { seq, pos, size } = ends.get(kind as RecordKind) ?? { seq: 0, pos: 0, size: 0 };
    const counted = seal?.counts[kindLogs[kind as RecordKind]] ?? 0;
    records += Math.max(seq, counted);
    newest = Math.max(newest, pos);
    if (counted > seq) found.push(missing(name, size, counted - seq));
  }
  // Without a count: every record has a place of its own, and so the places cannot outnumber the records.
  if (newest > records) found.push(missing(kindFiles.message, ends.get("message")?.size ?? 0, newest - records));
  return found;
}

function missing(file: string, offset: number, records: number): Recovered {
  return { file, offset, length: 0, problem: "missing", quarantine: "", records };
}

function logIsGone(path: string, records: number): WindrowError {
  const id = basename(join(path, ".."));
  const count = records > 0 ? ` (${records} records)` : "";
  return new WindrowError(
    "store-corrupt",
    `${path} is missing or empty, and what it held is gone${count}. \`windrow restore ${id} --from BACKUP --to STORE ` +
      "--replace` brings the session back; `windrow doctor` says more.",
    { path, id, records },
  );
}

function openLog(path: string, disk: Disk): number | undefined {
  try {
    return disk.open(path, constants.O_RDONLY);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
