/** Ending erasures that were begun, and emptying the trash, where one session that is refused stops no other. */
import type { Scope, Store } from "../../store/store.ts";
import type { Upkeep } from "../../store/upkeep.ts";
import { isInStore } from "./archive.ts";
import { endErasures, eraseTrashed } from "./erase.ts";
import type { EraseOptions, EraseOutcome, EraseReceipt } from "./erase.ts";
import { keyOf } from "./owned.ts";
import type { EraseRefusal, Owned } from "./owned.ts";
import { attempt, messageOf } from "./tally.ts";
import type { CleanedSession, Tally } from "./tally.ts";

/** Whether the trash is emptied. */
export interface EmptyTrashOptions extends EraseOptions {
  /** Erase from it what is due. Default false: it is only reported. */
  readonly remove?: boolean;
  /** Change nothing. Default false. */
  readonly dryRun?: boolean;
}

/** Ends what was begun to be erased; with `remove` erases what lay in the trash long enough. */
export async function emptyTrash(
  store: Store,
  upkeep: Upkeep,
  trashFor: number,
  time: Date,
  options: EmptyTrashOptions,
  tally: Tally,
): Promise<readonly EraseReceipt[]> {
  const { scope = {}, dryRun = false, remove = false } = options;
  const asked = { ...options, now: () => time };
  const begun = dryRun ? { erased: [], refused: [] } : await endBegun(store, upkeep, asked, tally);
  const old: CleanedSession[] = [];
  for await (const { sessionId, trashedAt, user, bytes } of upkeep.trashed(scope)) {
    if (trashedAt === undefined || !(time.getTime() - Date.parse(trashedAt) >= trashFor)) continue;
    old.push({ sessionId, ...(user !== undefined && { user }), since: trashedAt, bytes });
  }
  if (!remove || dryRun) {
    tally.due.push(...old);
    return begun.erased;
  }
  const refused = new Set(begun.refused.map(keyOf));
  const alone: CleanedSession[] = [];
  for (const one of old) {
    const { sessionId } = one;
    if (refused.has(keyOf(one))) continue;
    if (!(await isInStore(store, scope, sessionId))) alone.push(one);
    else if (await isInTrash(upkeep, scope, sessionId))
      tally.failures.push({ sessionId, message: "It stays in the trash: a session of the same id is in the store." });
  }
  try {
    const emptied = await eraseTrashed(store, alone, asked);
    tellUnread(tally, emptied.unread);
    const isBegun = await begunAmong(upkeep, scope, emptied.refused);
    await tellRefused(
      tally,
      emptied.refused,
      async (one) => (await isInTrash(upkeep, scope, one.sessionId)) || isBegun(one),
    );
    return [...begun.erased, ...emptied.erased];
  } catch (error) {
    tally.failures.push({ message: `The trash was not emptied: ${messageOf(error)}` });
    return begun.erased;
  }
}

/** Ends what was begun to be erased. */
async function endBegun(
  store: Store,
  upkeep: Upkeep,
  options: EmptyTrashOptions,
  tally: Tally,
): Promise<Pick<EraseOutcome, "erased" | "refused">> {
  const { scope = {} } = options;
  try {
    const ended = await endErasures(store, options);
    tellUnread(tally, ended.unread);
    await tellRefused(tally, ended.refused, await begunAmong(upkeep, scope, ended.refused));
    return ended;
  } catch (error) {
    tally.failures.push({ message: `An erasure that was begun was not ended: ${messageOf(error)}` });
    return { erased: [], refused: [] };
  }
}

/** Notes which memories could not be looked through. */
function tellUnread(tally: Tally, unread: readonly unknown[]): void {
  for (const error of unread) {
    const message = `A memory could not be looked through for what was erased: ${messageOf(error)}`;
    if (tally.failures.every((one) => one.message !== message)) tally.failures.push({ message });
  }
}

/** Notes why sessions were not erased, but those that another clean-up erased meanwhile. */
async function tellRefused(
  tally: Tally,
  refused: readonly EraseRefusal[],
  isThere: (session: Owned) => boolean | Promise<boolean>,
): Promise<void> {
  for (const one of refused) {
    const { sessionId, error } = one;
    await attempt(
      tally,
      sessionId,
      () => Promise.reject(error),
      async () => one.isErased === true || isThere(one),
    );
  }
}

/** Tells of some sessions whether their erasure is under way. */
async function begunAmong(
  upkeep: Upkeep,
  scope: Scope,
  sessions: readonly Owned[],
): Promise<(session: Owned) => boolean> {
  const begun = sessions.length > 0 ? await upkeep.unerased(scope) : [];
  const keys = new Set(begun.map(keyOf));
  return (one) => keys.has(keyOf(one));
}

async function isInTrash(upkeep: Upkeep, scope: Scope, id: string): Promise<boolean> {
  for await (const { sessionId } of upkeep.trashed(scope, id)) if (sessionId === id) return true;
  return false;
}
