/** The upkeep of sessions: marks that keep them, the trash, and what is put aside. Each is a mark on a session. */
import { maskJson } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import type { Head, Step } from "../engine.ts";
import { logNames } from "../format/logs.ts";
import { timestamp } from "../shared/clock.ts";
import { sizeInArchive } from "../shared/detach.ts";
import { newTaker } from "../shared/holder.ts";
import { heldBy } from "../shared/remote.ts";
import { inScope, isFinal, sessionId } from "../shared/rules.ts";
import { busy } from "../shared/unlock.ts";
import type { LogName, Scope } from "../store.ts";
import { isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { KeepMark, Upkeep } from "../upkeep.ts";
import { erase, unerased } from "./erase.ts";
import {
  asideId,
  change,
  encodeMark,
  find,
  findHead,
  firstRevision,
  hiddenHeads,
  isHiding,
  markOf,
  read,
} from "./found.ts";
import type { Core, Mark } from "./found.ts";
import { linesOf } from "./lines.ts";
import { filling } from "./transfer.ts";

/** Makes the upkeep of a store. */
export function upkeepOf(core: Core): Upkeep {
  const { engine } = core;
  return {
    async size(scope, id) {
      const { state } = await find(core, scope, id);
      if (state.archived) return sizeInArchive(state.archived);
      const { bytes } = await engine.size(id);
      return { bytes, plainBytes: bytes, compressed: false };
    },
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
      const known = [...new Set(ids)];
      for (const id of known) await trashable(core, scope, id);
      for (const id of known) {
        await change(core, async () => marking(await trashable(core, scope, id), { trashedAt: time }));
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
          trashedAt,
          ...(user !== undefined && { user }),
          createdAt: found?.metadata.createdAt ?? new Date(createdMs).toISOString(),
          bytes: archived?.objectBytes ?? (await engine.size(head.id)).bytes,
          ...(archived && { archivedAs: archived.key }),
        };
      }
    },
    async untrash(scope, id) {
      core.alive();
      await change(core, async () => {
        const head = await engine.head(sessionId(id));
        if (!head || !inScope(scope, head.listing)) throw notInTrash(id);
        const { trashedAt, ...others } = markOf(head);
        if (trashedAt === undefined) throw notInTrash(id);
        return marking(head, others);
      });
    },
    putAside: (scope, id) => putAside(core, scope, id),
    erase: (scope, ids, elsewhere, limits) => erase(core, { scope, ...limits }, ids, elsewhere),
    unerased: (scope, reachesArchive = false) => unerased(core, scope, reachesArchive),
  };
}

async function trashable(core: Core, scope: Scope, id: string): Promise<Head> {
  const { head, state, mark } = await find(core, scope, id);
  if (!isFinal(state.status)) throw notFinished(id);
  if (mark.kept) throw isKept(id);
  return head;
}

/** Another mark on a session. */
function marking(head: Head, mark: Mark): readonly [Head, Partial<Step>] {
  const listing = { ...head.listing, isHidden: isHiding(mark) };
  return [head, { documents: { mark: encodeMark(mark) }, listing }];
}

/** Moves a session to an id of its own, with every line as it is. */
async function putAside(core: Core, scope: Scope, id: string): Promise<string> {
  for (;;) {
    const head = await findHead(core, scope, id);
    const owner = heldBy(head);
    if (owner) throw busy(owner);
    const copy = await copyAside(core, head, logNames);
    if (await core.engine.remove(id, head.revision)) return core.engine.locationOf(copy.id);
    await core.engine.remove(copy.id, copy.revision);
  }
}

/**
 * Copies a session to an id of its own, as it is.
 *
 * @param logs - those whose lines are copied, too
 * @returns the copy, as {@link Engine.remove} takes it
 */
export async function copyAside(
  core: Core,
  head: Head,
  logs: readonly LogName[],
): Promise<Pick<Head, "id" | "revision">> {
  const { engine, clock } = core;
  const holder = newTaker(1, timestamp(clock));
  const [revision, mark] = [firstRevision(), encodeMark({ ...markOf(head), asideOf: head.id })];
  const copy = {
    documents: { ...head.documents, mark },
    listing: { ...head.listing, isHidden: true },
    revision,
    holder,
  };
  let n = 0;
  while (!(await engine.make({ id: asideId(head.id, n), ...copy }))) n += 1;
  const id = asideId(head.id, n);
  const fill = filling(core, id, revision);
  for (const log of logs) {
    for await (const { seq, pos, line } of linesOf(core, { id: head.id, head }, log))
      await fill.add({ log, seq, pos, line });
  }
  await fill.end({ holder: null });
  return { id, revision: fill.revision() };
}
