/** The errors by which an archive refuses a session. */
import { WindrowError } from "../../../errors.ts";
import type { ArchiveBucket } from "./bucket.ts";

/** The object's name is taken by another one. */
export function conflict({ location }: ArchiveBucket, key: string, cause?: unknown): WindrowError {
  const message = `The object ${key} of the archive ${location} is there already and holds something else. The session stays in the store; look at the object, and move it away.`;
  return new WindrowError("archive-conflict", message, { key }, { cause });
}

/** The session lacks records, or has lines that cannot be read. */
export function hasDamage(id: string, spans: number): WindrowError {
  const message = `Session ${id} has ${spans} damaged places, and is not archived. \`windrow doctor\` says more; a backup brings it back whole.`;
  return new WindrowError("store-corrupt", message, { id, spans });
}
