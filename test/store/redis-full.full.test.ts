/** A server whose memory is full and that throws nothing away: what frees memory goes on, and what takes more is refused. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { cleanup, erase } from "windrow/ops";
import { systemClock } from "windrow/store/author";
import { redisStore } from "windrow/store/redis";
import { everybody, finishedSession, listAll, messageRecord, newSession } from "../kit/inside/store.ts";
import { hasRedis, redisKey } from "../kit/redis.ts";
import { redisHere } from "./stage.ts";

const isOwn = process.env["WINDROW_TEST_REDIS"] === undefined;
const time = "2026-01-01T00:00:00.000Z";

const redis = redisHere();
let store: Store;
const beats: (() => void)[] = [];
beforeAll(async () => {
  if (!hasRedis || !isOwn) return;
  const every = (_milliseconds: number, tick: () => void): (() => void) => {
    beats.push(tick);
    return () => undefined;
  };
  store = redisStore({ client: redis.client, clock: { ...systemClock, every } });
}, 60_000);
afterAll(async () => {
  await store?.close();
});

async function fill(): Promise<void> {
  await redis.client.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
  await redis.client.call("CONFIG", "SET", "maxmemory", "1kb");
}

describe.skipIf(!hasRedis || !isOwn)("a Redis server whose memory is full", () => {
  it("puts sessions into the trash, erases them from there and from the store, and refuses appends", async () => {
    const [stored, trashed, begun, last] = [
      await finishedSession(store),
      await finishedSession(store),
      await finishedSession(store),
      await finishedSession(store),
    ];
    const lock = await store.create(everybody, newSession());
    await store.upkeep.trash(everybody, [trashed], time);
    const elsewhere = () => Promise.reject(new Error("it cannot be reached"));
    await expect(erase(store, [begun], { elsewhere })).rejects.toThrow("reached");
    await fill();
    await expect(store.append(lock, [messageRecord("one")])).rejects.toMatchObject({ code: "not-durable" });
    await store.upkeep.trash(everybody, [last], time);
    expect((await erase(store, [stored])).map(({ sessionId }) => sessionId).toSorted()).toEqual(
      [begun, stored].toSorted(),
    );
    const now = () => new Date("2026-02-01T00:00:00.000Z");
    const report = await cleanup(store, { remove: true, compressAfter: 0, deleteAfter: 14 * 86_400_000, now });
    expect(report.failures).toEqual([]);
    expect(report.erased.map(({ sessionId }) => sessionId).toSorted()).toEqual([trashed, last].toSorted());
    expect((await listAll(store)).map(({ metadata }) => metadata.uuid)).toEqual([lock.id]);
    expect(await store.upkeep.unerased(everybody)).toEqual([]);
    expect(await redis.client.call("ZCARD", "windrow:sessions")).toBe(1);
    await redis.client.call("CONFIG", "SET", "maxmemory", "0");
    await store.append(lock, [messageRecord("two")]);
    await lock.release();
  });

  it("takes back the note of an erasure that it refuses", async () => {
    const id = await finishedSession(store);
    await store.upkeep.keep(everybody, id, { keptAt: time });
    await fill();
    await expect(store.upkeep.erase(everybody, [id])).rejects.toMatchObject({ code: "bad-option" });
    expect(await store.upkeep.unerased(everybody)).toEqual([]);
    expect(await store.upkeep.unkeep(everybody, id)).toBe(true);
    await store.upkeep.erase(everybody, [id]);
    await redis.client.call("CONFIG", "SET", "maxmemory", "0");
  });

  it("hears who lives, so that no session is taken from its holder for the silence", async () => {
    const lock = await store.create(everybody, newSession());
    const session = redisKey("windrow:", lock.id);
    await redis.client.call("HSET", session, "beat", 1);
    await fill();
    for (const beat of beats) beat();
    await expect.poll(async () => Number(await redis.client.call("HGET", session, "beat"))).toBeGreaterThan(1);
    await redis.client.call("CONFIG", "SET", "maxmemory", "0");
    await lock.release();
  });
});
