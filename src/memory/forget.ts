/** Taking sessions out of a memory: whatever its logs hold of them is erased, in every log of a scope. */
import { isWindrowError, WindrowError } from "../errors.ts";
import type { JsonValue } from "../message/message.ts";
import { infoIfThere } from "../store/if-there.ts";
import { isMemoryLog } from "../store/memory-logs.ts";
import { isSessionId, ownerOf } from "../store/shared/rules.ts";
import type { Scope, SessionInfo, SessionMetadata, Store } from "../store/store.ts";
import type { ErasedPlace } from "../store/upkeep.ts";
import { factsName, withoutFactsOf } from "./facts/facts.ts";
import { withoutFilesOf } from "./files/forget-files.ts";
import { filesName } from "./files/memory-files.ts";
import { isAbout, receiptsName } from "./offload/receipts.ts";
import { MemoryLog } from "./log/memory-log.ts";
import type { MemoryEntry } from "./log/memory-log.ts";

type Filter = (entries: AsyncIterable<MemoryEntry>, ids: ReadonlySet<string>) => AsyncIterable<MemoryEntry>;

/** The name of the log of a host's items, each of which may name the session that put it. */
export const itemsName = "items";

const filters: Readonly<Record<string, Filter>> = {
  [factsName]: withoutFactsOf,
  [filesName]: withoutFilesOf,
  [itemsName]: withoutEntriesOf,
  [receiptsName]: withoutEntriesOf,
};

/**
 * Erases from the memory of a scope what it holds of some sessions: facts that they say, files and versions that they
 * wrote, receipts, items of hosts. A log is written anew only where it holds something of them.
 *
 * @param scope - without a user, the logs of every user of the tenant
 * @returns a place for each log of the scope
 * @throws WindrowError `session-busy` where another process keeps a log locked; `store-corrupt` where one is damaged, so
 * that nobody knows what it holds
 */
export async function forgetSessions(
  store: Store,
  scope: Scope,
  sessionIds: readonly string[],
): Promise<readonly ErasedPlace[]> {
  return forgetIn(store, await logsIn(store, scope), await ownersOf(store, scope, sessionIds), sessionIds);
}

/** The scope, and the owners of the sessions: also of those in the trash, and those whose erasure was begun. */
async function ownersOf(store: Store, scope: Scope, sessionIds: readonly string[]): Promise<readonly Scope[]> {
  const owners = new Map([[JSON.stringify(scope), scope]]);
  const add = (user: string | undefined): void => {
    const owner = ownerOf({ ...scope, ...(user !== undefined && { user }) });
    owners.set(JSON.stringify(owner), owner);
  };
  // An id of a host's own names no session of the store.
  const ids = new Set(sessionIds.filter(isSessionId));
  for (const id of ids) {
    const info = await infoUnlessDamaged(store, scope, id);
    if (info) add(info.metadata.user);
    for await (const { user } of store.upkeep.trashed(scope, id) ?? []) add(user);
  }
  const begun = ids.size === 0 ? undefined : await store.upkeep.unerased(scope, true);
  for (const one of begun ?? []) if (ids.has(one.sessionId)) add(one.user);
  return [...owners.values()];
}

/** The outcome of taking sessions out of the memories of several users. */
export interface ForgottenByUser {
  /** The outcome for each user. */
  readonly outcomes: ReadonlyMap<string | undefined, PromiseSettledResult<readonly ErasedPlace[]>>;
  /** The errors of other owners' logs that could not be looked through. */
  readonly unread: readonly unknown[];
}

/**
 * Erases from the memory of each user what it holds of the user's own sessions, as {@link forgetSessions}, and from the logs
 * of all others of the scope what they hold of these. A user's log that is locked or damaged stops no other user, but one of
 * whose sessions it holds something.
 *
 * @param scope - with a user, that of the only user who is named
 * @param idsByUser - the ids of each user's sessions; `undefined` is the owner of sessions of no user
 */
export async function forgetByUser(
  store: Store,
  scope: Scope,
  idsByUser: ReadonlyMap<string | undefined, readonly string[]>,
): Promise<ForgottenByUser> {
  const outcomes = new Map<string | undefined, PromiseSettledResult<readonly ErasedPlace[]>>();
  const unread: unknown[] = [];
  if (idsByUser.size === 0) return { outcomes, unread };
  const logs = await logsIn(store, scope);
  for (const [user, ids] of idsByUser) {
    const owner = { ...scope, ...(user !== undefined && { user }) };
    const own = logs.filter((log) => log.user === user);
    const [outcome] = await Promise.allSettled([forgetIn(store, own, [owner], ids)]);
    outcomes.set(user, outcome);
  }
  if (scope.user === undefined && !idsByUser.has(undefined)) {
    const listed = new Set(logs.map(keyOf));
    await checkReadable(store, [scope], listed).catch((error: unknown) => unread.push(error));
  }
  for (const log of logs) {
    try {
      await forgetInOther(store, scope, log, idsByUser, outcomes);
    } catch (error) {
      unread.push(error);
    }
  }
  return { outcomes, unread };
}

/** Erases from a log what it holds of the sessions of others; where that fails, it is the outcome for these. */
async function forgetInOther(
  store: Store,
  scope: Scope,
  log: SessionMetadata,
  idsByUser: ReadonlyMap<string | undefined, readonly string[]>,
  outcomes: Map<string | undefined, PromiseSettledResult<readonly ErasedPlace[]>>,
): Promise<void> {
  const known = knownLog(store, log);
  if (!known) return;
  const held = await heldOf(store, scope, log.user, known, idsByUser);
  const meant = [...held].filter(([user]) => outcomes.get(user)?.status === "fulfilled");
  if (meant.length === 0) return;
  const all = meant.flatMap(([, { ids }]) => ids);
  const own = outcomes.get(log.user);
  // A log that its owner's sessions could not be taken out of is not waited for once more.
  const work = own?.status === "rejected" ? Promise.reject(own.reason) : forgetIn(store, [log], [], all);
  const [taken] = await Promise.allSettled([work.catch((error: unknown) => Promise.reject(heldElsewhere(log, error)))]);
  for (const [user, { count }] of meant) {
    const outcome = outcomes.get(user);
    if (outcome?.status !== "fulfilled") continue;
    const place = { kind: "memory", place: known.name, count, bytes: 0 } as const;
    outcomes.set(user, taken.status === "fulfilled" ? { ...outcome, value: [...outcome.value, place] } : taken);
  }
}

/** The error of a session that stays, as another owner's log refuses to lose what it holds of it. */
function heldElsewhere({ user, taskKey }: SessionMetadata, error: unknown): unknown {
  if (!isWindrowError(error)) return error;
  const whose = user === undefined ? "of no user" : `of user ${JSON.stringify(user)}`;
  const message = `The memory ${JSON.stringify(taskKey.memory)} ${whose} holds something of the session, and cannot lose it now: ${error.message}`;
  return new WindrowError(error.code, message, { ...error.data }, { cause: error });
}

/** The sessions that a log of another owner holds something of, and how many entries. */
interface Held {
  readonly ids: readonly string[];
  readonly count: number;
}

/** The sessions that a log of another owner holds something of, by their users. Its owner's own one of the same id is not meant. */
async function heldOf(
  store: Store,
  scope: Scope,
  owner: string | undefined,
  { log, filter }: KnownLog,
  idsByUser: ReadonlyMap<string | undefined, readonly string[]>,
): Promise<ReadonlyMap<string | undefined, Held>> {
  const held = new Map<string | undefined, Held>();
  const own = new Set(idsByUser.get(owner));
  const others = [...idsByUser].filter(([user]) => user !== owner);
  const all = others.flatMap(([, ids]) => ids).filter((id) => !own.has(id));
  if (all.length === 0) return held;
  const entries: MemoryEntry[] = [];
  for await (const entry of log.read()) entries.push(entry);
  const countOf = async (ids: readonly string[]): Promise<number> => {
    let count = entries.length;
    for await (const _ of filter(inTurn(entries), new Set(ids))) count--;
    return count;
  };
  // Hardly any log holds something of another's session.
  if ((await countOf(all)) === 0) return held;
  for (const [user, ids] of others) {
    if ((await countOf(ids)) === 0) continue;
    const meant: string[] = [];
    for (const id of ids) {
      const isHeld = !own.has(id) && (await countOf([id])) > 0;
      if (isHeld && !(await hasSession(store, scope, owner, id))) meant.push(id);
    }
    if (meant.length > 0) held.set(user, { ids: meant, count: await countOf(meant) });
  }
  return held;
}

async function* inTurn(entries: readonly MemoryEntry[]): AsyncGenerator<MemoryEntry> {
  yield* entries;
}

/** Whether the store has a session of an id that is a user's. */
async function hasSession(store: Store, scope: Scope, user: string | undefined, id: string): Promise<boolean> {
  if (!isSessionId(id)) return false;
  const info = await infoUnlessDamaged(store, scope, id);
  if (info && info.metadata.user === user) return true;
  for await (const trashed of store.upkeep.trashed(scope, id) ?? []) if (trashed.user === user) return true;
  return false;
}

/** The logs that a list tells; one that is just rewritten counts once. */
async function logsIn(store: Store, scope: Scope): Promise<readonly SessionMetadata[]> {
  const logs = new Map<string, SessionMetadata>();
  for await (const { metadata } of store.list(scope)) {
    if (isMemoryLog(metadata)) logs.set(keyOf(metadata), metadata);
  }
  return [...logs.values()];
}

async function forgetIn(
  store: Store,
  logs: readonly SessionMetadata[],
  owners: readonly Scope[],
  sessionIds: readonly string[],
): Promise<readonly ErasedPlace[]> {
  await checkReadable(store, owners, new Set(logs.map(keyOf)));
  const ids = new Set(sessionIds);
  const places: ErasedPlace[] = [];
  for (const metadata of logs) {
    const known = knownLog(store, metadata);
    if (!known) continue;
    const { log, name, filter } = known;
    const count = await log.rewrite((entries) => filter(entries, ids));
    places.push({ kind: "memory", place: name, count, bytes: 0 });
  }
  return places;
}

/** A log of which it is known how to take sessions out of it. */
interface KnownLog {
  readonly log: MemoryLog;
  readonly name: string;
  readonly filter: Filter;
}

function knownLog(store: Store, metadata: SessionMetadata): KnownLog | undefined {
  const { memory: name } = metadata.taskKey;
  const filter = typeof name === "string" ? filters[name] : undefined;
  if (typeof name !== "string" || !filter) return undefined;
  return { log: new MemoryLog(store, ownerOf(metadata), name), name, filter };
}

function keyOf(log: SessionMetadata): string {
  return logKey(ownerOf(log), log.taskKey.memory);
}

function logKey(owner: Scope, name: JsonValue | undefined): string {
  return JSON.stringify([owner, name]);
}

/** Refuses where a log of the owners is there and no list tells it, as its metadata is damaged. */
async function checkReadable(store: Store, owners: readonly Scope[], listed: ReadonlySet<string>): Promise<void> {
  for (const owner of owners) {
    for (const name of Object.keys(filters)) {
      if (!listed.has(logKey(ownerOf(owner), name))) await new MemoryLog(store, owner, name).generation();
    }
  }
}

/** A session that is itself damaged is erased all the same. */
async function infoUnlessDamaged(store: Store, scope: Scope, id: string): Promise<SessionInfo | undefined> {
  try {
    return await infoIfThere(store, scope, id);
  } catch (error) {
    if (isWindrowError(error, "store-corrupt")) return undefined;
    throw error;
  }
}

async function* withoutEntriesOf(
  entries: AsyncIterable<MemoryEntry>,
  ids: ReadonlySet<string>,
): AsyncGenerator<MemoryEntry, void, undefined> {
  for await (const entry of entries) if (!isAbout(entry, ids)) yield entry;
}
