/** Locking a session that was found, and the error where that cannot be: it may have ended, or been erased, since. */
import type { WindrowError } from "../../../errors.ts";
import { systemCode, unavailable } from "../../../disk/safe-write.ts";
import { finished, notFound } from "../../shared/rules.ts";
import type { LockTools, SessionLock } from "../../lock/lock.ts";
import { acquireNamed } from "../../lock/steal.ts";
import type { Leases } from "../../lock/steal.ts";
import type { Follow } from "../follow.ts";
import { locate } from "../layout.ts";
import type { Layout, Place } from "../layout.ts";
import { checkNotErased } from "../upkeep/notes.ts";

/**
 * Takes the lock of a session, unless its erasure was begun.
 *
 * @param now - throws where another session has come into its place
 * @throws WindrowError `session-busy`; as {@link lockError} gives it
 */
export async function lockPlace(
  layout: Layout,
  place: Place,
  now: Follow,
  tools: LockTools,
  leases: Leases,
): Promise<SessionLock> {
  const checkIsLeft = (): void => checkNotErased(layout, place.id, place.folder, tools.disk);
  checkIsLeft();
  let lock: SessionLock | undefined;
  try {
    lock = await acquireNamed(place.folder, tools, leases);
    // An erasure has the lock when it notes that it began.
    checkIsLeft();
    now();
    return lock;
  } catch (error) {
    lock?.release();
    throw lockError(error, "Locking a session", place, locate(layout, place.id, tools.disk));
  }
}

/**
 * The error of a call that failed while it locked a session: `session-not-found`, `read-only`, `store-unavailable`, or
 * the error itself where it is one of ours.
 *
 * @param found - where the session was looked for
 * @param now - where it is now
 */
export function lockError(error: unknown, doing: string, found: Place, now: Place | undefined): WindrowError {
  if (systemCode(error) === "ENOENT") {
    if (!now) return notFound(found.id);
    if (now.completed && !found.completed) return finished(found.id);
  }
  return unavailable(error, doing, found.folder);
}
