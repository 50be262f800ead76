/** Sessions whose making was cut short. No caller was told that they exist, and nothing was acknowledged in them. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Examined } from "../../store.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { readSeal, readState } from "../../format/documents.ts";
import { readIndex } from "./index-lines.ts";
import { find, moveAside } from "./examination.ts";
import type { Examination } from "./examination.ts";
import { hasNoLog } from "../layout.ts";
import { blobsFolder } from "../../format/blobs.ts";
import type { Layout, Place } from "../layout.ts";
import { holderOf } from "../../lock/lock.ts";
import { readOwnerRecord } from "../../lock/owner-record.ts";

/** A folder that is younger may be that of a session which is just being made, in milliseconds. */
const makingMs = 60_000;

/**
 * Whether a session was never made to its end: it has no log, its state knows of nothing that was written, nobody let go
 * of it in order, and the index, which gets its line when a session is whole, does not know it.
 */
export function isDraft(layout: Layout, place: Place): boolean {
  if (!hasNoLog(place) || systemDisk.exists(join(place.folder, blobsFolder))) return false;
  const status = readState(place.folder)?.status ?? "initializing";
  if (status !== "initializing" || readSeal(place.folder) !== undefined) return false;
  return readOwnerRecord(place.folder, systemDisk)?.["released"] !== true && !readIndex(layout).known.has(place.id);
}

/** Moves a session aside whose making was cut short. One that may be under way is left alone. */
export async function examineDraft(examination: Examination): Promise<Examined> {
  const { place, mend, clock, findings } = examination;
  const age = clock.now() - statSync(place.folder).mtimeMs;
  const isAtWork = age < makingMs || holderOf(place.folder).state === "held";
  const keptAs = mend && !isAtWork ? await moveAside(examination, place.folder) : undefined;
  find(examination, place.folder, {
    problem: "draft",
    severity: isAtWork ? "notice" : "damage",
    message: isAtWork
      ? "The beginning of a session that is being made, or whose making was cut short a moment ago. It holds nothing yet."
      : "The beginning of a session whose making was cut short. Nothing was ever kept in it. It is moved aside.",
    mended: keptAs !== undefined,
    ...(keptAs === undefined ? {} : { keptAs }),
  });
  return { sessionId: place.id, records: 0, goodBytes: 0, badBytes: 0, findings };
}
