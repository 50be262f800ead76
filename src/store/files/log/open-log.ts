/** Opening a log for reading, while its session may move and its files may be compressed or unpacked. */
import { constants } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../../errors.ts";
import type { RecordKind } from "../../../message/record.ts";
import { kindFiles } from "../../format/logs.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { Place } from "../layout.ts";
import { hasNoLog } from "../layout.ts";
import { inArchive } from "../../shared/rules.ts";
import { noteIn } from "../session/archived.ts";

/** Looks at a folder before what it lacks counts as missing: it may have gone into the trash and come back meanwhile. */
const looks = 3;

/** A log, open for reading. */
export interface OpenLog {
  readonly place: Place;
  /** Absent for a log that was never begun: a session made before there was a log of this kind, or just being made. */
  readonly file?: number;
  readonly path: string;
}

/**
 * Opens a log, wherever its session lies by now.
 *
 * @param find - where the session lies now; throws where it is in no folder any more
 * @throws WindrowError `store-corrupt` where the messages of a session are missing; `session-archived`; what `find` throws
 */
export function openLog(find: () => Place, kind: RecordKind, disk: Disk): OpenLog {
  for (let look = 1; ; look += 1) {
    const place = find();
    const path = join(place.folder, kindFiles[kind]);
    try {
      return { place, file: disk.open(path, constants.O_RDONLY), path };
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw unavailable(error, "Reading a session", path);
    }
    checkNotArchived(place, disk);
    if (!disk.exists(place.folder) || look < looks) continue;
    if (kind !== "message" || hasNoLog(place, disk)) return { place, path };
    const message =
      `The messages of session ${place.id} are missing: there is no ${path}. Restore the session from a backup; ` +
      "`windrow doctor` says what is left of it.";
    throw new WindrowError("store-corrupt", message, { id: place.id, path });
  }
}

/**
 * Refuses a session whose records lie in an archive.
 *
 * @throws WindrowError `session-archived`
 */
export function checkNotArchived({ id, folder }: Pick<Place, "id" | "folder">, disk: Disk): void {
  const { mark } = noteIn(folder, disk);
  if (mark) throw inArchive(id, mark);
}

/** Whether an archive holds the records of a session. */
export function isArchived({ folder }: Place, disk: Disk): boolean {
  return noteIn(folder, disk).mark !== undefined;
}
