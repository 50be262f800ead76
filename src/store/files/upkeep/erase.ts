/**
 * Erasing sessions from everything under the base folder. The ids and their owners are noted first, in `erasing/`, and
 * crossed out last, so that the next erasure or clean-up ends one that a crash cut short.
 */
import { basename, dirname, join, relative } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { inArchive, notFound, haveOneOwner } from "../../shared/rules.ts";
import { reaches, reachOf } from "../../shared/reach.ts";
import type { EraseScope, Reach } from "../../shared/reach.ts";
import type { Scope } from "../../store.ts";
import { inStoreToo, isKept } from "../../upkeep.ts";
import type { Erased, EraseElsewhere, ErasedPlace, Unerased } from "../../upkeep.ts";
import { keepFile, sizeOfFolder } from "./compress.ts";
import { indexFile } from "../index-file.ts";
import type { Disk } from "../../../disk/disk.ts";
import { asideFolder } from "../examine/examination.ts";
import { checkNotArchived } from "../log/open-log.ts";
import { lockFile } from "../../lock/owner-record.ts";
import { blobsFolder } from "../../format/blobs.ts";
import { syncFolder, systemCode } from "../../../disk/safe-write.ts";
import type { Layout } from "../layout.ts";
import { busy, holderOf } from "../../lock/lock.ts";
import { Leases, acquire } from "../../lock/steal.ts";
import { copiesIn, erasedPrefix } from "./copies.ts";
import type { Copy } from "./copies.ts";
import { erasingFolder, isThere, noteErasure, notesIn, notesOf } from "./notes.ts";
import type { ErasureNote } from "./notes.ts";
import { dropFromIndex, trashFolder } from "./trash.ts";

/** The sessions that an erasure means, and what goes with them. */
export interface WholeReach extends EraseScope {
  readonly elsewhere: EraseElsewhere;
}

/**
 * Erases sessions. What lies elsewhere goes beside other upkeep, as that may take long, or use the store; the notes keep the
 * ids from being given out.
 *
 * @param alone - runs work that no other process may do at the same time
 */
export async function eraseFolders(
  layout: Layout,
  reach: WholeReach,
  ids: readonly string[],
  tools: { readonly clock: Clock; readonly disk: Disk },
  alone: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<readonly Erased[]> {
  const { erased, notes } = await alone(() => removeAll(layout, reach, ids, tools));
  const others = await reach.elsewhere(ids);
  await alone(() => crossOut(layout, notes, tools.disk));
  return [...erased].map(([sessionId, places]) => ({ sessionId, places: [...places, ...others] }));
}

/**
 * Removes what the store has of sessions, and what its index says of them.
 *
 * @returns the places of each, and the notes that are to be crossed out
 */
async function removeAll(
  layout: Layout,
  reach: WholeReach,
  ids: readonly string[],
  { clock, disk }: { readonly clock: Clock; readonly disk: Disk },
): Promise<{
  readonly erased: ReadonlyMap<string, readonly ErasedPlace[]>;
  readonly notes: readonly ErasureNote[];
}> {
  const { elsewhere } = reach;
  const known = new Set(ids);
  const [found, begun] = [await copiesIn(layout, ids, disk), await notesIn(layout, disk, known)];
  const meant = new Map(
    ids.map((id) => [id, mayErase(layout, reach, id, found.get(id) ?? [], begun.get(id) ?? [], disk)]),
  );
  const isOwed = elsewhere.reachesArchive === true;
  const leases = new Leases(clock);
  const erased = new Map<string, ErasedPlace[]>();
  for (const [id, { owners, paths }] of meant) {
    const places: ErasedPlace[] = [];
    erased.set(id, places);
    const running = join(layout.running, id);
    const isRunning = paths.includes(running) && disk.exists(join(running, lockFile));
    const lock = isRunning ? acquire(running, { clock, disk }, leases) : undefined;
    try {
      for (const owner of owners) await noteErasure(layout, { id, owner, isOwed }, begun.get(id) ?? [], disk);
      for (const path of paths) places.push(...(await removeFrom(layout, id, path, disk)));
    } finally {
      lock?.release();
    }
    for (const name of [trashFolder, asideFolder] as const) {
      if (!places.some(({ place }) => place.startsWith(`${name}/`))) places.push(nothing(name));
    }
  }
  const dropped = await dropFromIndex(layout, known, disk);
  for (const [id, places] of erased) {
    const lines = dropped.get(id) ?? { count: 0, bytes: 0 };
    places.push({ kind: "index", place: indexFile, ...lines });
  }
  return { erased, notes: notesOf(reach, await notesIn(layout, disk, known)) };
}

/** Crosses out what an erasure has ended; another may have done so meanwhile, and a further one begun. */
async function crossOut(layout: Layout, notes: readonly ErasureNote[], disk: Disk): Promise<void> {
  for (const note of notes) if (isThere(note, disk)) disk.unlink(note.path);
  await syncFolder(join(layout.base, erasingFolder), disk);
}

/** Erasures that were begun: their notes are still there. With those that an archive is owed to where it is reached. */
export async function unerasedIn(
  layout: Layout,
  scope: Scope,
  reachesArchive: boolean,
  disk: Disk,
): Promise<readonly Unerased[]> {
  const notes = notesOf({ scope }, await notesIn(layout, disk));
  return notes.filter(({ isOwed }) => reachesArchive || !isOwed).map(({ id, owner }) => ({ ...owner, sessionId: id }));
}

/** A session that may be erased, and its paths. */
interface Erasable {
  readonly owners: readonly Scope[];
  readonly paths: readonly string[];
}

/**
 * The ids of which a store has something that may be erased. Nothing is changed.
 *
 * @throws WindrowError as {@link eraseFolders}, but for an id of which there is nothing
 */
export async function erasableIn(
  layout: Layout,
  reach: WholeReach,
  ids: readonly string[],
  disk: Disk,
): Promise<readonly string[]> {
  const [found, begun] = [await copiesIn(layout, ids, disk), await notesIn(layout, disk, new Set(ids))];
  return ids.filter((id) => {
    const [copies, notes] = [found.get(id) ?? [], begun.get(id) ?? []];
    if (meantOwners(reachOf(reach, id), copies, notes).length === 0) return false;
    mayErase(layout, reach, id, copies, notes, disk);
    return true;
  });
}

/** The owners in reach whose copies, or whose erasures that were begun, an id means. */
function meantOwners(reach: Reach, copies: readonly Copy[], notes: readonly ErasureNote[]): readonly Scope[] {
  const owners = [...copies, ...notes].map(({ owner }) => owner).filter((one) => one !== undefined);
  if (owners.length === 0 && copies.length > 0) owners.push({});
  const meant = owners.filter((one) => reaches(reach, one));
  return meant.filter((one, at) => meant.findIndex((other) => haveOneOwner(one, other)) === at);
}

/**
 * Refuses a session that is another's, is being written, or is kept; nothing was changed then.
 *
 * @returns its paths, without those of another owner's session of the same id
 */
function mayErase(
  layout: Layout,
  erased: WholeReach,
  id: string,
  found: readonly Copy[],
  notes: readonly ErasureNote[],
  disk: Disk,
): Erasable {
  const { elsewhere, trashAlone = false } = erased;
  const reach = reachOf(erased, id);
  const owners = meantOwners(reach, found, notes);
  if (owners.length === 0) throw notFound(id);
  if (elsewhere.reachesArchive !== true && notes.some(({ isOwed, owner }) => isOwed && reaches(reach, owner)))
    throw inArchive(id);
  const copies = found.filter((one) => !one.owner || reaches(reach, one.owner));
  for (const { path, kind, owner: whose } of copies) {
    if (kind === "session" && trashAlone) throw inStoreToo(id);
    const isBegun = notes.some(({ owner }) => (whose ? haveOneOwner(owner, whose) : reaches(reach, owner)));
    if (kind === "session" && !isBegun && disk.exists(join(path, keepFile))) throw isKept(id);
    const isWritten = dirname(path) === layout.running && disk.exists(join(path, lockFile));
    if (isWritten && holderOf(path, disk).state === "held") throw busy(path, disk);
    if (elsewhere.reachesArchive !== true) checkNotArchived({ id, folder: path }, disk);
  }
  return { owners, paths: copies.map(({ path }) => path) };
}

/** Removes one folder: readers lose sight of it at once, whole. */
async function removeFrom(layout: Layout, id: string, path: string, disk: Disk): Promise<readonly ErasedPlace[]> {
  const name = basename(path);
  const hidden = name.startsWith(erasedPrefix) ? path : join(dirname(path), `${erasedPrefix}${id}-${name}`);
  const kind = kindOf(relative(layout.base, path));
  if (hidden !== path) {
    await disk.removeTree(hidden);
    disk.rename(path, hidden);
    await syncFolder(dirname(path), disk);
  }
  const places = await placesIn(hidden, relative(layout.base, path), kind, disk);
  await disk.removeTree(hidden);
  await syncFolder(dirname(path), disk);
  return places;
}

function kindOf(place: string): ErasedPlace["kind"] {
  if (/^(?:running|completed)\/[^.]/.test(place.replaceAll("\\", "/"))) return "session";
  return place.startsWith(trashFolder) ? "trash" : "aside";
}

/** A session's files, one by one; its large values as one, as their names are made of what they hold. */
async function placesIn(
  folder: string,
  shown: string,
  kind: ErasedPlace["kind"],
  disk: Disk,
): Promise<readonly ErasedPlace[]> {
  let names: readonly string[];
  try {
    names = await disk.readFolder(folder);
  } catch (error) {
    if (systemCode(error) !== "ENOTDIR") throw error;
    return [{ kind, place: shown, count: 1, bytes: disk.statPath(folder).size }];
  }
  const places: ErasedPlace[] = [];
  for (const name of names) {
    if (name === blobsFolder) {
      const blobs = join(folder, name);
      const count = (await disk.readFolder(blobs)).length;
      const { bytes } = await sizeOfFolder(blobs, disk);
      places.push({ kind, place: join(shown, name), count, bytes });
    } else places.push({ kind, place: join(shown, name), count: 1, bytes: disk.statPath(join(folder, name)).size });
  }
  return places.length === 0 ? [{ kind, place: shown, count: 1, bytes: 0 }] : places;
}

function nothing(name: typeof trashFolder | typeof asideFolder): ErasedPlace {
  return { kind: name, place: `${name}/`, count: 0, bytes: 0 };
}
