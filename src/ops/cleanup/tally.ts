/** The sums of a clean-up that is under way. */
import { isWindrowError } from "../../errors.ts";

/** A session that something was done to, or is due to be. */
export interface CleanedSession {
  readonly sessionId: string;
  readonly user?: string;
  /** Its last record, ISO 8601; in the trash: since when it is there. */
  readonly since: string;
  /** Bytes on the disk before. */
  readonly bytes: number;
  /** Bytes on the disk after, of one that was compressed. */
  readonly bytesAfter?: number;
}

/** Sums that grow while a clean-up runs. */
export interface Tally {
  looked: number;
  kept: number;
  bytes: number;
  readonly compressed: CleanedSession[];
  readonly retired: CleanedSession[];
  readonly trashed: CleanedSession[];
  readonly due: CleanedSession[];
  readonly failures: { sessionId?: string; message: string }[];
}

/**
 * Does a piece of work; what it refuses is noted, and stops nothing else. A session that another one took away is done with.
 *
 * @param isThere - whether the session is still where the work looks for it: asked before a refusal is noted
 */
export async function attempt(
  tally: Tally,
  sessionId: string,
  work: () => Promise<void>,
  isThere: () => Promise<boolean>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isWindrowError(error, "session-not-found") || !(await isThere().catch(() => true))) return;
    tally.failures.push({ sessionId, message: messageOf(error) });
  }
}

/** An error in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
