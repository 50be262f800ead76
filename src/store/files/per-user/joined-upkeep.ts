/** The upkeep of several stores of files as one. */
import { join } from "node:path";
import { systemDisk } from "../../../disk/disk.ts";
import { alreadyExists, inScope, notFound, sessionId } from "../../shared/rules.ts";
import type { Scope } from "../../scope.ts";
import { nowhere } from "../../shared/detach.ts";
import { inFrontOf, storeShape } from "../../shared/shape.ts";
import type { Call } from "../../shared/shape.ts";
import { inTrash, isKept, notFinished, notInTrash } from "../../upkeep.ts";
import type { Erased, Upkeep } from "../../upkeep.ts";
import { readMetadata } from "../../format/documents.ts";
import { layoutOf, locate } from "../layout.ts";
import type { Layout } from "../layout.ts";
import { erasableIn } from "../upkeep/erase.ts";
import { trashedMetadata, trashFolder } from "../upkeep/trash.ts";

/** A store of files, and its upkeep. */
interface Part {
  readonly layout: Layout;
  readonly upkeep: Upkeep;
}

/**
 * The upkeep of several stores of files as one: each call goes to the stores that have something of the session.
 *
 * @param first - that of a store which is always there, and can do what the others can
 * @param folders - the folders of the stores; of a scope those that may have something of its own, and can be read
 */
export function joinedUpkeep(
  first: Upkeep,
  folders: (scope?: Scope) => readonly string[],
  upkeepOf: (folder: string) => Upkeep,
): Upkeep {
  const parts = (scope?: Scope): readonly Part[] =>
    folders(scope).map((folder) => ({ layout: layoutOf(folder), upkeep: upkeepOf(folder) }));
  /** The store that has the session; its own check says whether the scope sees it. */
  const having = (id: string): Part => {
    sessionId(id);
    const part = parts().find(({ layout }) => locate(layout, id));
    if (!part) throw notFound(id);
    return part;
  };
  const trashOf = ({ layout }: Part, id: string): string => join(layout.base, trashFolder, id);
  const each = inFrontOf(first, storeShape.upkeep.methods, (name) => async (...given) => {
    const [, id] = given as [Scope, string];
    const { upkeep } = having(id);
    return Reflect.apply(Reflect.get(upkeep, name) as Call, upkeep, given);
  });
  return {
    ...each,
    async trash(scope, ids, time) {
      const own = new Map<Upkeep, string[]>();
      for (const id of ids) {
        const { layout, upkeep } = having(id);
        own.set(upkeep, [...(own.get(upkeep) ?? []), id]);
        // Each store would refuse its own, when others have moved theirs.
        const mark = await upkeep.kept(scope, id);
        const place = locate(layout, id);
        if (place) readMetadata(place.folder, id);
        if (place?.completed !== true) throw notFinished(id);
        if (mark) throw isKept(id);
        if (parts().some((part) => systemDisk.exists(trashOf(part, id)))) throw inTrash(id);
      }
      for (const [upkeep, some] of own) await upkeep.trash(scope, some, time);
    },
    async *trashed(scope, id) {
      for (const { upkeep } of parts(scope)) yield* upkeep.trashed(scope, id);
    },
    async untrash(scope, id) {
      sessionId(id);
      const part = parts(scope).find(({ layout }) => {
        const metadata = trashedMetadata(layout, id, systemDisk);
        return metadata && inScope(scope, metadata);
      });
      if (!part) throw notInTrash(id);
      if (parts().some(({ layout }) => locate(layout, id))) throw alreadyExists(id);
      await part.upkeep.untrash(scope, id);
    },
    async erase(scope, ids, elsewhere = nowhere, limits = {}) {
      const known = [...new Set(ids.map(sessionId))];
      // All are looked at before the first is removed.
      const found: [Upkeep, readonly string[]][] = [];
      for (const { layout, upkeep } of parts(scope)) {
        found.push([upkeep, await erasableIn(layout, { scope, elsewhere, ...limits }, known, systemDisk)]);
      }
      const missing = known.find((id) => !found.some(([, some]) => some.includes(id)));
      if (missing !== undefined) throw notFound(missing);
      const erased = new Map<string, Erased>();
      for (const [upkeep, some] of found) {
        for (const one of await upkeep.erase(scope, some, elsewhere, limits)) {
          const places = [...(erased.get(one.sessionId)?.places ?? []), ...one.places];
          erased.set(one.sessionId, { ...one, places });
        }
      }
      return known.map((id) => erased.get(id)!);
    },
    async unerased(scope, ...how) {
      const each = await Promise.all(parts(scope).map(({ upkeep }) => upkeep.unerased(scope, ...how)));
      const named = each.flat().map((one) => [JSON.stringify([one.sessionId, one.tenant, one.user]), one] as const);
      return [...new Map(named).values()];
    },
  };
}
