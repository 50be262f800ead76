import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type { Lock } from "windrow";
import { doctor } from "windrow/ops";
import { openStore } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import { everybody, listAll, messageRecord, newSession, stateOf, texts } from "../kit/inside/store.ts";
import { hasRedis, redisKey } from "../kit/redis.ts";
import { held } from "../kit/stores.ts";
import { opened, ownRedis, redisHere } from "./stage.ts";

async function* reversed<T>(all: AsyncIterable<T>): AsyncGenerator<T> {
  const found: T[] = [];
  for await (const one of all) found.unshift(one);
  yield* found;
}

const redis = redisHere();

describe.skipIf(!hasRedis)("a store in Redis", () => {
  it.skipIf(process.env["WINDROW_TEST_REDIS"] !== undefined)(
    "promises what the server keeps: strict is refused where a write is not synced, and group is named",
    async () => {
      const lazy = await ownRedis(["--appendonly", "yes", "--appendfsync", "everysec"]);
      const strict = await opened(lazy.url);
      const error: unknown = await strict.create(everybody, newSession()).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "bad-option", message: expect.stringContaining('durability "group"') });
      const group = await opened(lazy.url, { durability: "group" });
      const lock = await held(group, "kept");
      await lock.release();
    },
    60_000,
  );

  it.skipIf(process.env["WINDROW_TEST_REDIS"] !== undefined)(
    "refuses a server that throws sessions away when its memory is full, whatever is promised",
    async () => {
      const settings = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory", "64mb"];
      const cache = await ownRedis([...settings, "--maxmemory-policy", "allkeys-lru"]);
      for (const durability of ["strict", "group"] as const) {
        const store = await opened(cache.url, { durability });
        await expect(store.create(everybody, newSession())).rejects.toMatchObject({
          code: "bad-option",
          message: expect.stringContaining("noeviction"),
        });
      }
      const full = await ownRedis([...settings, "--maxmemory-policy", "noeviction"]);
      const store = await opened(full.url);
      await (await store.create(everybody, newSession())).release();
    },
    60_000,
  );

  it("refuses addresses and options that it cannot use, without a word of the password", async () => {
    await expect(openStore("redis:nowhere")).rejects.toMatchObject({ code: "bad-option" });
    expect(() => redisStore({ client: {} as never })).toThrow(expect.objectContaining({ code: "bad-option" }));
    const away = await opened("redis://me:hush@127.0.0.1:1");
    const error: unknown = await away.info(everybody, newSession().uuid).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "store-unavailable" });
    expect(String((error as Error).message)).not.toContain("hush");
  });

  it("says why there is no connection, and what to do about a password", async () => {
    const away = await opened("redis://127.0.0.1:1");
    await expect(away.create(everybody, newSession())).rejects.toMatchObject({ message: /ECONNREFUSED/ });
    const { client } = redis;
    await client.call("CONFIG", "SET", "requirepass", "secret");
    try {
      for (const address of [redis.url, redis.url.replace("redis://", "redis://:wrong@")]) {
        const store = await opened(address);
        await expect(store.create(everybody, newSession())).rejects.toMatchObject({ message: /Check user, password/ });
      }
    } finally {
      await client.call("CONFIG", "SET", "requirepass", "");
    }
  });

  it("lies in the database of its address, and is opened in no other one", async () => {
    const [first, second] = [await opened(`${redis.url}/0`), await opened(`${redis.url}/1`)];
    const lock = await second.create(everybody, newSession());
    await lock.release();
    await expect(first.info(everybody, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    expect((await second.info(everybody, lock.id)).metadata.uuid).toBe(lock.id);
    const none = { code: "store-unavailable", message: /99 answered.*out of range/ };
    await expect(openStore(`${redis.url}/99`)).rejects.toMatchObject(none);
    for (const address of [`${redis.url}/one`, `${redis.url}/1?cluster=true`])
      await expect(openStore(address)).rejects.toMatchObject({ code: "bad-option" });
  });

  it("leaves no connection open where it is refused an audit", async () => {
    const { client } = redis;
    const connections = async (): Promise<number> =>
      String(await client.call("CLIENT", "LIST"))
        .trim()
        .split("\n").length;
    const before = await connections();
    const refused = openStore(redis.url, { access: { audit: true } });
    await expect(refused).rejects.toMatchObject({ code: "bad-option" });
    await vi.waitFor(async () => expect(await connections()).toBe(before), { timeout: 10_000 });
  });

  it("is examined: damaged and lost lines, unreadable documents and lists are told, and mended where that is possible", async () => {
    const prefix = "examined[*]:";
    const store = await opened(`${redis.url}?prefix=${encodeURIComponent(prefix)}`);
    const locks: Lock[] = [];
    for (let index = 0; index < 5; index++) {
      const lock = await store.create({ tenant: "acme", user: "ann" }, newSession());
      for (let turn = 0; turn < 5; turn++) await store.append(lock, [messageRecord(`${index} ${turn}`)]);
      locks.push(lock);
    }
    for (const lock of locks.slice(0, 4)) await store.finish(lock, stateOf("completed"));
    await locks[4]?.release();
    expect((await doctor(store)).findings).toEqual([]);
    const { client } = redis;
    const key = (index: number, log = ""): string => `${redisKey(prefix, locks[index]!.id)}${log}`;
    const [[, [, line = ""]] = ["", []]] = (await client.call("XRANGE", key(0, ":messages"), 5, 5)) as [
      string,
      string[],
    ][];
    await client.call("XDEL", key(0, ":messages"), "5-0");
    await client.call("XADD", key(0, ":messages"), "5-1", "line", line.replace("0 4", "0 X"));
    await client.call("XDEL", key(1, ":messages"), "3-0");
    await client.call("HSET", key(2), "state", "nonsense");
    await client.call("ZREM", `${prefix}tenant:acme`, locks[3]?.id ?? "");
    await client.call("HSET", key(4), "metadata", "{");
    const found = await doctor(store);
    const expected = [
      "damaged",
      "metadata-unreadable",
      "records-missing",
      "stale-index",
      "stale-index",
      "state-unreadable",
    ];
    expect(found.findings.map(({ problem }) => problem).toSorted()).toEqual(expected);
    expect((await doctor(store, { mend: true })).addsUp).toBe(true);
    const left = await doctor(store);
    expect(left.findings.map(({ problem }) => problem).toSorted()).toEqual(["damaged", "records-missing"]);
    const scope = { tenant: "acme" };
    const listed = (await listAll(store, scope)).map(({ metadata }) => metadata.uuid);
    expect(listed.toSorted()).toEqual(locks.map(({ id }) => id).toSorted());
    expect((await store.info(scope, locks[2]?.id ?? "")).state.lastActivity).toBe("state_rebuilt");
    const again = await store.lock(scope, locks[4]?.id ?? "");
    expect(await store.append(again, [messageRecord("goes on")])).toMatchObject([{ seq: 6, pos: 6 }]);
    await client.call("DEL", `${prefix}tenant:acme`);
    expect(await store.checkup.rebuildIndex()).toBe(5);
    expect((await store.info(scope, locks[0]?.id ?? "")).metadata.user).toBe("ann");
  });

  it("leaves what a live process of another machine writes alone when it is mended", async () => {
    const store = await opened(`${redis.url}?prefix=away:`);
    const lock = await store.create(everybody, newSession());
    const { client } = redis;
    const key = redisKey("away:", lock.id);
    const holder = JSON.parse(String(await client.call("HGET", key, "holder"))) as object;
    await client.call("HSET", key, "holder", JSON.stringify({ ...holder, hostname: "elsewhere" }), "state", "nonsense");
    const { findings } = await doctor(store, { mend: true });
    expect(findings.map(({ problem, mended }) => [problem, mended])).toEqual([
      ["state-unreadable", false],
      ["stale-index", false],
    ]);
    await client.call("HSET", key, "beat", 0);
    expect((await doctor(store, { mend: true })).findings.map(({ mended }) => mended)).toContain(true);
    await store.close().catch(() => undefined);
  });

  it("lists sessions of which many were made in one millisecond", async () => {
    const store = await opened(`${redis.url}?prefix=same:`);
    const { client } = redis;
    const score = -Date.parse(newSession().createdAt);
    // A list may name sessions that are not there.
    for (let index = 0; index < 1_000; index++) {
      await client.call("ZADD", "same:tenant", score, randomUUID().replace(/^./, "0"));
    }
    const uuids = ["1", "2"].map((digit) => randomUUID().replace(/^./, digit));
    for (const uuid of uuids) await (await store.create(everybody, newSession({ uuid }))).release();
    expect((await listAll(store)).map(({ metadata }) => metadata.uuid)).toEqual(uuids);
  });

  it("refuses what cannot be written of one session, and keeps what came with it", async () => {
    const store = await opened(`${redis.url}?prefix=apart:`);
    const locks = await Promise.all(["1", "2", "3", "4"].map(() => store.create(everybody, newSession())));
    await redis.client.call("SET", `${redisKey("apart:", locks[1]!.id)}:messages`, "no stream");
    const appended = await Promise.allSettled(locks.map((lock) => store.append(lock, [messageRecord("one")])));
    expect(appended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(appended[1]).toMatchObject({ reason: { code: "store-unavailable", data: { reply: "WRONGTYPE" } } });
    for (const lock of locks) await lock.release();
  });

  it("takes a session whose lines come in another order than that of their numbers", async () => {
    const [from, to] = [await opened(`${redis.url}?prefix=from:`), await opened(`${redis.url}?prefix=to:`)];
    const lock = await from.create(everybody, newSession());
    await from.append(lock, [messageRecord("one"), messageRecord("two"), messageRecord("three")]);
    await from.finish(lock, stateOf("completed"));
    const dump = await from.transfer.dump(everybody, lock.id);
    await to.transfer.restore(everybody, { ...dump, lines: () => reversed(dump.lines()) });
    expect(await texts(to, lock.id)).toEqual(["one", "two", "three"]);
  });

  it("lists a session by its own time, whoever was refused its id", async () => {
    const store = await opened(`${redis.url}?prefix=refused:`);
    const made: string[] = [];
    const createdAt = (second: number): string => new Date(1_700_000_000_000 + 1_000 * second).toISOString();
    for (let second = 0; second < 150; second++) {
      const session = newSession({ createdAt: createdAt(second) });
      await (await store.create(everybody, session)).release();
      made.unshift(session.uuid);
    }
    for (const [uuid, second] of [
      [made[149]!, 50],
      [made[0]!, 0],
    ] as const) {
      const again = newSession({ uuid, createdAt: createdAt(second) });
      await expect(store.create(everybody, again)).rejects.toMatchObject({ code: "session-exists" });
    }
    expect((await listAll(store)).map(({ metadata }) => metadata.uuid)).toEqual(made);
  });

  it("lists sessions newest first, where many were made at once, others are made, and those that are listed go", async () => {
    const store = await opened(`${redis.url}?prefix=list:`);
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    const [made, seen]: [string[], { id: string; createdAt: string }[]] = [[], []];
    const make = async (createdAt: string): Promise<string> => {
      const lock = await store.create(everybody, newSession({ createdAt }));
      await store.finish(lock, stateOf("completed"));
      return lock.id;
    };
    for (let index = 0; index < 280; index++) made.push(await make(at(index < 50 ? index : 300)));
    for await (const { metadata } of store.list(everybody)) {
      seen.push({ id: metadata.uuid, createdAt: metadata.createdAt });
      if (seen.length % 150 === 0) await make(at(3_000));
      await store.upkeep.erase(everybody, [metadata.uuid]);
    }
    expect(seen.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    const times = seen.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
  });
});
