/** Removing the objects of an erased session from an archive for good. */
import { WindrowError } from "../../../errors.ts";
import { reaches } from "../reach.ts";
import type { Reach } from "../reach.ts";
import type { Scope, Store } from "../../store.ts";
import type { Upkeep } from "../../upkeep.ts";
import type { ArchiveBucket } from "./bucket.ts";
import { prefixesOf } from "./names.ts";
import { ownerIn } from "./object.ts";
import { isNamed } from "./somewhere.ts";

/**
 * Removes the objects of a session in reach, and looks again. Those of another owner stay, whose session has the same id in a
 * store of an earlier version: by what their heads say, and where these cannot be read, by the sessions that name them.
 *
 * @throws WindrowError `store-unavailable` where one is there again
 */
export async function removeObjects(
  bucket: ArchiveBucket,
  behind: { readonly store: Store; readonly upkeep: Upkeep },
  reach: Reach,
  id: string,
  remove: (key: string) => Promise<void>,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const { scope } = reach;
  const { tenant } = scope;
  const everyUser = tenant === undefined ? {} : { tenant };
  let [count, bytes] = [0, 0];
  const others = new Set<string>();
  for await (const key of listed(bucket, scope, id)) {
    const body = await bucket.get(key);
    const owner = body && (await ownerIn(body));
    if ((owner && !reaches(reach, owner)) || (await isNamed(behind, everyUser, id, key))) {
      others.add(key);
      continue;
    }
    bytes += body?.length ?? 0;
    await remove(key);
    count += 1;
  }
  for await (const key of listed(bucket, scope, id)) {
    if (others.has(key)) continue;
    const message = `The object ${key} of the archive ${bucket.location} was removed and is there again. Try again.`;
    throw new WindrowError("store-unavailable", message, { key });
  }
  return { count, bytes };
}

async function* listed(bucket: ArchiveBucket, scope: Scope, id: string): AsyncGenerator<string> {
  for (const prefix of prefixesOf(scope, id)) yield* bucket.list(prefix);
}
