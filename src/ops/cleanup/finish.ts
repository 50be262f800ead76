/** Ending a session that its program left open. */
import type { TimedOptions } from "../options.ts";
import { WindrowError } from "../../errors.ts";
import { checkEnd, isFinal } from "../../store/shared/rules.ts";
import { endedRecord } from "../../store/shared/state-count.ts";
import type { FinalStatus, Lock, Scope, SessionStatus, Store } from "../../store/store.ts";

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
