/** Opening a log for reading, while its session may move and its files may be compressed or unpacked. */
import { constants } from "node:fs";
import { join } from "node:path";
import { WindrowError } from "../../../errors.ts";
import type { RecordKind } from "../../../message/record.ts";
import { kindFiles } from "../../format/logs.ts";
import type { Disk } from "../../../disk/disk.ts";
import { systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { Follow } from "../follow.ts";
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
}

/**
 * Opens a log, wherever its session lies by now.
 *
 * @param now - where the session lies; asked again behind the opening, as another may have come into its place
 * @throws WindrowError `store-corrupt` where the messages of a session are missing; `session-archived`; what `now` throws
 */
export function openLog(now: Follow, kind: RecordKind, disk: Disk): OpenLog {
  for (let look = 1; ; look += 1) {
    const { place } = now();
    const path = join(place.folder, kindFiles[kind]);
    let file: number | undefined;
    try {
      file = disk.open(path, constants.O_RDONLY);
      now();
      return { place, file };
    } catch (error) {
      if (file !== undefined) disk.close(file);
      if (systemCode(error) !== "ENOENT") throw unavailable(error, "Reading a session", path);
    }
    checkNotArchived(place, disk);
    if (!disk.exists(place.folder) || look < looks) continue;
    if (kind !== "message" || hasNoLog(place, disk)) return { place };
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
