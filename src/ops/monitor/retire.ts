/** Retiring: a session that was closed, and that nobody resumed for long, is put to rest. It can be resumed at any time. */
import { isWindrowError } from "../../errors.ts";
import { isAtRest } from "../../store/shared/rules.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { lastRecordAt } from "../look/age.ts";

/** Whether a session may be put to rest: it has not ended, is not at rest, and nobody writes it or died doing so. */
async function isIdle(store: Store, scope: Scope, { metadata, state, readOnly }: SessionInfo): Promise<boolean> {
  if (readOnly || isAtRest(state.status) || state.status === "completing") return false;
  const holding = await store.holding?.holder(scope, metadata.uuid);
  if (holding !== undefined && holding.state !== "none") return false;
  return (await store.upkeep?.kept(scope, metadata.uuid)) === undefined;
}

/**
 * Puts an idle session to rest, in state `closed`. Nothing of it is moved or lost; a resume makes it `processing` again.
 *
 * @param last - the time of its last record, in milliseconds since 1970: one that has a newer one by now stays as it is
 * @param now - when it is put to rest
 * @returns whether it was put to rest; false where somebody took it up meanwhile
 */
export async function retire(store: Store, scope: Scope, id: string, last: number, now: Date): Promise<boolean> {
  try {
    const lock = await store.lock(scope, id);
    try {
      const info = await store.info(scope, id);
      if (isAtRest(info.state.status) || (await lastRecordAt(store, scope, info)) !== last) return false;
      const rest = { status: "closed", lastActivity: "retired", updatedAt: now.toISOString() } as const;
      await store.setState(lock, { ...info.state, ...rest });
      return true;
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (isTakenUp(error)) return false;
    throw error;
  }
}

/** Whether an error says that somebody resumed, ended or erased a session meanwhile. */
export function isTakenUp(error: unknown): boolean {
  return (["session-busy", "read-only", "session-not-found"] as const).some((code) => isWindrowError(error, code));
}

/**
 * Puts a session to rest if it is idle and its last record is old enough.
 *
 * @param after - milliseconds since its last record
 * @param dryRun - change nothing, and say what would be done
 * @returns the time of its last record; undefined if it stays as it is
 */
export async function putToRest(
  store: Store,
  scope: Scope,
  info: SessionInfo,
  after: number,
  now: Date,
  dryRun = false,
): Promise<number | undefined> {
  if (!(await isIdle(store, scope, info))) return undefined;
  const last = await lastRecordAt(store, scope, info);
  if (last === undefined || now.getTime() - last < after) return undefined;
  return dryRun || (await retire(store, scope, info.metadata.uuid, last, now)) ? last : undefined;
}
