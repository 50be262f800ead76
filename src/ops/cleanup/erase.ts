/** Erasing a session for good: nothing of it is left in the store or beside it, and a receipt names the places that were searched. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isWindrowError, WindrowError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import { isSessionId, notFound } from "../../store/shared/rules.ts";
import type { Scope, Store } from "../../store/store.ts";
import type { Erased, ErasedPlace, EraseElsewhere, EraseLimits } from "../../store/upkeep.ts";
import { forgetSessions } from "../../memory/forget.ts";
import { liveId, trashedNamed } from "./archive.ts";
import { upkeepOf } from "./keep.ts";
import { byId, byUser, forgetOwned, usersOf } from "./owned.ts";
import type { EraseRefusal, Owned } from "./owned.ts";
import { messageOf } from "./tally.ts";
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
  const erased = await eraseNamed(store, named, options);
  const left = begun.filter(({ sessionId }) => !named.has(sessionId));
  const ended = await eraseOwned(store, left, options).catch((error: unknown) => {
    if (named.size === 0) throw error;
    return { erased: [], refused: [], unread: [] };
  });
  const [refusal] = ended.refused;
  if (named.size === 0 && ended.erased.length === 0 && refusal) throw refusal.error;
  const resumed = new Set(begun.map(({ sessionId }) => sessionId));
  return [...ended.erased, ...erased].map((one) => receiptOf(one, now(), resumed.has(one.sessionId)));
}

/** The outcome of erasing sessions of several owners, where one session or one owner's memory stops no other. */
export interface EraseOutcome {
  readonly erased: readonly EraseReceipt[];
  readonly refused: readonly EraseRefusal[];
  /** The errors of other owners' memories that could not be looked through for what they hold of these sessions. */
  readonly unread: readonly unknown[];
}

/**
 * Ends erasures that were begun, and nothing of another owner. One that another process ended meanwhile is no failure.
 *
 * @throws WindrowError what concerns every session, as `store-unavailable`: each is left to the next call
 */
export async function endErasures(store: Store, options: EraseOptions = {}): Promise<EraseOutcome> {
  const { scope = {}, now = () => new Date() } = options;
  const { erased, ...rest } = await eraseOwned(store, await upkeepOf(store).unerased(scope), options);
  return { ...rest, erased: erased.map((one) => receiptOf(one, now(), true)) };
}

/**
 * Erases sessions that lie in the trash, and nothing of one that came back into the store, or of another owner. One that the
 * store has, too, is refused with `session-exists`.
 *
 * @throws WindrowError as {@link endErasures}
 */
export async function eraseTrashed(
  store: Store,
  sessions: readonly Owned[],
  options: EraseOptions = {},
): Promise<EraseOutcome> {
  const { now = () => new Date() } = options;
  const { erased, ...rest } = await eraseOwned(store, sessions, options, { trashAlone: true });
  return { ...rest, erased: erased.map((one) => receiptOf(one, now(), false)) };
}

/** The receipt of an erasure: the places of a session, and its forks. */
type ErasedWithForks = Erased & Pick<EraseReceipt, "forks">;

/** Erases what a scope has of some ids: none of them where one is refused. */
async function eraseNamed(
  store: Store,
  ids: ReadonlySet<string>,
  options: EraseOptions,
): Promise<readonly ErasedWithForks[]> {
  const { scope = {} } = options;
  if (ids.size === 0) return [];
  const forks = await forksOf(store, scope, ids);
  // The memory first: killed behind it, the sessions are still there to be erased.
  const memory = await forgetSessions(store, scope, [...ids]);
  const erased = await upkeepOf(store).erase(scope, [...ids], elsewhereOf(options, memory));
  // A model that was reading one of them may have written down a fact of it since; from now on none is taken.
  await forgetSessions(store, scope, [...ids]);
  return erased.map((one) => ({ ...one, forks: forks.get(one.sessionId) ?? [] }));
}

/** Erases sessions of several owners: those whose owner's memory refuses stay, and the store is asked for all others at once. */
async function eraseOwned(
  store: Store,
  sessions: readonly Owned[],
  options: EraseOptions,
  limits: Pick<EraseLimits, "trashAlone"> = {},
): Promise<Omit<EraseOutcome, "erased"> & { readonly erased: readonly ErasedWithForks[] }> {
  const { scope = {} } = options;
  if (sessions.length === 0) return { erased: [], refused: [], unread: [] };
  const users = usersOf(sessions);
  const forks = await forksOf(store, scope, new Set(users.keys()), users);
  const before = await forgetOwned(store, scope, sessions);
  const outcome = await eraseForgotten(store, before.forgotten, options, limits);
  const after = await forgetOwned(
    store,
    scope,
    outcome.erased.flatMap(({ owned }) => owned),
  );
  const held = new Set(after.refused.map(({ user }) => user));
  const erased: ErasedWithForks[] = [];
  for (const { sessionId, places, owned } of outcome.erased) {
    if (owned.some(({ user }) => held.has(user))) continue;
    const memory = owned.flatMap(({ user }) => before.places.get(user) ?? []);
    erased.push({ sessionId, places: [...places, ...memory], forks: forks.get(sessionId) ?? [] });
  }
  const late = after.refused.map((one) => ({ ...one, isErased: true }));
  const refused = [...before.refused, ...outcome.refused, ...late];
  const isLeft = ({ error }: EraseRefusal): boolean => !isWindrowError(error, "session-not-found");
  return { erased, refused: refused.filter(isLeft), unread: before.unread };
}

/** A session that was erased, and the owners whose it was. */
interface ErasedOwned extends Erased {
  readonly owned: readonly Owned[];
}

/** Sessions that were erased, and those that were refused. */
interface Forgotten {
  readonly erased: readonly ErasedOwned[];
  readonly refused: readonly EraseRefusal[];
}

/** Milliseconds of failing for another reason than one session, behind which no further owner is tried: the store is away. */
const failingMs = 60_000;

/**
 * Erases sessions that no memory holds: all at once, so that a database is written anew once. Where that fails, those of each
 * owner by themselves, as the reason may be one owner's place; and one by one, where one of them is refused.
 */
async function eraseForgotten(
  store: Store,
  sessions: readonly Owned[],
  options: EraseOptions,
  limits: EraseLimits,
): Promise<Forgotten> {
  const same = byId(sessions);
  const [first] = sessions;
  if (!first) return { erased: [], refused: [] };
  try {
    const asked = { ...limits, users: usersOf(sessions) };
    const done = await upkeepOf(store).erase(options.scope ?? {}, [...same.keys()], elsewhereOf(options), asked);
    return { erased: done.map((one) => ({ ...one, owned: same.get(one.sessionId) ?? [] })), refused: [] };
  } catch (error) {
    const owners = [...byUser(sessions).values()];
    const isOne = isOfOneSession(error);
    if (owners.length === 1 && !isOne) throw error;
    if (sessions.length === 1) return { erased: [], refused: [{ ...first, error }] };
    const groups = owners.length > 1 ? owners : sessions.map((one) => [one]);
    return eraseApart(groups, (group) => eraseForgotten(store, group, options, limits));
  }
}

/** @throws what the first group failed with, where each did */
async function eraseApart(
  groups: readonly (readonly Owned[])[],
  work: (group: readonly Owned[]) => Promise<Forgotten>,
): Promise<Forgotten> {
  const erased: ErasedOwned[] = [];
  const refused: EraseRefusal[] = [];
  let [since, isAny, last]: [number | undefined, boolean, unknown] = [undefined, false, undefined];
  for (const group of groups) {
    try {
      if (since !== undefined && performance.now() - since > failingMs) throw untried(last);
      const done = await work(group);
      erased.push(...done.erased);
      refused.push(...done.refused);
      [since, isAny, last] = [undefined, true, undefined];
    } catch (error) {
      since ??= performance.now();
      last ??= error;
      for (const one of group) refused.push({ ...one, error });
    }
  }
  const [failure] = refused;
  if (!isAny && failure) throw failure.error;
  return { erased, refused };
}

function untried(cause: unknown): WindrowError {
  const reason = messageOf(cause);
  const message = `It was not tried, as the store had failed for a minute: ${reason}`;
  return new WindrowError("store-unavailable", message, { reason }, { cause });
}

/** Whether an erasure was refused for one of its sessions: the others may be erased without it. */
function isOfOneSession(error: unknown): boolean {
  return isWindrowError(error) && refusals.has(error.code);
}

const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  ...(["session-not-found", "session-exists", "session-busy", "session-archived", "bad-option"] as const),
]);

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
function elsewhereOf({ index, elsewhere }: EraseOptions, memory: readonly ErasedPlace[] = []): EraseElsewhere {
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

/**
 * Sessions that took over the beginning of one of these.
 *
 * @param users - the users whose sessions of an id are meant; a fork of no user may be of any of them
 */
async function forksOf(
  store: Store,
  scope: Scope,
  ids: ReadonlySet<string>,
  users?: EraseLimits["users"],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const forks = new Map<string, string[]>();
  for await (const { metadata } of store.list(scope)) {
    const { uuid, user } = metadata;
    const origin = metadata.forkedFrom?.uuid;
    if (origin === undefined || !ids.has(origin) || ids.has(uuid)) continue;
    if (user !== undefined && users?.get(origin)?.includes(user) === false) continue;
    forks.set(origin, [...(forks.get(origin) ?? []), uuid]);
  }
  return forks;
}
