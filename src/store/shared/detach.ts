/** The rules by which stores let go of the records of a session. */
import { WindrowError } from "../../errors.ts";
import type { ArchiveMark, SessionStatus } from "../store.ts";
import { isKept } from "../upkeep.ts";
import type { EraseElsewhere, SessionSize } from "../upkeep.ts";
import { isAtRest } from "./rules.ts";

/**
 * Refuses a session whose records stay in the store.
 *
 * @throws WindrowError `bad-option`
 */
export function checkDetachable(id: string, status: SessionStatus, kept: boolean): void {
  if (!isAtRest(status)) {
    const message =
      `Session ${id} is not finished: only finished sessions, and closed ones that were put to rest, are archived. ` +
      `\`windrow finish ${id}\` ends it.`;
    throw new WindrowError("bad-option", message, { id });
  }
  if (kept) throw isKept(id);
}

/** The size of a session whose records lie in an archive. */
export function sizeInArchive({ objectBytes, bytes }: ArchiveMark): SessionSize {
  return { bytes: objectBytes, plainBytes: bytes, compressed: true };
}

/** The erasing of a caller who has nothing of sessions outside the store. */
export const nowhere: EraseElsewhere = async () => [];

/** Somebody took the session since it was looked at. */
export function resumedMeanwhile(id: string): WindrowError {
  const message = `Session ${id} was taken by another process meanwhile; nothing was changed. Try again when it is at rest.`;
  return new WindrowError("session-busy", message, { id });
}
