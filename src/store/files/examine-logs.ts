/** The logs of a session, examined; their unusable ends cut off and damaged spans copied out where mending is asked for. */
import { constants, existsSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { RecordKind } from "../../message/record.ts";
import type { Examined } from "../store.ts";
import { BlobFolder } from "./blobs.ts";
import type { FetchBlob } from "./blobs.ts";
import { kindFiles } from "./codec.ts";
import { systemArchives } from "./archive-disk.ts";
import type { Examination } from "./examination.ts";
import { find } from "./examination.ts";
import { blobsFolder, systemCode } from "./layout.ts";
import type { LogScan } from "./scan.ts";
import { scanLog } from "./scan.ts";
import { keepDamaged, mendTail } from "./tail.ts";

/** Examines every log; `alive` when a process writes the session. Counts are those found, before mending. */
export async function examineLogs(
  examination: Examination,
  alive: boolean,
): Promise<Pick<Examined, "records" | "goodBytes" | "badBytes">> {
  const total = { records: 0, goodBytes: 0, badBytes: 0 };
  const missing = new Set<string>();
  const blobs = new BlobFolder(examination.place.folder, systemArchives, ({ sha256 }) => missing.add(sha256));
  for (const kind of Object.keys(kindFiles) as readonly RecordKind[]) {
    const scan = await examineLog(examination, kind, (name) => blobs.fetch(name), alive);
    if (!scan) continue;
    total.records += scan.records;
    total.goodBytes += scan.goodBytes;
    total.badBytes += scan.badBytes;
  }
  for (const sha256 of missing) {
    const message =
      "A large value that a line names is missing or damaged. The line shows its beginning and its end; restore it.";
    const path = join(examination.place.folder, blobsFolder, sha256);
    find(examination, path, { problem: "blob-missing", message, mended: false });
  }
  return total;
}

async function examineLog(
  examination: Examination,
  kind: RecordKind,
  fetch: FetchBlob,
  alive: boolean,
): Promise<LogScan | undefined> {
  const path = join(examination.place.folder, kindFiles[kind]);
  let file: number;
  const toMend = examination.mend && existsSync(path);
  try {
    file = systemArchives.open(path, toMend ? constants.O_RDWR | constants.O_APPEND : constants.O_RDONLY);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    if (kind === "message") {
      const message = "The messages are missing. Restore the file from a backup.";
      find(examination, path, { problem: "log-missing", message, mended: false });
    }
    return undefined;
  }
  try {
    const scan = await scanLog(file, kind, fetch, alive, systemArchives);
    findSpans(examination, scan, file, path);
    findTail({ ...examination, mend: toMend }, scan, file, path);
    findOdd(examination, scan, path);
    return scan;
  } finally {
    systemArchives.close(file);
  }
}

function findSpans(examination: Examination, scan: LogScan, file: number, path: string): void {
  for (const { offset, length, why } of scan.spans) {
    const copy = `${basename(path)}.corrupt-at-${offset}`;
    const where = { problem: "damaged", offset, length };
    const keptAs = beside(examination, path, copy);
    if (existsSync(join(examination.layout.base, keptAs))) {
      const message = `A damaged span, copied out before (${why}). It is stepped over; every record around it is read.`;
      find(examination, path, { ...where, severity: "notice", message, mended: false, keptAs });
      continue;
    }
    const mended = examination.mend && keepDamaged(file, path, offset, length, systemArchives) !== undefined;
    const message = `A damaged span (${why}). It is stepped over; a copy is put beside the log, which stays as it is.`;
    find(examination, path, { ...where, message, mended, ...(mended && { keptAs }) });
  }
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
