/** The examination of a session's logs. Mending cuts off their unusable ends and copies damaged spans out. */
import { constants, existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isWindrowError } from "../../../errors.ts";
import type { RecordKind } from "../../../message/record.ts";
import { LossCheck, runsText } from "../../shared/losses.ts";
import type { Run } from "../../shared/losses.ts";
import type { Seal } from "../../format/seal.ts";
import type { Examined } from "../../store.ts";
import { kindLogs } from "../../format/logs.ts";
import { BlobFolder } from "../log/blobs.ts";
import type { FetchBlob } from "../../format/blobs.ts";
import { kindFiles } from "../../format/logs.ts";
import { systemArchives } from "../../../disk/archive/archive-disk.ts";
import { readSeal, readState } from "../../format/documents.ts";
import type { Examination } from "./examination.ts";
import { find } from "./examination.ts";
import { examineLosses } from "./losses.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { systemCode } from "../../../disk/safe-write.ts";
import type { LogScan } from "./scan.ts";
import { scanLog } from "./scan.ts";
import { inspectTail, keepDamaged, mendTail } from "../log/tail.ts";

const kinds = Object.keys(kindFiles) as readonly RecordKind[];

/** One session's logs on their way past. */
interface Logs extends Examination {
  readonly fetch: FetchBlob;
  readonly check: LossCheck;
  readonly alive: boolean;
  /** The seal of the state, read before any log. */
  readonly seal: Seal | undefined;
  /** Logs that are not there. */
  readonly absent: Set<RecordKind>;
  /** Runs that a damaged span stands in the place of. */
  readonly inSpans: Set<string>;
}

/** Examines every log; `alive` when a process writes the session. Counts are those found, before mending. */
export async function examineLogs(
  examination: Examination,
  alive: boolean,
): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes">> {
  const { folder, completed } = examination.place;
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  const missing = new Set<string>();
  const blobs = new BlobFolder(folder, systemArchives, ({ sha256 }) => missing.add(sha256));
  const seal = readSeal(folder);
  // A writer may be at work, or begin to be: what it adds while the logs are read one by one is not concluded from.
  const check = new LossCheck(seal, completed ? undefined : newestPlace(folder));
  const state = readState(folder);
  if (state && state.llmCallCount + state.toolCallCount > 0) check.imply(1);
  const fetch: FetchBlob = (name) => blobs.fetch(name);
  const logs: Logs = { ...examination, fetch, check, alive, seal, absent: new Set(), inSpans: new Set() };
  for (const kind of kinds) {
    const scan = await examineLog(logs, kind);
    if (!scan) continue;
    total.records += scan.records;
    total.goodBytes += scan.goodBytes;
    total.badBytes += scan.badBytes;
  }
  for (const sha256 of missing) {
    const message =
      "A large value that a line names is missing or damaged. The line shows its beginning and its end; restore it.";
    const path = join(folder, blobsFolder, sha256);
    find(examination, path, { problem: "blob-missing", message, mended: false, remedy: "backup" });
  }
  const isTold = (kind: RecordKind, run: Run): boolean => logs.inSpans.has(runKey(kind, run));
  examineLosses(examination, check.result(), { absent: logs.absent, isTold });
  return total;
}

/** The highest place of all logs. */
function newestPlace(folder: string): number {
  let newest = 0;
  for (const name of Object.values(kindFiles)) {
    try {
      const file = systemArchives.open(join(folder, name), constants.O_RDONLY);
      try {
        newest = Math.max(newest, inspectTail(file, systemArchives.stat(file).size, systemArchives).pos);
      } finally {
        systemArchives.close(file);
      }
    } catch (error) {
      if (systemCode(error) !== "ENOENT" && !isWindrowError(error, "store-corrupt")) throw error;
    }
  }
  return newest;
}

/** A log that is just being compressed, or unpacked, has one name or the other: whoever misses both looks again. */
function openTwice(path: string, flags: number): number {
  try {
    return systemArchives.open(path, flags);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return systemArchives.open(path, flags);
  }
}

async function examineLog(logs: Logs, kind: RecordKind): Promise<LogScan | undefined> {
  const { place, mend, fetch, check, alive, seal } = logs;
  const path = join(place.folder, kindFiles[kind]);
  let file: number;
  const toMend = mend && existsSync(path);
  try {
    file = openTwice(path, toMend ? constants.O_RDWR | constants.O_APPEND : constants.O_RDONLY);
  } catch (error) {
    if (isWindrowError(error, "store-corrupt")) {
      check.unreadable(kindLogs[kind]);
      const message = `The log cannot be read: ${error.message}`;
      find(logs, path, { problem: "log-unreadable", message, mended: false, remedy: "backup" });
      return undefined;
    }
    if (systemCode(error) !== "ENOENT") throw error;
    // A folder that moved meanwhile is looked at again where it is now.
    if (!existsSync(place.folder)) throw error;
    logs.absent.add(kind);
    const counted = seal?.counts[kindLogs[kind]] ?? 0;
    if (kind === "message" || counted > 0) {
      const what = kind === "message" ? "The messages are missing" : "The log is missing";
      const message = `${what}${counted > 0 ? `: the state counts ${counted} records` : ""}. Restore the session from a backup.`;
      const records = counted > 0 ? { records: counted } : {};
      find(logs, path, { problem: "log-missing", message, mended: false, remedy: "backup", ...records });
    }
    return undefined;
  }
  try {
    const scan = await scanLog(file, kind, fetch, check, alive, systemArchives);
    for (const { lost } of scan.spans) if (lost) logs.inSpans.add(runKey(kind, lost));
    findSpans(logs, scan, file, path);
    findTail({ ...logs, mend: toMend }, scan, file, path);
    findOdd(logs, scan, path);
    return scan;
  } finally {
    systemArchives.close(file);
  }
}

/** A run of numbers of one log, for a set. */
function runKey(kind: RecordKind, [from, to]: Run): string {
  return `${kind} ${from}-${to}`;
}

/** A span in the place of records stays damage, whoever copied it aside: the records are not in the log. */
function findSpans(examination: Examination, scan: LogScan, file: number, path: string): void {
  for (const { offset, length, why, lost } of scan.spans) {
    const keptAs = beside(examination, path, `${basename(path)}.corrupt-at-${offset}`);
    const isKept =
      existsSync(join(examination.layout.base, keptAs)) ||
      (examination.mend && keepDamaged(file, path, offset, length, systemArchives) !== undefined);
    const where = { problem: "damaged", offset, length, ...(isKept && { keptAs }) };
    if (lost) {
      const records = lost[1] - lost[0] + 1;
      const message =
        `A damaged span (${why}). It held ${what(lost)}, which no reader finds any more; what is around it is read. ` +
        "Restore the session from a backup.";
      find(examination, path, { ...where, message, mended: false, remedy: "backup", records });
    } else if (isKept && !examination.mend) {
      const message = `A damaged span that holds no record, copied out before (${why}). It is stepped over.`;
      find(examination, path, { ...where, severity: "notice", message, mended: false });
    } else {
      const message = `A damaged span that holds no record (${why}). It is stepped over; a copy is put beside the log.`;
      find(examination, path, { ...where, message, mended: isKept });
    }
  }
}

function what([from, to]: Run): string {
  return from === to ? `record ${from}` : `records ${runsText({ gaps: [[from, to]], missing: to - from + 1 })}`;
}

function findTail(examination: Examination, { tail, size }: LogScan, file: number, path: string): void {
  if (tail.cutAt === undefined) return;
  const name = basename(path);
  const cut = examination.mend ? mendTail(file, path, name, tail, examination.stamp) : undefined;
  find(examination, path, {
    problem: "torn-tail",
    offset: tail.cutAt,
    length: size - tail.cutAt,
    message: "Its end is no whole record, as a crash leaves it. It is copied beside the log and cut off.",
    mended: cut !== undefined,
    ...(cut && { keptAs: beside(examination, path, cut.quarantine) }),
  });
}

const oddities: Readonly<Record<keyof LogScan["odd"], string>> = {
  "welded-lines": "lines hold more than one record, or a record and something else. Each record is read.",
  "empty-lines": "lines are blank. They are stepped over.",
  "crlf": "lines end with CR LF. They are read like the others.",
  "duplicate-seq": "lines carry a number that came before. Every one is read; by number the first is found.",
};

function findOdd(examination: Examination, { odd }: LogScan, path: string): void {
  for (const [problem, text] of Object.entries(oddities)) {
    const { count, first } = odd[problem as keyof LogScan["odd"]];
    if (count === 0) continue;
    find(examination, path, { problem, severity: "notice", offset: first, message: `${count} ${text}`, mended: false });
  }
}

/** A file beside a log, relative to the store's folder. */
function beside({ layout }: Examination, path: string, name: string): string {
  return relative(layout.base, join(dirname(path), name));
}
