/** The owner of a session in Redis, also where its metadata cannot be read. */
import { decodeMetadata, parseDocument } from "../format/documents.ts";
import { ownerOf } from "../shared/rules.ts";
import type { Scope } from "../scope.ts";
import type { RedisPlace } from "./database.ts";

/** Keys that a node is asked for at once. */
const pageKeys = 512;

/** The fields of a session's hash that name its owner. */
interface OwnedHash {
  readonly metadata?: string;
  readonly owner?: string;
}

/** The owner that a hash tells; undefined where its metadata cannot be read and an earlier version made it. */
export function ownerIn({ metadata = "", owner = "" }: OwnedHash): Scope | undefined {
  const known = decodeMetadata(parseDocument(metadata), "") ?? (parseDocument(owner) as Scope | undefined);
  return known && ownerOf(known);
}

/** The owner of a session, as far as its hash and the lists tell. */
export interface Salvaged {
  readonly owner: Scope;
  /** The time of its creation; undefined where its list does not name it. */
  readonly createdAt: string | undefined;
}

/** The owner by its hash, else by the one list that names the session; undefined where several lists do. */
export async function salvaged(place: RedisPlace, id: string, hash: OwnedHash): Promise<Salvaged | undefined> {
  const owner = ownerIn(hash);
  const found: Salvaged[] = [];
  const lists = place.keys.sessions({});
  for await (const key of keysWith(place, lists)) {
    const score = await place.sender.send("ZSCORE", key, id);
    if (score === null) continue;
    const tenant = key.slice(lists.length + 1);
    found.push({ owner: tenant === "" ? {} : { tenant }, createdAt: new Date(-Number(score)).toISOString() });
  }
  if (owner) return { owner, createdAt: found.find((one) => one.owner.tenant === owner.tenant)?.createdAt };
  return found.length > 1 ? undefined : (found[0] ?? { owner: {}, createdAt: undefined });
}

/** The keys of all nodes that begin with a text. */
export async function* keysWith({ sender }: RedisPlace, prefix: string): AsyncGenerator<string> {
  const pattern = `${prefix.replaceAll(/[\\[\]?*]/g, String.raw`\$&`)}*`;
  for (const send of await sender.masters()) {
    let cursor = "0";
    do {
      const [next, page] = (await send("SCAN", cursor, "MATCH", pattern, "COUNT", pageKeys)) as [string, string[]];
      cursor = next;
      yield* page;
    } while (cursor !== "0");
  }
}
