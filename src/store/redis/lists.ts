/** The lists of sessions in Redis: sorted sets, which may name sessions that are not there, and be made anew. */
import type { HeadsQuery } from "../engine.ts";
import { parseDocument } from "../format/documents.ts";
import { unknownOutcome } from "../shared/remote.ts";
import { ownerNamed } from "../shared/rules.ts";
import type { Sender } from "./client.ts";
import type { RedisPlace } from "./database.ts";

/** Keys looked at in one call. */
const pageKeys = 1_000;

/** A session in a list: its id, and minus the milliseconds of its creation. */
interface Listed {
  readonly id: string;
  readonly score: string;
}

/**
 * The sessions of a list, newest first, page by page.
 *
 * @param after - the session behind which they begin
 */
export async function* listedBehind(
  sender: Sender,
  set: string,
  after: HeadsQuery["after"],
  least: number,
): AsyncGenerator<readonly Listed[]> {
  let last: Listed = { id: after?.id ?? "", score: after ? String(-after.createdMs) : "-inf" };
  for (let size = least; ;) {
    const values = [set, last.score, "+inf", "WITHSCORES", "LIMIT", 0, size];
    // A client answers with pairs, or with ids and scores in turn.
    const texts = ((await sender.send("ZRANGEBYSCORE", ...values)) as unknown[]).flat().map(String);
    const page = texts.flatMap((id, at) => (at % 2 === 0 ? [{ id, score: texts[at + 1] ?? "" }] : []));
    const behind = page.filter(({ id, score }) => score !== last.score || id > last.id);
    yield behind;
    if (page.length < size) return;
    // More sessions than a page has were made in one millisecond: a larger page begins where this one did.
    if (behind.length === 0) size *= 2;
    else last = behind.at(-1)!;
  }
}

/** The sessions that are in no list; listed where this is asked for. */
export async function relisted({ sender, keys }: RedisPlace, mend: boolean): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const send of await sender.masters()) {
    for (let cursor = "0"; ;) {
      const scan = [cursor, "MATCH", keys.pattern, "COUNT", pageKeys, "TYPE", "hash"];
      const [next, found] = (await send("SCAN", ...scan)) as [string, string[]];
      for (const key of found) {
        const values = (await sender.send("HMGET", key, "id", "owner", "created_ms")) as readonly (string | null)[];
        const [id, owner, created] = values;
        if (!id) continue;
        const { tenant } = ownerNamed(parseDocument(owner ?? "") ?? {});
        const sets = [keys.all, keys.ofTenant(tenant)];
        const scores = await Promise.all(sets.map(async (set) => sender.send("ZSCORE", set, id)));
        if (scores.every((score) => Number(score ?? Number.NaN) === -Number(created))) continue;
        // One that went meanwhile is in no list.
        if (Number(await sender.send("EXISTS", key)) === 0) continue;
        missing.push(id);
        if (mend) for (const set of sets) await sender.send("ZADD", set, -Number(created), id);
      }
      cursor = next;
      if (cursor === "0") break;
    }
  }
  return missing;
}

/** Listing behind a change that was made: if it fails, that is no refusal of the change. */
export function afterChange(work: Promise<void>): Promise<void> {
  return work.catch((error: unknown) => Promise.reject(unknownOutcome(error)));
}
