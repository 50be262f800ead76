/**
 * The notes of erasures that are under way: `erasing/<uuid>.json` for an id, `erasing/<uuid>.<hash>.json` for each further owner
 * of it. All name their owners.
 */
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Disk } from "../../../disk/disk.ts";
import { systemDisk } from "../../../disk/disk.ts";
import { makeFolder, replaceFile } from "../../../disk/safe-write.ts";
import { metadataIn, page, readObject } from "../../format/documents.ts";
import { beingErased, haveOneOwner, isSessionId, ownerNamed, ownerOf } from "../../shared/rules.ts";
import { reaches, reachOf } from "../../shared/reach.ts";
import type { EraseScope } from "../../shared/reach.ts";
import type { Scope } from "../../scope.ts";
import { namesIn } from "../layout.ts";
import type { Layout } from "../layout.ts";

/** Folder under the base folder: the erasures that were begun and have not ended, a file each. */
export const erasingFolder = "erasing";

/** An erasure that was begun and has not ended. */
export interface ErasureNote {
  readonly id: string;
  readonly owner: Scope;
  /** Whether its objects are to go from an archive, too. */
  readonly isOwed: boolean;
  readonly path: string;
  /** The mark of its making. Absent in one of an earlier version. */
  readonly mark?: string;
}

/** All notes of a store, or those of some ids, by id. */
export async function notesIn(
  layout: Layout,
  disk: Disk,
  ids?: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly ErasureNote[]>> {
  const folder = join(layout.base, erasingFolder);
  const found = new Map<string, ErasureNote[]>();
  for (const name of await namesIn(folder, disk)) {
    const [id = ""] = name.split(".", 1);
    if (!name.endsWith(".json") || !isSessionId(id) || ids?.has(id) === false) continue;
    const note = noteAt(join(folder, name), id, disk);
    const others = found.get(id);
    if (note && others) others.push(note);
    else if (note) found.set(id, [note]);
  }
  return found;
}

/** The notes among them whose owners are in reach. */
export function notesOf(
  erased: EraseScope,
  notes: ReadonlyMap<string, readonly ErasureNote[]>,
): readonly ErasureNote[] {
  return [...notes.values()].flat().filter(({ id, owner }) => reaches(reachOf(erased, id), owner));
}

/**
 * Notes that an owner's erasure of an id is under way, where no note says so.
 *
 * @param begun - the notes of the id that are there
 * @param isOwed - whether its objects are to go from an archive, too
 */
export async function noteErasure(
  layout: Layout,
  { id, owner, isOwed }: Omit<ErasureNote, "path" | "mark">,
  begun: readonly ErasureNote[],
  disk: Disk,
): Promise<void> {
  const own = begun.find((note) => haveOneOwner(note.owner, owner));
  if (own && (own.isOwed || !isOwed)) return;
  // Processes of an earlier version see the first alone, and refuse the id.
  const first = join(layout.base, erasingFolder, `${id}.json`);
  const path = own?.path ?? (disk.exists(first) ? noteFile(layout, id, owner) : first);
  await makeFolder(join(layout.base, erasingFolder), disk);
  await replaceFile(
    path,
    page({ ...ownerOf(owner), ...(isOwed && { archive: true }), mark: randomUUID() }),
    true,
    disk,
  );
}

/** Whether a note still stands, and at its path no other one that was made since. */
export function isThere({ id, path, mark }: ErasureNote, disk: Disk): boolean {
  const now = noteAt(path, id, disk);
  return now !== undefined && now.mark === mark;
}

/**
 * Refuses an id whose erasure has not ended, whoever's it is; asked behind {@link locate}, as the note goes last.
 *
 * @throws WindrowError `session-busy`
 */
export async function checkNoneErased(layout: Layout, id: string, disk: Disk): Promise<void> {
  if ((await notesIn(layout, disk, new Set([id]))).size > 0) throw beingErased(id);
}

/**
 * Refuses a session whose erasure has not ended; that of another owner's session of the same id holds up none.
 *
 * @throws WindrowError `session-busy`
 */
export function checkNotErased(layout: Layout, id: string, folder: string, disk: Disk = systemDisk): void {
  const owner = ownerOf(metadataIn(folder, id, disk) ?? {});
  if (disk.exists(noteFile(layout, id, owner))) throw beingErased(id);
  const first = noteAt(join(layout.base, erasingFolder, `${id}.json`), id, disk);
  if (first && haveOneOwner(first.owner, owner)) throw beingErased(id);
}

function noteFile({ base }: Layout, id: string, { tenant, user }: Scope): string {
  const hash = createHash("sha256").update(JSON.stringify([tenant ?? null, user ?? null]));
  return join(base, erasingFolder, `${id}.${hash.digest("hex")}.json`);
}

/** A note; undefined where its erasure has ended. One that cannot be read names nobody. */
function noteAt(path: string, id: string, disk: Disk): ErasureNote | undefined {
  const fields = readObject(path, disk);
  if (!fields && !disk.exists(path)) return undefined;
  const { archive, mark } = fields ?? {};
  const made = typeof mark === "string" && { mark };
  return { id, owner: ownerNamed(fields ?? {}), isOwed: archive === true, path, ...made };
}
