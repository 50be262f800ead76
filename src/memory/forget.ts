/** Taking sessions out of a memory: whatever its logs hold of them is erased, in every log of a scope. */
import { isWindrowError, WindrowError } from "../errors.ts";
import { objectsOf } from "../message/json.ts";
import type { JsonValue } from "../message/message.ts";
import { isMemoryLog } from "../store/memory-logs.ts";
import { ownerOf } from "../store/shared/rules.ts";
import type { Scope, Store } from "../store/store.ts";
import type { ErasedPlace } from "../store/upkeep.ts";
import { factsName } from "./facts/facts.ts";
import { withoutFilesOf } from "./files/forget-files.ts";
import { filesName } from "./files/memory-files.ts";
import { MemoryLog } from "./log/memory-log.ts";
import type { MemoryEntry } from "./log/memory-log.ts";
import { receiptsName } from "./offload/receipts.ts";

/** The name of the log of a host's items, each of which may name the session that put it. */
export const itemsName = "items";

/** The log of an owner, as a list of sessions shows it. */
interface ListedLog {
  readonly log: MemoryLog;
  readonly name: string;
  readonly user: string | undefined;
}

/** The outcome of taking sessions out of the memories of several users. */
export interface ForgottenByUser {
  /** The outcome for each user. */
  readonly outcomes: ReadonlyMap<string | undefined, PromiseSettledResult<readonly ErasedPlace[]>>;
  /** The errors of other owners' logs that could not be looked through. */
  readonly unread: readonly unknown[];
}

/**
 * Erases from the memories of a scope what they hold of some sessions: facts that they say, files that they wrote,
 * receipts, items of hosts, and whatever else names one as its `session`. A log is written anew only if it holds something
 * of them. One that is locked or damaged stops its own user, and those of whose sessions it holds something.
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
  const left = new Map(idsByUser);
  const places = new Map([...left.keys()].map((user): [string | undefined, ErasedPlace[]] => [user, []]));
  const refuse = (user: string | undefined, reason: unknown): void => {
    outcomes.set(user, { status: "rejected", reason });
    left.delete(user);
  };
  for (const user of new Set([scope.user, ...idsByUser.keys()])) {
    await checkReadable(store, scope, user).catch((error: unknown) => {
      if (left.has(user)) refuse(user, error);
      else unread.push(error);
    });
  }
  for (const log of await logsIn(store, scope, new Set([...idsByUser.values()].flat()))) {
    const users = left.has(log.user) ? [log.user] : [];
    try {
      users.push(...(await usersIn(log, left)));
      const place = await forgetIn(log, new Set(users.flatMap((user) => left.get(user) ?? [])));
      for (const user of users) places.get(user)?.push(place);
    } catch (error) {
      if (users.length === 0) unread.push(error);
      for (const user of users) refuse(user, heldIn(log, user, error));
    }
  }
  for (const user of left.keys()) outcomes.set(user, { status: "fulfilled", value: places.get(user) ?? [] });
  return { outcomes, unread };
}

/** The users of whose sessions another owner's log holds something. */
async function usersIn(
  { log, name, user: owner }: ListedLog,
  idsByUser: ReadonlyMap<string | undefined, readonly string[]>,
): Promise<readonly (string | undefined)[]> {
  const others = [...idsByUser].filter(([user]) => user !== owner);
  if (others.length === 0) return [];
  const entries = await log.state();
  const holds = (ids: readonly string[]): boolean => without(name, entries, new Set(ids)).length < entries.length;
  // Hardly any log holds something of another's session.
  if (!holds(others.flatMap(([, ids]) => ids))) return [];
  return others.filter(([, ids]) => holds(ids)).map(([user]) => user);
}

/** The error of a session that stays, as another owner's log cannot lose what it holds of it. */
function heldIn({ name, user: owner }: ListedLog, user: string | undefined, error: unknown): unknown {
  if (user === owner || !isWindrowError(error)) return error;
  const whose = owner === undefined ? "of no user" : `of user ${JSON.stringify(owner)}`;
  const message = `The memory ${JSON.stringify(name)} ${whose} holds something of the session, and cannot lose it now: ${error.message}`;
  return new WindrowError(error.code, message, { ...error.data }, { cause: error });
}

/**
 * The logs of a scope; one that is just rewritten counts once.
 *
 * @param erased - sessions that are erased: a log among them loses everything, also where it is damaged
 */
async function logsIn(store: Store, scope: Scope, erased: ReadonlySet<string>): Promise<readonly ListedLog[]> {
  const logs = new Map<string, ListedLog>();
  for await (const { metadata } of store.list(scope)) {
    const { memory: name } = metadata.taskKey;
    if (!isMemoryLog(metadata) || typeof name !== "string" || erased.has(metadata.uuid)) continue;
    const log = new MemoryLog(store, ownerOf(metadata), name);
    logs.set(log.ids[0], { log, name, user: metadata.user });
  }
  return [...logs.values()];
}

async function forgetIn({ log, name }: ListedLog, ids: ReadonlySet<string>): Promise<ErasedPlace> {
  const count = ids.size === 0 ? 0 : await log.rewrite((entries) => without(name, entries, ids));
  return { kind: "memory", place: name, count, bytes: 0 };
}

/** The entries of a log without those of some sessions. */
function without(name: string, entries: readonly MemoryEntry[], ids: ReadonlySet<string>): readonly MemoryEntry[] {
  if (name === filesName) return withoutFilesOf(entries, ids);
  const isOne = (id: JsonValue | undefined): boolean => typeof id === "string" && ids.has(id);
  return entries.filter(({ data: { session, sources } }) => {
    return !isOne(session) && !objectsOf(sources).some(({ session_id: id }) => isOne(id));
  });
}

/** Refuses if a log of a user is there and no list shows it, as its metadata is damaged. */
async function checkReadable(store: Store, { tenant }: Scope, user: string | undefined): Promise<void> {
  const owner = ownerOf({ ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) });
  for (const name of [factsName, filesName, itemsName, receiptsName]) await new MemoryLog(store, owner, name).exists();
}
