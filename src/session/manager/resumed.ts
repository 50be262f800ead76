/** A session that is resumed: its state, and the record of who goes on with it. */
import { isWindrowError } from "../../errors.ts";
import { isFinal } from "../../store/shared/rules.ts";
import type { Lock, SessionState, Store } from "../../store/store.ts";
import { tell } from "../events.ts";
import type { Listener } from "../events.ts";
import { resumedRecord } from "../log.ts";
import type { NewestEdits, Originals } from "../log.ts";

/** The state of an earlier process that a session goes on from. */
export interface Restored {
  readonly edits: NewestEdits;
  /** Whether the session was there before. Default false. */
  readonly resumed?: boolean;
  readonly originals?: Originals | undefined;
}

/** The state of a session that is taken up; one that was put to rest is at work again. */
export function runningState(state: SessionState, now: Date): SessionState {
  if (isFinal(state.status)) return state;
  if (state.status !== "closed") return { ...state, status: "processing" };
  return { ...state, status: "processing", lastActivity: "resumed", updatedAt: now.toISOString() };
}

/**
 * Takes a session out of its rest, and writes who goes on with it. What cannot be written keeps nobody from resuming.
 *
 * @param state - the state that it goes on with
 */
export async function recordResume(
  store: Store,
  lock: Lock,
  state: SessionState,
  { isRested, now, on }: { readonly isRested: boolean; readonly now: Date; readonly on: Listener | undefined },
): Promise<void> {
  try {
    // First, so that no session at rest has records of a writer whom nobody looks for.
    const woken = isRested ? store.setState(lock, state) : undefined;
    if (store.capabilities.inOrder !== true) await woken;
    await Promise.all([woken, store.append(lock, [resumedRecord(lock, now.toISOString())])]);
  } catch (error) {
    if (!isWindrowError(error)) throw error;
    tell(on, { type: "append-failed", sessionId: lock.id, error });
  }
}
