/** The upkeep of a file store. */
import { join } from "node:path";
import type { Mask } from "../../../mask/mask.ts";
import { maskJson } from "../../../mask/mask.ts";
import { compressFolder, decompressFolder, keepFile, sizeOfFolder, verifyFolder } from "./compress.ts";
import type { Catalogue } from "../catalogue.ts";
import { page, readObject, readState } from "../../format/documents.ts";
import { eraseFolders, unerasedIn } from "./erase.ts";
import { checkNotErased } from "./notes.ts";
import type { Layout, Place } from "../layout.ts";
import { replaceFile, syncFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { LockTools } from "../../lock/lock.ts";
import { holderOf } from "../../lock/lock.ts";
import { acquire } from "../../lock/steal.ts";
import { putAside } from "./put-aside.ts";
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
  const find = (scope: Scope, id: string): Place => {
    alive();
    return catalogue.find(scope, id).place;
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
    const { folder, completed } = find(scope, id);
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
      const { folder, completed } = find(scope, id);
      if (completed) await work(folder, () => undefined);
      else {
        if (readState(folder, disk)?.status !== "closed") throw notFinished(id);
        if (holderOf(folder, disk).state === "gone") await mend(scope, id);
        const lock = acquire(folder, { clock, disk });
        try {
          if (readState(folder, disk)?.status !== "closed") throw notFinished(id);
          await work(folder, () => lock.check());
        } finally {
          lock.release();
        }
      }
      return sizeOfFolder(find(scope, id).folder, disk);
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
    async size(scope, id) {
      for (let look = 1; ; look += 1) {
        try {
          return await sizeOfFolder(find(scope, id).folder, disk);
        } catch (error) {
          // It went into the trash, or came back from there, meanwhile.
          if (systemCode(error) !== "ENOENT" || look === looks)
            throw unavailable(error, "Reading a session", layout.base);
        }
      }
    },
    async verify(scope, id) {
      const { folder } = find(scope, id);
      await verifyFolder(folder, disk).catch((error: unknown) => {
        throw unavailable(error, "Reading a session", folder);
      });
    },
    async keep(scope, id, { keptAt, ...why }) {
      const { folder } = find(scope, id);
      const write = (): Promise<void> => {
        checkNotErased(layout, id, folder, disk);
        return replaceFile(join(folder, keepFile), page(maskJson(mask, { kept_at: keptAt, ...why })), true, disk);
      };
      await change(write);
    },
    async unkeep(scope, id) {
      const { folder } = find(scope, id);
      if (markOf(folder) === undefined) return false;
      await change(async () => {
        disk.unlink(join(folder, keepFile));
        await syncFolder(folder, disk);
      });
      return true;
    },
    kept: async (scope, id) => markOf(find(scope, id).folder),
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
      return change(() => eraseFolders(layout, { scope, elsewhere, ...limits }, known, { clock, disk }));
    },
    async unerased(scope, reachesArchive = false) {
      alive();
      return unerasedIn(layout, scope, reachesArchive, disk);
    },
  };
}
