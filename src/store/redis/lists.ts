/** The lists of sessions in Redis: sorted sets, which may name sessions that are not there, and be made anew. */
import type { Sender } from "./client.ts";
import type { RedisPlace } from "./database.ts";

/** Keys looked at in one call. */
const pageKeys = 1_000;

/** A session in a list: its id, and minus the milliseconds of its creation. */
export interface Listed {
  readonly id: string;
  readonly score: string;
}

/** Sessions of a list, from a score on. */
export async function listedFrom(sender: Sender, set: string, from: string, size: number): Promise<readonly Listed[]> {
  // A client answers with pairs, or with ids and scores in turn.
  const reply = (await sender.send("ZRANGEBYSCORE", set, from, "+inf", "WITHSCORES", "LIMIT", 0, size)) as unknown[];
  const texts = reply.flat().map(String);
  return texts.flatMap((id, at) => (at % 2 === 0 ? [{ id, score: texts[at + 1] ?? "" }] : []));
}

/** The sessions that are in no list; listed where this is asked for. */
export async function relisted({ sender, keys }: RedisPlace, mend: boolean): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const send of await sender.masters()) {
    for (const pattern of keys.patterns) {
      for (let cursor = "0"; ;) {
        const [next, found] = (await send("SCAN", cursor, "MATCH", pattern, "COUNT", pageKeys, "TYPE", "hash")) as [
          string,
          string[],
        ];
        for (const key of found) {
          const values = (await sender.send("HMGET", key, "id", "owner", "created_ms")) as readonly (string | null)[];
          const [id, owner, created] = values;
          if (!id) continue;
          const { tenant } = JSON.parse(owner ?? "{}") as { readonly tenant?: string };
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
  }
  return missing;
}
