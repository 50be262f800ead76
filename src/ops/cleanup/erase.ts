/** Erasing a session for good: nothing of it is left in the store or beside it, and a receipt names the places that were searched. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import { isSessionId, notFound } from "../../store/shared/rules.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { Erased, ErasedPlace, EraseElsewhere, EraseLimits, Unerased } from "../../store/upkeep.ts";
import { forgetSessions } from "../../memory/forget.ts";
import { liveId, trashedNamed } from "./archive.ts";
import { upkeepOf } from "./keep.ts";
import { SearchIndex } from "../../search/search.ts";

/** Options of erasing: the owner, and the places beside the store. */
export interface EraseOptions {
  /** The owner of the sessions. Default: every user's, of no tenant. */
  readonly scope?: Scope;
  /** The folder of the search index (`searchFolderOf`). Default: there is none. */
  readonly index?: string;
  /** Erases what a program keeps of sessions elsewhere, as a memory's passages; its places join the receipt. */
  readonly elsewhere?: EraseElsewhere;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

/** The proof of an erasure. It names places and sizes, and nothing of what stood there. */
export interface EraseReceipt extends Erased {
  /** ISO 8601, UTC. */
  readonly erasedAt: string;
  /** Whether it was begun before, and cut short. */
  readonly resumed: boolean;
  /** Forks of it, by id: they took over messages of its, and are sessions of their own. Erase them too where they must go. */
  readonly forks: readonly string[];
}

/** The places and sizes of a session's data, before it is erased. */
export interface ErasePlan {
  readonly sessionId: string;
  readonly where: "store" | "trash" | "remains";
  /** Bytes; 0 where only remains are left, or where a damaged session does not tell. */
  readonly bytes: number;
}

/**
 * Erases sessions, wherever they are, and ends erasures that were cut short; one of these that is refused now is left to the
 * next call.
 *
 * @param names - ids, also of sessions in the trash; or the beginnings of them
 * @throws WindrowError `session-busy` while a process writes one; `bad-option` for one that is kept; `session-not-found`;
 *   `store-unavailable` where a place cannot be reached now: the erasure is then ended by the next call
 */
export async function erase(
  store: Store,
  names: readonly string[],
  options: EraseOptions = {},
): Promise<readonly EraseReceipt[]> {
  const { scope = {}, now = () => new Date() } = options;
  const begun = await upkeepOf(store).unerased(scope);
  const named = new Set<string>();
  for (const name of names) named.add((await planErase(store, name, { scope })).sessionId);
  const erased = await eraseAll(store, named, options);
  const left = begun.filter(({ sessionId }) => !named.has(sessionId));
  const ended = await endAll(store, left, options).catch((error: unknown) => {
    if (named.size === 0) throw error;
    return [];
  });
  const resumed = new Set(begun.map(({ sessionId }) => sessionId));
  return [...ended, ...erased].map((one) => receiptOf(one, now(), resumed.has(one.sessionId)));
}

/** A session of an owner. */
type Owned = Pick<Unerased, "sessionId" | "user">;

/** The users of sessions, by their ids: what is done with one is not done with another's of the same id. */
function usersOf(sessions: readonly Owned[]): ReadonlyMap<string, readonly (string | undefined)[]> {
  const users = new Map<string, (string | undefined)[]>();
  for (const { sessionId, user } of sessions) users.set(sessionId, [...(users.get(sessionId) ?? []), user]);
  return users;
}

/** The receipt of an erasure: the places of a session, and its forks. */
type ErasedWithForks = Erased & Pick<EraseReceipt, "forks">;

/**
 * Ends erasures that were begun, and nothing of another owner: all at once; where one is refused, id by id, and it is left to
 * the next call. One that another process ended meanwhile is no failure.
 */
async function endAll(
  store: Store,
  begun: readonly Unerased[],
  options: EraseOptions,
): Promise<readonly ErasedWithForks[]> {
  const users = usersOf(begun);
  const ids = [...users.keys()];
  try {
    return await eraseAll(store, new Set(ids), options, { users });
  } catch (error) {
    if (ids.length === 1 && isWindrowError(error, "session-not-found")) return [];
    if (ids.length < 2 || !isOfOneSession(error)) throw error;
  }
  const ended: ErasedWithForks[] = [];
  let refused: unknown;
  for (const id of ids) {
    try {
      ended.push(...(await eraseAll(store, new Set([id]), options, { users })));
    } catch (error) {
      if (!isWindrowError(error, "session-not-found")) refused ??= error;
    }
  }
  if (ended.length === 0 && refused !== undefined) throw refused;
  return ended;
}

/** Whether an erasure was refused for one of its sessions: the others may be erased without it. */
export function isOfOneSession(error: unknown): boolean {
  return isWindrowError(error) && refusals.has(error.code);
}

const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  ...(["session-not-found", "session-exists", "session-busy", "session-archived", "bad-option"] as const),
]);

async function eraseAll(
  store: Store,
  ids: ReadonlySet<string>,
  options: EraseOptions,
  limits: EraseLimits = {},
): Promise<readonly ErasedWithForks[]> {
  const { scope = {} } = options;
  if (ids.size === 0) return [];
  const forks = await forksOf(store, scope, ids);
  // The memory first: killed behind it, the sessions are still there to be erased.
  const memory = await forgetSessions(store, scope, [...ids]);
  const erased = await upkeepOf(store).erase(scope, [...ids], elsewhereOf(options, memory), limits);
  // A model that was reading one of them may have written down a fact of it since; from now on none is taken.
  await forgetSessions(store, scope, [...ids]);
  return erased.map((one) => ({ ...one, forks: forks.get(one.sessionId) ?? [] }));
}

/**
 * Erases sessions that lie in the trash, and nothing of one that came back into the store, or of another owner.
 *
 * @throws WindrowError `session-exists` where the store has one of the ids, too: none is erased then; as {@link erase}
 */
export async function eraseTrashed(
  store: Store,
  sessions: readonly Owned[],
  options: EraseOptions = {},
): Promise<readonly EraseReceipt[]> {
  const { now = () => new Date() } = options;
  const users = usersOf(sessions);
  const erased = await eraseAll(store, new Set(users.keys()), options, { trashAlone: true, users });
  return erased.map((one) => receiptOf(one, now(), false));
}

function receiptOf(one: ErasedWithForks, at: Date, resumed: boolean): EraseReceipt {
  return { ...one, erasedAt: at.toISOString(), resumed };
}

/**
 * The plan of what a name would erase. Nothing is changed.
 *
 * @throws WindrowError `session-not-found`, `bad-option`
 */
export async function planErase(
  store: Store,
  name: string,
  { scope = {} }: Pick<EraseOptions, "scope"> = {},
): Promise<ErasePlan> {
  const sessionId = await liveId(store, scope, name);
  if (sessionId !== undefined) return { sessionId, where: "store", bytes: await bytesOf(store, scope, sessionId) };
  const id = name.toLowerCase();
  try {
    const trashed = await trashedNamed(store, scope, name);
    return { sessionId: trashed.sessionId, where: "trash", bytes: trashed.bytes };
  } catch (error) {
    // Remains that a doctor put aside have no metadata to look for: the store itself says whether there is anything.
    if (isSessionId(id)) return { sessionId: id, where: "remains", bytes: 0 };
    throw error instanceof WindrowError && error.code === "session-not-found" ? notFound(name) : error;
  }
}

/** The bytes of a session; 0 where it cannot be described, or went meanwhile. */
async function bytesOf(store: Store, scope: Scope, id: string): Promise<number> {
  try {
    return (await upkeepOf(store).size(scope, id)).bytes;
  } catch (error) {
    if (isWindrowError(error, "store-corrupt") || isWindrowError(error, "session-not-found")) return 0;
    throw error;
  }
}

/** The places outside the store. */
function elsewhereOf({ index, elsewhere }: EraseOptions, memory: readonly ErasedPlace[]): EraseElsewhere {
  return async (sessionIds) => {
    const places = [...memory];
    if (index !== undefined) places.push(forget(index, sessionIds));
    if (elsewhere) places.push(...(await elsewhere(sessionIds)));
    return places;
  };
}

function forget(folder: string, sessionIds: readonly string[]): ErasedPlace {
  const nothing = { kind: "search-index", place: folder, count: 0, bytes: 0 } as const;
  if (!existsSync(folder)) return nothing;
  const index = new SearchIndex(folder);
  try {
    if (!index.open()) {
      const message = `A search is just adding to the index ${folder}. Erase the same sessions again when it is done.`;
      throw new WindrowError("store-unavailable", message, { path: folder });
    }
    const before = bytesIn(folder);
    const { length: count } = index.forget(new Set(sessionIds));
    return { ...nothing, count, bytes: before - bytesIn(folder) };
  } finally {
    index.close();
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** Sessions that took over the beginning of one of these. */
async function forksOf(
  store: Store,
  scope: Scope,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const forks = new Map<string, string[]>();
  for await (const { metadata } of store.list(scope)) {
    const origin = metadata.forkedFrom?.uuid;
    if (origin === undefined || !ids.has(origin) || ids.has(metadata.uuid)) continue;
    forks.set(origin, [...(forks.get(origin) ?? []), metadata.uuid]);
  }
  return forks;
}
