/** The upkeep of a file store. */
import { join } from "node:path";
import type { Mask } from "../../../mask/mask.ts";
import { maskJson } from "../../../mask/mask.ts";
import { compressFolder, decompressFolder, keepFile, sizeOfFolder, verifyFolder } from "./compress.ts";
import type { Catalogue } from "../catalogue.ts";
import { page, readObject } from "../../format/documents.ts";
import { eraseFolders, unerasedIn } from "./erase.ts";
import type { Layout, Place } from "../layout.ts";
import { replaceFile, syncFolder, systemCode, unavailable } from "../../../disk/safe-write.ts";
import type { LockTools } from "../../lock/lock.ts";
import { putAside } from "./put-aside.ts";
import { alone, dropFromIndex, moveFromTrash, moveToTrash, trashedIn, trashFolder } from "./trash.ts";
import { sessionId } from "../../shared/rules.ts";
import type { Scope } from "../../store.ts";
import { inTrash, isKept, notFinished } from "../../upkeep.ts";
import type { KeepMark, Upkeep } from "../../upkeep.ts";

/** Looks at a session that moves meanwhile. */
const looks = 20;

/**
 * Makes the upkeep of a file store.
 *
 * @param alive - throws once the store is closed
 */
export function filesUpkeep(
  layout: Layout,
  catalogue: Catalogue,
  mask: Mask,
  { clock, disk }: LockTools,
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
      const write = (): Promise<void> =>
        replaceFile(join(folder, keepFile), page(maskJson(mask, { kept_at: keptAt, ...why })), true, disk);
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
    compress: (scope, id) =>
      change(async () => {
        const folder = finished(scope, id);
        await compressFolder(folder, disk);
        return sizeOfFolder(folder, disk);
      }),
    decompress: (scope, id) =>
      change(async () => {
        const folder = finished(scope, id);
        await decompressFolder(folder, disk);
        return sizeOfFolder(folder, disk);
      }),
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
    async *trashed(scope) {
      alive();
      yield* trashedIn(layout, scope, disk);
    },
    untrash: (scope, id) => change(() => moveFromTrash(layout, scope, sessionId(id), disk)),
    putAside: (scope, id) => change(() => putAside(layout, scope, sessionId(id), { clock, disk })),
    async erase(scope, ids, elsewhere = async () => []) {
      const known = [...new Set(ids.map(sessionId))];
      if (known.length === 0) return [];
      return change(() => eraseFolders(layout, scope, known, elsewhere, { clock, disk }));
    },
    async unerased(scope) {
      alive();
      return unerasedIn(layout, scope, disk);
    },
  };
}
