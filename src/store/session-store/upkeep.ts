/** The upkeep of sessions: marks that keep them, the trash, and what is put aside. Each is a mark on a session. */
import { randomUUID } from "node:crypto";
import { maskJson } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { EngineSize, Head } from "../engine.ts";
import { sizeInArchive } from "../shared/detach.ts";
import { checkTime, inScope, isAtRest, isFinal, sessionId } from "../shared/rules.ts";
import type { Scope } from "../store.ts";
import { isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { KeepMark, SessionSize, Upkeep } from "../upkeep.ts";
import { erase, unerased } from "./erase.ts";
import { change, checkFree, find, findHead, hiddenHeads, marking, markOf, read } from "./found.ts";
import type { Core } from "./found.ts";

/** Makes the upkeep of a store. */
export function upkeepOf(core: Core): Upkeep {
  const { engine } = core;
  return {
    async size(scope, id) {
      const { state } = await find(core, scope, id);
      if (state.archived) return sizeInArchive(state.archived);
      return sizeOf(await engine.size(id));
    },
    ...(engine.compress && { compress: (scope, id) => repack(core, scope, id, (at) => engine.compress!(id, at)) }),
    ...(engine.decompress && {
      decompress: (scope, id) => repack(core, scope, id, (at) => engine.decompress!(id, at)),
    }),
    ...(engine.verify && {
      async verify(scope, id) {
        const { state } = await find(core, scope, id);
        if (!state.archived) await engine.verify!(id);
      },
    }),
    async keep(scope, id, mark) {
      const kept = maskJson(core.mask, { ...mark } as unknown as JsonObject) as unknown as KeepMark;
      await change(core, async () => {
        const head = await findHead(core, scope, id);
        return marking(head, { ...markOf(head), kept });
      });
    },
    async unkeep(scope, id) {
      let wasKept = false;
      await change(core, async () => {
        const head = await findHead(core, scope, id);
        const { kept, ...others } = markOf(head);
        wasKept = kept !== undefined;
        return wasKept ? marking(head, others) : undefined;
      });
      return wasKept;
    },
    async kept(scope, id) {
      return markOf(await findHead(core, scope, id)).kept;
    },
    async trash(scope, ids, time) {
      checkTime("time", time);
      const known = [...new Set(ids)];
      for (const id of known) await trashable(core, scope, id);
      const trashed: string[] = [];
      try {
        for (const id of known) {
          await change(core, async () => {
            const head = await trashable(core, scope, id);
            return marking(head, { ...markOf(head), trashedAt: time });
          });
          trashed.push(id);
        }
      } catch (error) {
        for (const id of trashed) await untrash(core, scope, id);
        throw error;
      }
    },
    async *trashed(scope, one) {
      core.alive();
      for await (const head of hiddenHeads(core, scope, one)) {
        const { trashedAt } = markOf(head);
        if (trashedAt === undefined) continue;
        const { user, createdMs } = head.listing;
        const found = read(head);
        const { archived } = found?.state ?? {};
        yield {
          sessionId: head.id,
          ...(trashedAt !== "" && { trashedAt }),
          ...(user !== undefined && { user }),
          createdAt: found?.metadata.createdAt ?? new Date(createdMs).toISOString(),
          bytes: archived?.objectBytes ?? (await engine.size(head.id)).bytes,
          ...(archived && { archivedAs: archived.key }),
        };
      }
    },
    untrash: (scope, id) => untrash(core, scope, id),
    putAside: (scope, id) => putAside(core, scope, id),
    erase: (scope, ids, elsewhere, limits) => erase(core, scope, ids, elsewhere, limits),
    unerased: (scope, reachesArchive = false) => unerased(core, scope, reachesArchive),
  };
}

function sizeOf({ bytes, plainBytes = bytes, compressed = false }: EngineSize): SessionSize {
  return { bytes, plainBytes, compressed };
}

/** Compresses or unpacks a session that is at rest. */
async function repack(
  core: Core,
  scope: Scope,
  id: string,
  work: (at: number) => Promise<boolean>,
): Promise<SessionSize> {
  for (;;) {
    const { head, state } = await find(core, scope, id);
    if (!isAtRest(state.status)) throw notFinished(id);
    checkFree(head);
    if (await work(head.revision)) return sizeOf(await core.engine.size(id));
  }
}

async function trashable(core: Core, scope: Scope, id: string): Promise<Head> {
  const { head, state, mark } = await find(core, scope, id);
  if (!isFinal(state.status)) throw notFinished(id);
  if (mark.kept) throw isKept(id);
  checkFree(head);
  return head;
}

async function untrash(core: Core, scope: Scope, id: string): Promise<void> {
  core.alive();
  await change(core, async () => {
    const head = await core.engine.head(sessionId(id));
    if (!head || !inScope(scope, head.listing)) throw notInTrash(id);
    const { trashedAt, ...others } = markOf(head);
    if (trashedAt === undefined) throw notInTrash(id);
    return marking(head, others);
  });
}

/** Moves a session to an id of its own, as it is. */
async function putAside(core: Core, scope: Scope, id: string): Promise<string> {
  let to = "";
  await change(core, async () => {
    to = randomUUID().slice(0, 24) + id.slice(24);
    const head = await findHead(core, scope, id);
    checkFree(head);
    const [, step] = marking(head, { ...markOf(head), asideOf: id });
    return [head, { ...step, to }];
  });
  return core.engine.locationOf(to);
}
