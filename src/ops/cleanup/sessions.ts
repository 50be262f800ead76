/** Sessions that upkeep works on: found by name, and taken one after the other, so that none stops the others. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import { isSessionId } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store, StoreArchiving } from "../../store/store.ts";
import { notInTrash } from "../../store/upkeep.ts";
import type { TrashedSession } from "../../store/upkeep.ts";
import { messageOf } from "../look/errors.ts";
import { findSession, idNamed } from "../look/find.ts";

/** Work that could not be done, and why; without an id it concerns more than one session. */
export interface UpkeepFailure {
  readonly sessionId?: string;
  readonly message: string;
}

/** How work on many sessions goes on. */
export interface Run {
  /** Takes what could not be done. */
  readonly failures: UpkeepFailure[];
  /** Called after every session, with how many are done. */
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Works on sessions one after the other. A session that refuses is a failure, unless another process took it away meanwhile.
 *
 * @throws WindrowError `aborted`
 */
export async function eachSession(
  store: Store,
  scope: Scope,
  sessions: Iterable<SessionInfo> | AsyncIterable<SessionInfo>,
  work: (session: SessionInfo) => Promise<void>,
  { failures, onProgress, signal }: Run,
): Promise<void> {
  let done = 0;
  for await (const session of sessions) {
    if (signal?.aborted) throw new WindrowError("aborted", "The work was stopped; what was done stays done.");
    const { uuid: sessionId } = session.metadata;
    try {
      await work(session);
    } catch (error) {
      const isGone = isWindrowError(error, "session-not-found") || !(await isThere(store, scope, sessionId));
      if (!isGone) failures.push({ sessionId, message: messageOf(error) });
    }
    onProgress?.((done += 1));
  }
}

/** Whether the store has the session, and not only its trash; a store that cannot say counts as one that has it. */
async function isThere(store: Store, scope: Scope, id: string): Promise<boolean> {
  return liveId(store, scope, id).then(
    (found) => found !== undefined,
    () => true,
  );
}

/**
 * The archive beside a store.
 *
 * @throws WindrowError `bad-option` if it was opened without one
 */
export function archivingOf(store: Store): StoreArchiving {
  if (store.archiving) return store.archiving;
  const message = `The ${store.name} store was opened without an archive: name one with --archive, or \`archive\` in the configuration.`;
  throw new WindrowError("bad-option", message, { store: store.name });
}

/** The id that a name means. */
export async function idOf(store: Store, scope: Scope, name: string): Promise<string> {
  return (await findSession(store, scope, name)).metadata.uuid;
}

/** The id of a session outside the trash; undefined if there is none of this name. */
export async function liveId(store: Store, scope: Scope, name: string): Promise<string | undefined> {
  try {
    return await idOf(store, scope, name);
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    // One that cannot be described is there.
    if (isWindrowError(error, "store-corrupt") && isSessionId(name.toLowerCase())) return name.toLowerCase();
    throw error;
  }
}

/**
 * The session in the trash whose id begins so.
 *
 * @throws WindrowError `session-not-found`; `bad-option` if several do
 */
export async function trashedNamed(store: Store, scope: Scope, name: string): Promise<TrashedSession> {
  const found = new Map<string, TrashedSession>();
  const id = isSessionId(name.toLowerCase()) ? name.toLowerCase() : undefined;
  for await (const one of store.upkeep.trashed(scope, id)) found.set(one.sessionId, one);
  const session = found.get(idNamed(found.keys(), name) ?? "");
  if (session) return session;
  throw notInTrash(name);
}
