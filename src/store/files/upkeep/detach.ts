/** Letting go of the logs of a session while an archive holds its records, and writing them again. */
import { join } from "node:path";
import { WindrowError } from "../../../errors.ts";
import { archiveEnding } from "../../../disk/archive/archive-disk.ts";
import type { Disk } from "../../../disk/disk.ts";
import { makeFolder, remove, replaceFile, syncFolder } from "../../../disk/safe-write.ts";
import { page } from "../../format/documents.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { kindFiles } from "../../format/logs.ts";
import { readOwner, holderOf } from "../../lock/lock.ts";
import type { LockTools } from "../../lock/lock.ts";
import { acquire } from "../../lock/steal.ts";
import { checkDetachable, resumedMeanwhile } from "../../shared/detach.ts";
import { inScope } from "../../shared/rules.ts";
import type { Scope, SessionDump, SessionMetadata, StoreDetaching } from "../../store.ts";
import { metadataFile, stateFile } from "../../format/documents.ts";
import { locate } from "../layout.ts";
import type { Layout, Place } from "../layout.ts";
import { noteIn, writeNote } from "../session/archived.ts";
import { stateOf } from "../session/state.ts";
import { writeDraft } from "../transfer.ts";
import { keepFile } from "./compress.ts";
import { ownerIn } from "./copies.ts";
import { alone, trashFolder } from "./trash.ts";

const logs: readonly string[] = Object.values(kindFiles);

/**
 * Makes the facet of a file store.
 *
 * @param find - where a session of the scope lies now, or `session-not-found`
 */
export function filesDetaching(
  layout: Layout,
  tools: LockTools,
  find: (scope: Scope, id: string) => { readonly place: Place; readonly metadata: SessionMetadata },
): StoreDetaching {
  const { disk } = tools;
  const writings = async (scope: Scope, id: string): Promise<number> => {
    const { place, metadata } = find(scope, id);
    const { status } = await stateOf(place, metadata, disk);
    if (!place.completed && holderOf(place.folder, disk).state === "held") throw resumedMeanwhile(id);
    checkDetachable(id, status, disk.exists(join(place.folder, keepFile)));
    return countOf(place, disk);
  };
  return {
    writings,
    detach: (scope, id, mark, expected) =>
      alone(layout, disk, async () => {
        if ((await writings(scope, id)) !== expected) throw resumedMeanwhile(id);
        const { place } = find(scope, id);
        // A closed session is held meanwhile, so that nobody resumes it.
        const lock = place.completed ? undefined : acquire(place.folder, tools);
        try {
          if (lock && countOf(place, disk) !== expected + 1) throw resumedMeanwhile(id);
          const { mark: before, moves } = noteIn(place.folder, disk);
          if (before?.key !== mark.key) await writeNote(place.folder, { mark, moves: moves + 1 }, disk);
          await removeLogs(place.folder, disk);
        } finally {
          lock?.release();
        }
      }),
    forgo: (scope, id, key, expected) =>
      alone(layout, disk, async () => {
        const trashed = { id, folder: join(layout.base, trashFolder, id), completed: true };
        const copies = [locate(layout, id, disk), disk.exists(trashed.folder) ? trashed : undefined];
        let isNamed = false;
        for (const place of copies) {
          if (!place) continue;
          const { mark, moves } = noteIn(place.folder, disk);
          isNamed ||= mark?.key === key;
          const isMeant = inScope(scope, ownerIn(place.folder, id, disk) ?? {});
          if (isMeant && countOf(place, disk) === expected)
            await writeNote(place.folder, { mark, moves: moves + 1 }, disk);
        }
        return !isNamed;
      }),
    async attach(scope, dump, { key }, signal) {
      const { place } = find(scope, dump.id);
      const { mark } = noteIn(place.folder, disk);
      if (!mark) return;
      if (mark.key !== key) throw resumedMeanwhile(dump.id);
      await writeDraft(layout, tools.clock, dump, signal, (draft) =>
        alone(layout, disk, async () => {
          const note = noteIn(place.folder, disk);
          if (note.mark?.key !== key) throw resumedMeanwhile(dump.id);
          await moveLogs(draft, place.folder, dump, disk);
          await writeNote(place.folder, { mark: undefined, moves: note.moves + 1 }, disk);
        }),
      );
    },
  };
}

/**
 * Grows with everybody who takes the session, and with every move of its records. It begins with the time of the making:
 * one that is made anew under the id has another number.
 */
function countOf({ folder, completed }: Place, disk: Disk): number {
  const generation = completed ? 0 : (readOwner(folder, disk)?.generation ?? 0);
  const madeAt = Math.floor(disk.statPath(join(folder, metadataFile)).mtimeMs);
  return madeAt + generation + noteIn(folder, disk).moves;
}

/** Removes the logs first and what they name last, so that no log that is read names what is gone. */
async function removeLogs(folder: string, disk: Disk): Promise<void> {
  const names = await disk.readFolder(folder);
  for (const log of logs) {
    for (const name of [log, `${log}${archiveEnding}`]) if (names.includes(name)) disk.unlink(join(folder, name));
  }
  await syncFolder(folder, disk);
  await disk.removeTree(join(folder, blobsFolder));
  await syncFolder(folder, disk);
}

/** Moves what a draft has into the session's folder: large values, the logs that name them, then the state. */
async function moveLogs(draft: string, folder: string, dump: SessionDump, disk: Disk): Promise<void> {
  const blobs = join(draft, blobsFolder);
  if (disk.exists(blobs)) {
    await makeFolder(join(folder, blobsFolder), disk);
    for (const name of await disk.readFolder(blobs)) disk.rename(join(blobs, name), join(folder, blobsFolder, name));
    await syncFolder(join(folder, blobsFolder), disk);
  }
  for (const log of logs) {
    if (!disk.exists(join(draft, log))) throw new WindrowError("store-corrupt", `The draft ${draft} lacks ${log}.`);
    remove(join(folder, `${log}${archiveEnding}`), disk);
    disk.rename(join(draft, log), join(folder, log));
  }
  await syncFolder(folder, disk);
  await replaceFile(join(folder, stateFile), page(dump.state), true, disk);
}
