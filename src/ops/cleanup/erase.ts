/** Erasing a session for good: nothing of it is left in the store or beside it, and a receipt names the places that were searched. */
import type { ScopedOptions, TimedOptions } from "../options.ts";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import { unavailable } from "../../disk/safe-write.ts";
import { forgetByUser } from "../../memory/forget.ts";
import { SearchIndex } from "../../search/search.ts";
import { isSessionId, notFound } from "../../store/shared/rules.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { Erased, ErasedPlace, EraseElsewhere, Unerased } from "../../store/upkeep.ts";
import { hasCode, orUndefined } from "../look/errors.ts";
import { liveId, trashedNamed } from "./sessions.ts";

/** Options of erasing: the owner, and the places beside the store. */
export interface EraseOptions extends TimedOptions {
  /** The folder of the search index (`searchFolderOf`). Default: there is none. */
  readonly index?: string;
  /** Erases what a program keeps of sessions elsewhere, as a memory's passages; its places join the receipt. */
  readonly elsewhere?: EraseElsewhere;
}

/** The proof of an erasure. It names places and sizes, and nothing of what stood there. */
export interface EraseReceipt extends Erased {
  /** ISO 8601, UTC. */
  readonly erasedAt: string;
  /** Whether it was begun before, and cut short. */
  readonly resumed: boolean;
  /** Forks of it, by id: they took over messages of its, and are sessions of their own. Erase them too if they must go. */
  readonly forks: readonly string[];
}

/** The places and sizes of a session's data, before it is erased. */
export interface ErasePlan {
  readonly sessionId: string;
  /** The user whose it is, if that is known. */
  readonly user?: string;
  readonly where: "store" | "trash" | "remains";
  /** Bytes; 0 if only remains are left, or if a damaged session does not tell. */
  readonly bytes: number;
}

/**
 * Erases sessions, wherever they are, and ends erasures that were cut short. None of the named ones is erased if one is
 * refused; an erasure that cannot be ended now is left to the next call.
 *
 * @param names - ids, also of sessions in the trash; or the beginnings of them
 * @throws WindrowError `session-busy` while a process writes one; `bad-option` for one that is kept; `session-not-found`;
 *   `store-unavailable` if a place cannot be reached now: the erasure is then ended by the next call
 */
export async function erase(
  store: Store,
  names: readonly string[],
  options: EraseOptions = {},
): Promise<readonly EraseReceipt[]> {
  const { scope = {} } = options;
  // First, so that the same call made again after a crash ends what it began, whatever else it names.
  const ended = await eraseHidden(store, [], options).catch((error: unknown) => {
    if (names.length === 0) throw error;
    return { erased: [], refused: [] };
  });
  const known = new Set(ended.erased.map(({ sessionId }) => sessionId));
  const named = new Map<string, ErasePlan>();
  for (const name of names.filter((one) => !known.has(String(one).toLowerCase()))) {
    const plan = await planErase(store, name, { scope });
    named.set(plan.sessionId, plan);
  }
  const ids = [...named.keys()];
  const [refusal] = ended.refused;
  if (names.length === 0 && ended.erased.length === 0 && refusal) throw refusal.error;
  if (ids.length === 0) return ended.erased;
  const forks = await forksOf(store, scope, ids);
  // The memory first: killed behind it, the sessions are still there to be erased.
  const userOfBegun = new Map(ended.refused.map((one) => [one.sessionId, userOf(one)]));
  const sessions = [...named.values()].map((plan) => ({ ...userOfBegun.get(plan.sessionId), ...plan }));
  const memory = await forgetAll(store, scope, sessions);
  const gone = await store.upkeep.erase(scope, ids, elsewhereOf(options, memory));
  // A model that was reading one of them may have written down a fact of it since; from now on none is taken.
  await forgetAll(store, scope, sessions);
  return [...ended.erased, ...gone.map((one) => receiptOf(one, forks, ended.refused, options))];
}

/** Takes sessions out of every memory of a scope. @throws the error of a memory that cannot lose them now, or be read */
async function forgetAll(store: Store, scope: Scope, sessions: readonly Unerased[]): Promise<readonly ErasedPlace[]> {
  const { outcomes, unread } = await forgetByUser(store, scope, byUser(sessions));
  if (unread.length > 0) throw unread[0];
  return [...outcomes.values()].flatMap((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/** A session that could not be erased now, while others were, and why. */
export interface EraseRefusal extends Unerased {
  readonly error: unknown;
}

/** The outcome of erasing sessions of several owners: no session and no owner's memory stops another. */
export interface EraseOutcome {
  readonly erased: readonly EraseReceipt[];
  readonly refused: readonly EraseRefusal[];
  /** The errors of other owners' memories that could not be looked through for what they hold of these sessions. */
  readonly unread: readonly unknown[];
}

/** Ends erasures that were begun, and erases sessions from the trash; one that came back from there stays. */
export async function eraseHidden(
  store: Store,
  trashed: readonly Unerased[],
  options: EraseOptions,
): Promise<EraseOutcome> {
  const { scope = {} } = options;
  const begun = await store.upkeep.unerased(scope);
  const sessions = [...begun, ...trashed];
  if (sessions.length === 0) return { erased: [], refused: [], unread: [] };
  const ids = sessions.map(({ sessionId }) => sessionId);
  const forks = await forksOf(store, scope, ids);
  const before = await forgetByUser(store, scope, byUser(sessions));
  const refused: EraseRefusal[] = [];
  const forgotten = sessions.filter((one) => {
    const memory = before.outcomes.get(one.user);
    if (memory?.status === "rejected") refused.push({ ...one, error: memory.reason });
    return memory?.status !== "rejected";
  });
  const erased = await eraseInTurn(store, forgotten, options, refused);
  const gone = new Map(erased.map((one) => [one.sessionId, one]));
  const owned = forgotten.filter(({ sessionId }) => gone.has(sessionId));
  const after = await forgetByUser(store, scope, byUser(owned));
  const receipts = owned.flatMap(({ sessionId, user }): readonly EraseReceipt[] => {
    const [own, again] = [before.outcomes.get(user), after.outcomes.get(user)];
    if (again?.status === "rejected") {
      refused.push({ sessionId, ...(user !== undefined && { user }), error: again.reason });
      return [];
    }
    const memory = own?.status === "fulfilled" ? own.value : [];
    const places = [...(gone.get(sessionId)?.places ?? []), ...memory];
    return [receiptOf({ sessionId, places }, forks, begun, options)];
  });
  // Another clean-up erased a session meanwhile, or somebody brought it back.
  const isLeft = ({ error }: EraseRefusal): boolean => !hasCode(error, "session-not-found", "session-exists");
  return { erased: receipts, refused: refused.filter(isLeft), unread: before.unread };
}

/** The ids of sessions by their users. */
function byUser(sessions: readonly Unerased[]): ReadonlyMap<string | undefined, readonly string[]> {
  const ids = new Map<string | undefined, string[]>();
  for (const { user } of sessions) ids.set(user, []);
  for (const { user, sessionId } of sessions) ids.get(user)?.push(sessionId);
  return ids;
}

/** Milliseconds of failing after which no further session is tried: the store is away. */
const failingMs = 60_000;

/** Erases all at once, so that a database is written anew once; if that fails, one after the other. */
async function eraseInTurn(
  store: Store,
  sessions: readonly Unerased[],
  options: EraseOptions,
  refused: EraseRefusal[],
): Promise<readonly Erased[]> {
  const ids = sessions.map(({ sessionId }) => sessionId);
  const work = (some: readonly string[]): Promise<readonly Erased[]> =>
    store.upkeep.erase(options.scope ?? {}, some, elsewhereOf(options), { trashAlone: true });
  if (sessions.length > 1) {
    const all = await work(ids).catch(() => undefined);
    if (all) return all;
  }
  const erased: Erased[] = [];
  let since: number | undefined;
  for (const one of sessions) {
    try {
      if (since !== undefined && performance.now() - since > failingMs) throw refused.at(-1)?.error;
      erased.push(...(await work([one.sessionId])));
      since = undefined;
    } catch (error) {
      if (isWindrowError(error, "store-unavailable")) since ??= performance.now();
      refused.push({ ...one, error });
    }
  }
  return erased;
}

function receiptOf(
  one: Erased,
  forks: ReadonlyMap<string, readonly string[]>,
  begun: readonly Unerased[],
  { now = () => new Date() }: EraseOptions,
): EraseReceipt {
  const resumed = begun.some(({ sessionId }) => sessionId === one.sessionId);
  return { ...one, forks: forks.get(one.sessionId) ?? [], erasedAt: now().toISOString(), resumed };
}

/**
 * The plan of what a name would erase. Nothing is changed.
 *
 * @throws WindrowError `session-not-found`, `bad-option`
 */
export async function planErase(store: Store, name: string, { scope = {} }: ScopedOptions = {}): Promise<ErasePlan> {
  const sessionId = await liveId(store, scope, name);
  if (sessionId !== undefined) {
    const info = await orUnknown(() => store.info(scope, sessionId));
    const size = await orUnknown(() => store.upkeep.size(scope, sessionId));
    return { sessionId, ...userOf(info?.metadata), where: "store", bytes: size?.bytes ?? 0 };
  }
  const id = name.toLowerCase();
  try {
    const trashed = await trashedNamed(store, scope, name);
    return { sessionId: trashed.sessionId, ...userOf(trashed), where: "trash", bytes: trashed.bytes };
  } catch (error) {
    // Remains that a doctor put aside have no metadata to look for: the store itself says whether there is anything.
    if (isSessionId(id)) return { sessionId: id, where: "remains", bytes: 0 };
    throw isWindrowError(error, "session-not-found") ? notFound(name) : error;
  }
}

/** What is known of a session; undefined if it cannot be described, or went meanwhile. */
function orUnknown<T>(look: () => Promise<T>): Promise<T | undefined> {
  return orUndefined(look, "store-corrupt", "session-not-found");
}

function userOf({ user }: { readonly user?: string } = {}): { readonly user?: string } {
  return user === undefined ? {} : { user };
}

/** The places outside the store. */
function elsewhereOf({ index, elsewhere }: EraseOptions, memory: readonly ErasedPlace[] = []): EraseElsewhere {
  return async (sessionIds, makings) => {
    const places = [...memory];
    if (index !== undefined) places.push(forget(index, sessionIds));
    if (elsewhere) places.push(...(await elsewhere(sessionIds, makings)));
    return places;
  };
}

function forget(folder: string, sessionIds: readonly string[]): ErasedPlace {
  const nothing = { kind: "search-index", place: folder, count: 0, bytes: 0 } as const;
  if (!existsSync(folder)) return nothing;
  const index = new SearchIndex(folder);
  try {
    if (!index.open()) {
      const message = `The index ${folder} cannot be written now: a search adds to it, or the disk refuses. Erase the same sessions again later.`;
      throw new WindrowError("store-unavailable", message, { path: folder });
    }
    const before = bytesIn(folder);
    const { length: count } = index.forget(new Set(sessionIds));
    return { ...nothing, count, bytes: before - bytesIn(folder) };
  } catch (error) {
    throw unavailable(error, "Erasing", folder);
  } finally {
    index.close();
  }
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** The forks of sessions, by the ids of these; a session that is erased itself is not told as a fork. */
async function forksOf(
  store: Store,
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const forks = new Map<string, string[]>(ids.map((id) => [id, []]));
  for await (const { metadata } of store.list(scope)) {
    const { uuid, forkedFrom } = metadata;
    if (forkedFrom && !forks.has(uuid)) forks.get(forkedFrom.uuid)?.push(uuid);
  }
  return forks;
}
