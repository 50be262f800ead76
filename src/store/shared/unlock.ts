/** Taking a session from the process that holds it: the refusals, and the edit that records why. */
import { WindrowError } from "../../errors.ts";
import type { EditRecord } from "../../message/record.ts";
import type { Holding, LockOwner, UnlockOptions } from "../store.ts";

/**
 * The edit that the log of a session gets when it is taken from a live process.
 *
 * @returns undefined where no live process holds it
 * @throws WindrowError `session-busy` without `force`; `bad-option` without a reason
 */
export function unlockEdit(
  id: string,
  found: Holding,
  { force = false, reason = "" }: UnlockOptions,
  timestamp: string,
): EditRecord | undefined {
  if (found.state !== "held" || !found.owner) return undefined;
  if (!force) throw busy(found.owner);
  if (reason.trim() === "") {
    const message = "Taking a session from a live process needs a reason, which is written into its log.";
    throw new WindrowError("bad-option", message, { id, option: "reason" });
  }
  const { processId, hostname, generation } = found.owner;
  const data = { reason, process_id: processId, hostname, generation };
  return { kind: "edit", type: "unlocked", data, timestamp };
}

/**
 * Another process holds the session.
 *
 * @param retryAfterMs - when it may be worth another try, where that is known
 */
export function busy(owner: LockOwner, retryAfterMs?: number): WindrowError {
  return new WindrowError(
    "session-busy",
    `This session is being written by process ${owner.processId} on ${owner.hostname} since ${owner.acquiredAt}. ` +
      "Wait until it is done, or open the session for reading.",
    { owner: { ...owner, since: owner.acquiredAt }, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  );
}

/** Another process took the session over; this holder may not write any more. */
export function fenced(data: Readonly<Record<string, unknown>>): WindrowError {
  return new WindrowError(
    "fenced",
    "Another process took over this session; what was not acknowledged may not be kept. Open the session again to go on.",
    data,
  );
}
