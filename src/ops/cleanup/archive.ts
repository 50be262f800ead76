/** Archiving: what can be undone. A finished session is compressed and reads on; one in the trash is brought back. */
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { Scope, Store } from "../../store/store.ts";
import { isSessionId } from "../../store/shared/rules.ts";
import { notInTrash } from "../../store/upkeep.ts";
import type { SessionSize, TrashedSession } from "../../store/upkeep.ts";
import { archivingOf } from "./archive-old.ts";
import { idOf, upkeepOf } from "./keep.ts";

/** The outcome of archiving one session. */
export interface ArchiveReport {
  readonly sessionId: string;
  /** How the session changed; `restored` means that it came back from the trash, `unarchived` from the archive. */
  readonly done: "compressed" | "decompressed" | "restored" | "unarchived";
  readonly before: SessionSize;
  readonly after: SessionSize;
}

/** Options of archiving: the owner of the sessions. */
export interface ArchiveOptions {
  /** Default: every user's, of no tenant. */
  readonly scope?: Scope;
}

/**
 * Compresses a finished session now, however young it is.
 *
 * @param name - its id, the beginning of it, or `latest`
 * @throws WindrowError `bad-option` for one that is not finished, or where the store has nothing to compress;
 *   `session-not-found`
 */
export async function archive(store: Store, name: string, { scope = {} }: ArchiveOptions = {}): Promise<ArchiveReport> {
  const upkeep = upkeepOf(store);
  if (!upkeep.compress) throw cannotCompress(store);
  const sessionId = await idOf(store, scope, name);
  const before = await upkeep.size(scope, sessionId);
  return { sessionId, done: "compressed", before, after: await upkeep.compress(scope, sessionId) };
}

/**
 * Undoes it; a session in the archive comes back from there, and one in the trash comes back from there first.
 *
 * @param name - its id, or the beginning of it
 */
export async function unarchive(
  store: Store,
  name: string,
  { scope = {} }: ArchiveOptions = {},
): Promise<ArchiveReport> {
  const upkeep = upkeepOf(store);
  const sessionId = await liveId(store, scope, name);
  if (sessionId === undefined) {
    const trashed = await trashedNamed(store, scope, name);
    await upkeep.untrash(scope, trashed.sessionId);
    const size = await upkeep.size(scope, trashed.sessionId);
    return { sessionId: trashed.sessionId, done: "restored", before: size, after: size };
  }
  const before = await upkeep.size(scope, sessionId);
  if ((await store.info(scope, sessionId)).state.archived) {
    await archivingOf(store).unarchive(scope, sessionId);
    return { sessionId, done: "unarchived", before, after: await upkeep.size(scope, sessionId) };
  }
  if (!upkeep.decompress) throw cannotCompress(store);
  return { sessionId, done: "decompressed", before, after: await upkeep.decompress(scope, sessionId) };
}

/** The id of a session outside the trash; undefined where there is none of this name. */
export async function liveId(store: Store, scope: Scope, name: string): Promise<string | undefined> {
  try {
    return await idOf(store, scope, name);
  } catch (error) {
    if (isWindrowError(error, "session-not-found")) return undefined;
    const id = name.toLowerCase();
    // One that cannot be described is there.
    if (isWindrowError(error, "store-corrupt") && isSessionId(id)) return id;
    throw error;
  }
}

/** Whether the store itself has a session of the id, and not only its trash. */
export async function isInStore(store: Store, scope: Scope, id: string): Promise<boolean> {
  return (await liveId(store, scope, id)) !== undefined;
}

/**
 * The session in the trash whose id begins so.
 *
 * @throws WindrowError `session-not-found`; `bad-option` where several do
 */
export async function trashedNamed(store: Store, scope: Scope, name: string): Promise<TrashedSession> {
  const found: TrashedSession[] = [];
  const wanted = name.toLowerCase();
  const id = isSessionId(wanted) ? wanted : undefined;
  for await (const one of upkeepOf(store).trashed(scope, id)) if (one.sessionId.startsWith(wanted)) found.push(one);
  const [only] = found;
  if (!only || wanted.length < 4) throw notInTrash(name);
  if (found.length === 1) return only;
  const message = `"${name}" is the beginning of ${found.length} ids in the trash; give more of it.`;
  throw new WindrowError("bad-option", message, { id: name, candidates: found.map(({ sessionId }) => sessionId) });
}

function cannotCompress(store: Store): WindrowError {
  const message = `The ${store.name} store does not compress sessions; a store of files does.`;
  return new WindrowError("bad-option", message, { store: store.name });
}
