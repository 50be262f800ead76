/** The upkeep of a store in memory: a trash and marks, and nothing to compress. */
import { maskJson } from "../../mask/mask.ts";
import type { Mask } from "../../mask/mask.ts";
import type { JsonObject } from "../../message/message.ts";
import { alreadyExists, haveOneOwner, inScope, isFinal, notFound, sessionId } from "../shared/rules.ts";
import { reaches, reachOf } from "../shared/reach.ts";
import type { Scope } from "../scope.ts";
import type { SessionMetadata, SessionState } from "../store.ts";
import { inStoreToo, inTrash, isKept, notFinished, notInTrash } from "../upkeep.ts";
import type { Erased, KeepMark, Upkeep } from "../upkeep.ts";
import { WindrowError } from "../../errors.ts";

/** The fields of a session in memory that upkeep reads. */
export interface RamEntry {
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly records: ReadonlyMap<string, readonly object[]>;
  readonly holder: object | undefined;
}

/** The sessions of a store in memory, and those in its trash. */
export interface RamSessions<S extends RamEntry> {
  readonly sessions: Map<string, S>;
  readonly trash: Map<string, { readonly session: S; readonly time: string }>;
}

/**
 * Refuses an id that is taken, or that lies in the trash of another owner.
 *
 * @throws WindrowError `session-exists`
 */
export function checkFreeId<S extends RamEntry>(
  { sessions, trash }: RamSessions<S>,
  metadata: Scope & { readonly uuid: string },
): void {
  const { uuid: id } = metadata;
  const old = trash.get(id)?.session.metadata;
  if (sessions.has(id) || (old && !haveOneOwner(old, metadata))) throw alreadyExists(id);
}

/** Makes the upkeep of a store in memory. */
export function ramUpkeep<S extends RamEntry>(
  { sessions, trash }: RamSessions<S>,
  mask: Mask,
  alive: () => void,
): Upkeep {
  const marks = new Map<string, KeepMark>();
  const find = (scope: Scope, id: string): S => {
    alive();
    const session = sessions.get(sessionId(id));
    if (!session || !inScope(scope, session.metadata)) throw notFound(id);
    return session;
  };
  const upkeep: Upkeep = {
    async size(scope, id) {
      const bytes = bytesOf(find(scope, id));
      return { bytes, plainBytes: bytes, compressed: false };
    },
    async keep(scope, id, mark) {
      find(scope, id);
      marks.set(id, maskJson(mask, { ...mark } as JsonObject) as unknown as KeepMark);
    },
    async unkeep(scope, id) {
      find(scope, id);
      return marks.delete(id);
    },
    async kept(scope, id) {
      find(scope, id);
      return marks.get(id);
    },
    async trash(scope, ids, time) {
      for (const id of ids) {
        if (!isFinal(find(scope, id).state.status)) throw notFinished(id);
        if (marks.has(id)) throw isKept(id);
        if (trash.has(id)) throw inTrash(id);
      }
      for (const id of new Set(ids)) {
        trash.set(id, { session: find(scope, id), time });
        sessions.delete(id);
      }
    },
    async *trashed(scope, one) {
      alive();
      if (one !== undefined) sessionId(one);
      for (const [id, { session, time }] of trash) {
        const { user, createdAt } = session.metadata;
        if ((one ?? id) !== id || !inScope(scope, session.metadata)) continue;
        yield {
          sessionId: id,
          trashedAt: time,
          ...(user !== undefined && { user }),
          createdAt,
          bytes: bytesOf(session),
        };
      }
    },
    async untrash(scope, id) {
      alive();
      const found = trash.get(sessionId(id));
      if (!found || !inScope(scope, found.session.metadata)) throw notInTrash(id);
      if (sessions.has(id)) throw alreadyExists(id);
      sessions.set(id, found.session);
      trash.delete(id);
    },
    async erase(scope, ids, elsewhere = async () => [], limits = {}) {
      alive();
      const known = [...new Set(ids.map(sessionId))];
      for (const id of known) {
        const entry = sessions.get(id) ?? trash.get(id)?.session;
        if (!entry || !reaches(reachOf({ scope, ...limits }, id), entry.metadata)) throw notFound(id);
        if (limits.trashAlone === true && sessions.has(id)) throw inStoreToo(id);
        if (marks.has(id)) throw isKept(id);
        if (entry.holder) throw isWritten(id);
      }
      const erased: Erased[] = [];
      for (const id of known) {
        const live = sessions.get(id);
        const old = trash.get(id)?.session;
        sessions.delete(id);
        trash.delete(id);
        const place = (kind: "session" | "trash", name: string, one: S | undefined) => ({
          kind,
          place: name,
          count: one ? 1 : 0,
          bytes: one ? bytesOf(one) : 0,
        });
        const places = [place("session", `ram:${id}`, live), place("trash", "ram:trash", old)];
        erased.push({ sessionId: id, places });
      }
      const others = await elsewhere(known);
      return erased.map(({ sessionId: id, places }) => ({ sessionId: id, places: [...places, ...others] }));
    },
    unerased: async () => [],
  };
  return upkeep;
}

function bytesOf({ records }: RamEntry): number {
  let bytes = 0;
  for (const log of records.values()) for (const record of log) bytes += Buffer.byteLength(JSON.stringify(record));
  return bytes;
}

function isWritten(id: string): WindrowError {
  const message = `Session ${id} is being written by this process; nothing was erased. Close it first.`;
  return new WindrowError("session-busy", message, { id });
}
