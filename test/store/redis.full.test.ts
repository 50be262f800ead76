import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Lock } from "windrow";
import { doctor } from "windrow/ops";
import { openStore } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, listAll, messageRecord, newSession, stateOf } from "../kit/inside/store.ts";
import { hasRedis } from "../kit/redis.ts";
import { held } from "../kit/stores.ts";
import { closing, opened, ownRedis, Redis, redisHere } from "./stage.ts";

/** The answer of a server whose replica went away after it was looked for. */
const asIfReplicated =
  (client: IoRedisClient): IoRedisClient["call"] =>
  async (command, ...args) => {
    const replica = "slave0:ip=127.0.0.1,port=1,state=online,offset=0,lag=0";
    const answer = await client.call(command, ...args);
    return command === "INFO" && args[0] === "replication" ? `${String(answer)}\n${replica}` : answer;
  };

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
      const replica = await ownRedis(["--replicaof", "127.0.0.1", new URL(lazy.url).port]);
      const replicated = await opened(lazy.url);
      await expect.poll(async () => replicated.info(everybody, lock.id), { timeout: 20_000 }).toBeDefined();
      const again = await replicated.lock(everybody, lock.id);
      await expect(replicated.append(again, [messageRecord("two")])).resolves.toMatchObject([{ seq: 2, pos: 2 }]);
      await replica.close();
      const client = new Redis(lazy.url);
      onTestFinished(() => client.disconnect());
      const alone = closing(redisStore({ client: { call: asIfReplicated(client) } }));
      const lacks = { code: "store-unavailable" };
      await expect(alone.create(everybody, newSession())).rejects.toMatchObject(lacks);
      await expect(alone.upkeep.keep(everybody, lock.id, { keptAt: "2026-01-01" })).rejects.toMatchObject(lacks);
      await expect(replicated.finish(again, stateOf("completed"))).rejects.toMatchObject(lacks);
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
    const key = (index: number, log = ""): string => `${prefix}session:{${locks[index]?.id}}${log}`;
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
    const key = `away:session:{${lock.id}}`;
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
