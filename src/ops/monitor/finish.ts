/** Ending a session that its program left open, and putting one to rest that nobody resumed for long. */
import { hasCode } from "../look/errors.ts";
import { lastRecordAt } from "../look/age.ts";
import type { TimedOptions } from "../options.ts";
import { WindrowError } from "../../errors.ts";
import { checkEnd, isAtRest, isFinal } from "../../store/shared/rules.ts";
import { endedRecord } from "../../store/shared/state-count.ts";
import type { FinalStatus, Lock, Scope, SessionInfo, SessionStatus, Store } from "../../store/store.ts";

/** How a session ends. */
export interface FinishOptions extends TimedOptions {
  /** Default `completed`; with an `error` `failed`. */
  readonly status?: FinalStatus;
  /** The reason, for people. */
  readonly error?: string;
}

/** The end of a session. */
export interface FinishReport {
  readonly sessionId: string;
  readonly status: FinalStatus;
  readonly error: string | null;
  /** The status before. */
  readonly before: SessionStatus;
}

/**
 * Ends a session, as `Session.finish` does: it can be read, compressed and put into the trash, and is resumed no more.
 *
 * @throws WindrowError `session-busy` with the owner, while a process writes it; `read-only` where it has ended;
 *   `session-not-found`; `bad-option` for a status that ends none
 */
export async function finishSession(store: Store, id: string, options: FinishOptions = {}): Promise<FinishReport> {
  const { scope = {}, error = null, now = () => new Date() } = options;
  const status = options.status ?? (error === null ? "completed" : "failed");
  checkEnd(status, error);
  const before = (await store.info(scope, id)).state.status;
  if (isFinal(before)) {
    throw new WindrowError("read-only", `Session ${id} has ended already (${before}); nothing was changed.`, { id });
  }
  const time = now().toISOString();
  await endSession(store, scope, id, { status, error, lastActivity: "finished", time });
  return { sessionId: id, status, error, before };
}

/** The end of a session, as its state says it. */
export interface SessionEnd {
  readonly status: FinalStatus;
  readonly error: string | null;
  readonly lastActivity: string;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/**
 * Takes a session and ends it.
 *
 * @param mayEnd - asked once the session is taken; default: yes
 * @returns whether it was ended
 */
export async function endSession(
  store: Store,
  scope: Scope,
  id: string,
  { status, error, lastActivity, time }: SessionEnd,
  mayEnd: (lock: Lock) => boolean = () => true,
): Promise<boolean> {
  const lock = await store.lock(scope, id);
  try {
    if (!mayEnd(lock)) return false;
    const { state } = await store.info(scope, id);
    if (error !== null) await store.append(lock, [endedRecord({ status, error }, time)]);
    await store.finish(lock, { ...state, status, error, lastActivity, updatedAt: time, completedAt: time });
    return true;
  } finally {
    await lock.release();
  }
}

/** Whether a session may be put to rest: it has not ended, is not at rest, and nobody writes it or died doing so. */
async function isIdle(store: Store, scope: Scope, { metadata, state, readOnly }: SessionInfo): Promise<boolean> {
  if (readOnly || isAtRest(state.status) || state.status === "completing") return false;
  const holding = await store.holding.holder(scope, metadata.uuid);
  if (holding !== undefined && holding.state !== "none") return false;
  return (await store.upkeep.kept(scope, metadata.uuid)) === undefined;
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
  return hasCode(error, "session-busy", "read-only", "session-not-found");
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
