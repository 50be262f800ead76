/** The upkeep of a file store. */
import { join } from "node:path";
import type { Mask } from "../../../mask/mask.ts";
import { maskJson } from "../../../mask/mask.ts";
import { compressFolder, decompressFolder, keepFile, sizeOfFolder, verifyFolder } from "./compress.ts";
import type { Catalogue } from "../catalogue.ts";
import { page, readObject, readState } from "../../format/documents.ts";
import { eraseFolders, unerasedIn } from "./erase.ts";
import { checkNotErased } from "./notes.ts";
import type { Follow } from "../follow.ts";
import type { Layout } from "../layout.ts";
import { removeDrafts, replaceFile, syncFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { LockTools } from "../../lock/lock.ts";
import { holderOf } from "../../lock/lock.ts";
import { acquire } from "../../lock/steal.ts";
import { evenDamaged, putAside } from "./put-aside.ts";
import { alone, dropFromIndex, moveFromTrash, moveToTrash, trashedIn, trashFolder } from "./trash.ts";
import { sessionId } from "../../shared/rules.ts";
import type { Scope } from "../../store.ts";
import { inTrash, isKept, notFinished } from "../../upkeep.ts";
import type { KeepMark, SessionSize, Upkeep } from "../../upkeep.ts";

/** Looks at a session that moves meanwhile. */
const looks = 20;

/**
 * Makes the upkeep of a file store.
 *
 * @param mend - takes a session and lets it go, so that what a process left that died is mended
 * @param alive - throws once the store is closed
 */
export function filesUpkeep(
  layout: Layout,
  catalogue: Catalogue,
  mask: Mask,
  { clock, disk }: LockTools,
  mend: (scope: Scope, id: string) => Promise<void>,
  alive: () => void,
): Upkeep {
  const follow = (scope: Scope, id: string): Follow => {
    alive();
    return catalogue.follow(scope, id);
  };
  /** Works in the folder of a session: once more where it moved meanwhile. */
  const wherever = async <T>(now: Follow, work: (folder: string, look: number) => Promise<T>): Promise<T> => {
    for (let look = 1; ; look += 1) {
      const { folder } = now().place;
      try {
        return await work(folder, look);
      } catch (error) {
        if (systemCode(error) !== "ENOENT" || look === looks) throw unavailable(error, "Reading a session", folder);
      }
    }
  };
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    alive();
    try {
      return await alone(layout, disk, work);
    } catch (error) {
      throw unavailable(error, "Cleaning a store", layout.base);
    }
  };
  const finished = (scope: Scope, id: string): string => {
    const { folder, completed } = follow(scope, id)().place;
    if (!completed) throw notFinished(id);
    return folder;
  };
  /** Repacks a session that has ended, or one that is closed, which nobody may resume meanwhile. */
  const repack = (
    scope: Scope,
    id: string,
    work: (folder: string, mayRemove: () => void) => Promise<void>,
  ): Promise<SessionSize> =>
    change(async () => {
      const now = follow(scope, id);
      const { folder, completed } = now().place;
      if (completed) await work(folder, () => undefined);
      else {
        if (readState(folder, disk)?.status !== "closed") throw notFinished(id);
        if (holderOf(folder, disk).state === "gone") await mend(scope, id);
        const lock = acquire(folder, { clock, disk });
        try {
          now();
          if (readState(folder, disk)?.status !== "closed") throw notFinished(id);
          await work(folder, () => lock.check());
        } finally {
          lock.release();
        }
      }
      return sizeOfFolder(now().place.folder, disk);
    });
  const markOf = (folder: string): KeepMark | undefined => {
    if (!disk.exists(join(folder, keepFile))) return undefined;
    const { kept_at: keptAt, by, reason } = readObject(join(folder, keepFile), disk) ?? {};
    return {
      keptAt: typeof keptAt === "string" ? keptAt : "",
      ...(typeof by === "string" && { by }),
      ...(typeof reason === "string" && { reason }),
    };
  };
  return {
    size: async (scope, id) => wherever(follow(scope, id), (folder) => sizeOfFolder(folder, disk)),
    verify: async (scope, id) => wherever(follow(scope, id), (folder) => verifyFolder(folder, disk)),
    keep: (scope, id, { keptAt, ...why }) =>
      change(() =>
        wherever(follow(scope, id), async (folder, look) => {
          // The session took the draft along.
          if (look > 1) await removeDrafts(folder, disk);
          checkNotErased(layout, id, folder, disk);
          await replaceFile(join(folder, keepFile), page(maskJson(mask, { kept_at: keptAt, ...why })), true, disk);
        }),
      ),
    unkeep: (scope, id) =>
      change(() =>
        wherever(follow(scope, id), async (folder) => {
          if (markOf(folder) === undefined) return false;
          disk.unlink(join(folder, keepFile));
          await syncFolder(folder, disk);
          return true;
        }),
      ),
    async kept(scope, id) {
      alive();
      return markOf(evenDamaged(catalogue, layout, scope, id, disk).folder);
    },
    compress: (scope, id) => repack(scope, id, (folder, mayRemove) => compressFolder(folder, disk, mayRemove)),
    decompress: (scope, id) => repack(scope, id, (folder) => decompressFolder(folder, disk)),
    trash: (scope, ids, time) =>
      change(async () => {
        const known = new Set(ids);
        for (const id of known) {
          if (markOf(finished(scope, id))) throw isKept(id);
          if (disk.exists(join(layout.base, trashFolder, id))) throw inTrash(id);
        }
        const moved = new Set<string>();
        try {
          for (const id of known) {
            await moveToTrash(layout, id, time, disk);
            moved.add(id);
          }
        } finally {
          await dropFromIndex(layout, moved, disk);
        }
      }),
    async *trashed(scope, id) {
      alive();
      yield* trashedIn(layout, scope, id === undefined ? undefined : sessionId(id), disk);
    },
    untrash: (scope, id) => change(() => moveFromTrash(layout, scope, sessionId(id), disk)),
    putAside: (scope, id) => change(() => putAside(layout, scope, sessionId(id), { clock, disk })),
    async erase(scope, ids, elsewhere = async () => [], limits = {}) {
      const known = [...new Set(ids.map(sessionId))];
      if (known.length === 0) return [];
      return eraseFolders(layout, { scope, elsewhere, ...limits }, known, { clock, disk }, change);
    },
    async unerased(scope, reachesArchive = false) {
      alive();
      return unerasedIn(layout, scope, reachesArchive, disk);
    },
  };
}
