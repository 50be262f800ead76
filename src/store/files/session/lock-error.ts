/** The error of a session that cannot be locked: it may have ended, or been erased, since it was found. */
import type { WindrowError } from "../../../errors.ts";
import { systemCode, unavailable } from "../../../disk/safe-write.ts";
import { finished, notFound } from "../../shared/rules.ts";
import type { Place } from "../layout.ts";

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
