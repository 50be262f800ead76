/** The folder of a new session: it gets its name when it is whole, and never takes that of another. */
import { dirname, join } from "node:path";
import type { Disk } from "../../disk/disk.ts";
import { draftOf, makeFolder, makeNewFolder, syncFolder, systemCode, writeNewFiles } from "../../disk/safe-write.ts";
import type { NewHead } from "../engine.ts";
import { metadataFile, page, parseDocument, stateFile } from "../format/documents.ts";
import { kindFiles } from "../format/logs.ts";
import { takeLock } from "../lock/lock.ts";
import type { SessionLock } from "../lock/lock.ts";
import { markFile } from "./folder.ts";
import { draftPrefix, locate, parentFor, parents, placeIn } from "./layout.ts";
import type { Place } from "./layout.ts";

/**
 * Makes the folder of a session, locked.
 *
 * @returns undefined where a session has the id
 */
export async function makeSession(
  base: string,
  { id, documents, listing, holder }: NewHead,
  disk: Disk,
): Promise<{ readonly place: Place; readonly lock: SessionLock } | undefined> {
  const place = placeIn(base, parentFor(listing), id);
  for (const parent of ["running", "completed", place.parent]) await makeFolder(join(base, parent), disk);
  if (locate(base, id, disk)) return undefined;
  const draft = draftOf(join(dirname(place.folder), `${draftPrefix.making}${id}`));
  makeNewFolder(draft, disk);
  const lock = takeLock(draft, holder, () => true, disk) as SessionLock;
  let made = draft;
  let isDone = false;
  try {
    const marked =
      documents.mark === ""
        ? []
        : [[markFile, page({ mark: parseDocument(documents.mark) ?? {}, listing: { ...listing } })]];
    const files = [[metadataFile, documents.metadata], [stateFile, documents.state], ...marked];
    const logs = Object.values(kindFiles).map((name) => [name, ""]);
    // The system syncs several files at once in little more time than one.
    await writeNewFiles(
      [...files, ...logs].map(([name = "", text = ""]) => [join(draft, name), text] as const),
      disk,
    );
    await Promise.all([lock.sync(), syncFolder(draft, disk)]);
    if (!gotName(draft, place.folder, disk)) return undefined;
    made = place.folder;
    // One that had the id may have ended between the two looks.
    if (parents.some((parent) => parent !== place.parent && disk.exists(join(base, parent, id)))) return undefined;
    await syncFolder(dirname(place.folder), disk);
    isDone = true;
    return { place, lock };
  } finally {
    if (!isDone) {
      lock.abandon();
      await disk.removeTree(made);
    }
  }
}

function gotName(draft: string, folder: string, disk: Disk): boolean {
  try {
    disk.rename(draft, folder);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOTEMPTY" || systemCode(error) === "EEXIST") return false;
    throw error;
  }
}
