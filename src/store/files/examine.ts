/**
 * The examination of what only files can have: names that are no sessions, drafts and torn ends that a crash left, modes, files that
 * cannot be unpacked, and the index. Nothing is changed unless mending is asked for.
 */
import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { constants } from "node:fs";
import { join, relative } from "node:path";
import { ArchiveFile } from "../../disk/archive/archive-file.ts";
import { archiveEnding } from "../../disk/archive/archive-disk.ts";
import type { Disk } from "../../disk/disk.ts";
import { isAtWork, remove, systemCode } from "../../disk/safe-write.ts";
import { decodeState, parseDocument, stateFile } from "../format/documents.ts";
import { logNames } from "../format/logs.ts";
import { holdQuietly } from "../lock/lock.ts";
import { isSessionId } from "../shared/rules.ts";
import type { Head } from "../engine.ts";
import type { Finding } from "../store.ts";
import { alone, behindOthers } from "./alone.ts";
import type { Catalogue } from "./catalogue.ts";
import { isPlaced } from "./changes.ts";
import { textOf, writeDocuments } from "./folder.ts";
import { indexFile } from "./index-file.ts";
import { draftPrefix, locate, namesIn, parents } from "./layout.ts";
import type { Place } from "./layout.ts";
import { inspectTail, mendTail } from "./log/tail.ts";
import { isFilesStore, noStoreIn } from "./there.ts";
import { withFile } from "../../disk/read.ts";

/** A store that is examined. */
export interface Examination {
  readonly base: string;
  readonly disk: Disk;
  readonly catalogue: Catalogue;
  readonly mend: boolean;
  /** For the names of side files. */
  readonly stamp: string;
  readonly headAt: (place: Place) => Promise<Head | undefined>;
  readonly settle: (head: Head) => Promise<boolean>;
}

type Report = (path: string, finding: Omit<Finding, "severity" | "file"> & Partial<Finding>) => void;

/**
 * Examines a store.
 *
 * @throws WindrowError `store-unavailable` when there is no store in the folder
 */
export async function examineFolders(examination: Examination): Promise<readonly Finding[]> {
  const { base, disk } = examination;
  if (!isFilesStore(base)) throw noStoreIn(base);
  const found: Finding[] = [];
  examineMode(examination, base, 0o700, reporter(base, found));
  for (const parent of parents) {
    const folder = join(base, parent);
    if (!disk.exists(folder)) continue;
    examineMode(examination, folder, 0o700, reporter(base, found));
    for (const name of await namesIn(folder, disk)) {
      const place = { id: name, parent, folder: join(folder, name) };
      try {
        if (isSessionId(name)) await examineSession(examination, place, reporter(base, found, name));
        else await examineStranger(examination, place.folder, name, reporter(base, found));
      } catch (error) {
        if (systemCode(error) === undefined) throw error;
        // It moved or went meanwhile.
        if (systemCode(error) === "ENOENT" && locate(base, name, disk)?.folder !== place.folder) continue;
        const message = `It cannot be read: ${systemCode(error)}. Everything else was examined.`;
        reporter(base, found)(place.folder, { problem: "unreadable", message, mended: false, remedy: "hand" });
      }
    }
  }
  await examineIndex(examination, reporter(base, found));
  return found;
}

function reporter(base: string, found: Finding[], sessionId?: string): Report {
  const about = sessionId === undefined ? {} : { sessionId };
  return (path, finding) => found.push({ severity: "damage", ...about, file: relative(base, path) || ".", ...finding });
}

/** Something that is no session: what a cut-short making or removal left, or another's. */
async function examineStranger(
  { base, disk, mend }: Examination,
  path: string,
  name: string,
  report: Report,
): Promise<void> {
  const isDraft = Object.values(draftPrefix).some((prefix) => name.includes(prefix));
  if (!isDraft) {
    const message = "This is no session: its name is no UUID. Windrow leaves it alone.";
    return report(path, { problem: "foreign", severity: "notice", message, mended: false });
  }
  const hold = mend ? holdQuietly(path, disk) : undefined;
  hold?.release();
  const mended = hold !== undefined;
  // Who removes a session does so alone.
  if (mended) await alone(base, disk, () => disk.removeTree(path));
  const message = "A session whose making or removal was cut short, or is under way. Nobody is told of what is in it.";
  report(path, { problem: "draft", severity: mended ? "damage" : "notice", message, mended });
}

async function examineSession(examination: Examination, place: Place, report: Report): Promise<void> {
  const { base, disk, mend } = examination;
  const first = locate(base, place.id, disk)?.folder;
  if (first !== undefined && first !== place.folder) {
    // One that moved between the looks is no second one.
    if (![first, place.folder, first].every((folder) => disk.exists(folder))) return;
    const message = `The session lies in ${relative(base, first)} too, which is the one that is read. Compare the two, and move one away by hand.`;
    return report(place.folder, { problem: "in-both-folders", message, mended: false, remedy: "hand" });
  }
  const examine = async (): Promise<void> => {
    const hold = mend ? holdQuietly(place.folder, disk) : undefined;
    const { holder, isAlive } = (await examination.headAt(place)) ?? {};
    const isHeld = mend ? !hold : holder !== undefined && isAlive !== false;
    const held = { ...examination, mend: hold !== undefined };
    try {
      examineEntries(held, place.folder, report);
      for (const log of logNames) await examineTail(held, join(place.folder, `${log}.jsonl`), isHeld, report);
      await examineState(held, place, report);
    } finally {
      hold?.release();
    }
  };
  await (mend ? alone(base, disk, examine) : examine());
  const half = async (): Promise<Head | undefined> => {
    const head = disk.exists(place.folder) ? await examination.headAt(place) : undefined;
    return head && !isPlaced(place, head) ? head : undefined;
  };
  const head = (await half()) && (await behindOthers(base, disk, half));
  if (!head) return;
  const mended = mend && (await examination.settle(head));
  report(place.folder, { problem: "half-moved", message: "A move of it was cut short. Mending ends it.", mended });
}

/** A state that a power cut took is counted again. */
async function examineState({ mend, headAt, disk }: Examination, place: Place, report: Report): Promise<void> {
  const path = join(place.folder, stateFile);
  const head = await headAt(place);
  if (!head || decodeState(parseDocument(textOf(path, disk))) || head.documents.state === "") return;
  const problem = disk.exists(path) ? "state-unreadable" : "state-missing";
  if (mend) await writeDocuments(place.folder, { state: head.documents.state }, true, disk);
  const message = "The state is counted again from usage.jsonl, tools.jsonl and edits.jsonl, and written anew.";
  report(path, { problem, message, mended: mend });
}

/** The modes of a session's files, drafts that a crash left, and files that cannot be unpacked. */
function examineEntries(examination: Examination, folder: string, report: Report): void {
  const { disk, mend } = examination;
  examineMode(examination, folder, 0o700, report);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) examineMode(examination, path, 0o700, report);
    else if (/^\..+\.tmp$/.test(entry.name)) {
      if (isAtWork(path, disk)) continue;
      if (mend) remove(path, disk);
      const message = "A draft that a crash left; it is no part of the session. It is removed.";
      report(path, { problem: "draft", message, mended: mend });
    } else if (entry.isFile()) {
      examineMode(examination, path, 0o600, report);
      if (entry.name.endsWith(archiveEnding)) examineArchive(path, disk, report);
    }
  }
}

function examineMode({ mend }: Examination, path: string, wanted: number, report: Report): void {
  const found = process.platform === "win32" ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!found) return;
  const mode = found.mode & 0o777;
  if (mode === wanted) return;
  if (mend) chmodSync(path, wanted);
  const message = `Its mode is 0${mode.toString(8)}; 0${wanted.toString(8)} keeps other users of the machine out.`;
  report(path, { problem: "bad-mode", message, mended: mend });
}

function examineArchive(path: string, disk: Disk, report: Report): void {
  const file = disk.open(path, constants.O_RDONLY);
  try {
    for (const { member, members, offset, length } of new ArchiveFile(file, path, disk).verify()) {
      const message = `Member ${member} of ${members} cannot be unpacked. Restore the session from a backup.`;
      report(path, { problem: "damaged", offset, length, message, mended: false, remedy: "backup" });
    }
  } finally {
    disk.close(file);
  }
}

async function examineTail(examination: Examination, path: string, isHeld: boolean, report: Report): Promise<void> {
  const { disk, stamp } = examination;
  const mend = examination.mend && existsSync(path);
  await withFile(path, disk, (file) => {
    const { size } = disk.stat(file);
    const tail = inspectTail(file, size, disk);
    // A writer may be at work.
    if (tail.cutAt === undefined || (isHeld && tail.problem === "unfinished")) return;
    let keptAs: string | undefined;
    if (mend) {
      const toMend = disk.open(path, constants.O_RDWR | constants.O_APPEND);
      try {
        keptAs = mendTail(toMend, path, path, tail, stamp, disk)?.quarantine;
      } finally {
        disk.close(toMend);
      }
    }
    report(path, {
      ...{ problem: "torn-tail", offset: tail.cutAt, length: size - tail.cutAt },
      message: "Its end is no whole record, as a crash leaves it. It is copied beside the log and cut off.",
      mended: keptAs !== undefined,
      ...(keptAs !== undefined && { keptAs: relative(examination.base, keptAs) }),
    });
  });
}

async function examineIndex({ base, catalogue, mend }: Examination, report: Report): Promise<void> {
  const wrong = await catalogue.wrongLines();
  if (wrong === 0) return;
  if (mend) await catalogue.rebuild();
  const message = `${wrong} of its lines are unreadable, or say something else than the sessions. It is made anew from the sessions.`;
  report(join(base, indexFile), { problem: "stale-index", message, mended: mend });
}
