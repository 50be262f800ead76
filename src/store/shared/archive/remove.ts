/** Removing objects from an archive for good. */
import { WindrowError } from "../../../errors.ts";
import type { ArchiveBucket } from "./bucket.ts";

/**
 * Removes every object whose name begins in one of these ways, and looks again.
 *
 * @throws WindrowError `store-unavailable` where one is there again
 */
export async function removeAll(
  bucket: ArchiveBucket,
  prefixes: readonly string[],
  remove: (key: string) => Promise<void>,
): Promise<{ readonly count: number; readonly bytes: number }> {
  let [count, bytes] = [0, 0];
  for await (const key of listed(bucket, prefixes)) {
    bytes += (await bucket.get(key))?.length ?? 0;
    await remove(key);
    count += 1;
  }
  for await (const key of listed(bucket, prefixes)) {
    const message = `The object ${key} of the archive ${bucket.location} was removed and is there again. Try again.`;
    throw new WindrowError("store-unavailable", message, { key });
  }
  return { count, bytes };
}

async function* listed(bucket: ArchiveBucket, prefixes: readonly string[]): AsyncGenerator<string> {
  for (const prefix of prefixes) yield* bucket.list(prefix);
}
