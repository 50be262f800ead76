import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, heartbeatMs, messageRecord, newSession, readAll, stateOf, wholeDump } from "../kit/inside/store.ts";
import { hasRedis } from "../kit/redis.ts";
import type { TestRedis } from "../kit/redis.ts";
import { closing, opened, ownRedis } from "./stage.ts";
import { held } from "../kit/stores.ts";

interface Client extends IoRedisClient {
  readonly status: string;
  on(event: "ready" | "error", listener: () => void): unknown;
  off(event: "ready", listener: () => void): unknown;
  quit(): Promise<unknown>;
  disconnect(): void;
}
const { Redis } = createRequire(import.meta.url)("ioredis") as { Redis: new (url: string, options?: object) => Client };

const hasOwn = hasRedis && process.env["WINDROW_TEST_REDIS"] === undefined;

function clientOf({ url }: TestRedis, options: object = {}): Client {
  const client = new Redis(url, { retryStrategy: () => 50, ...options });
  client.on("error", () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

/** A server that syncs nothing, and its replica. */
async function startPair(): Promise<{
  readonly main: TestRedis;
  readonly replica: TestRedis;
  readonly admin: Client;
  readonly isReplicated: () => Promise<void>;
}> {
  const main = await ownRedis(["--repl-diskless-sync-delay", "0"]);
  const replica = await ownRedis(["--replicaof", "127.0.0.1", new URL(main.url).port]);
  const admin = clientOf(main, { maxRetriesPerRequest: null });
  const isReplicated = async (): Promise<void> => {
    while (!String(await admin.call("INFO", "replication")).includes("state=online")) await sleep(20);
  };
  await isReplicated();
  return { main, replica, admin, isReplicated };
}

describe.skipIf(!hasOwn)("strict by a replica", () => {
  it.each(["as it is opened", "on a client that sends again by itself", "on a connection that changes between"])(
    "acknowledges nothing that a server lost before its replica had it: %s",
    { timeout: 60_000 },
    async (how) => {
      const { main, replica, admin, isReplicated } = await startPair();
      const behind = clientOf(replica);
      // The server as it was before the last append, which its replica never heard of.
      const loseLast = async (): Promise<void> => {
        await main.crash();
        await main.start();
        await isReplicated();
      };
      const given = clientOf(main);
      let before: (() => Promise<void>) | undefined;
      const call: IoRedisClient["call"] = async (command, ...args) => {
        if (before && !command.startsWith("EVAL")) {
          const first = before;
          before = undefined;
          await first();
        }
        return given.call(command, ...args);
      };
      const client = how.startsWith("on a client") ? given : { call };
      const store = how.startsWith("as it") ? await opened(main.url) : closing(redisStore({ client }));
      const lock = await held(store, "one");
      await admin.call("SAVE");
      await behind.call("CLIENT", "PAUSE", 400, "ALL");
      if (client !== given) before = loseLast;
      const appended = store.append(lock, [messageRecord("two")]);
      if (how.includes("between")) await appended;
      else {
        await sleep(100);
        await loseLast();
      }
      await appended;
      const ids = (await readAll(store, lock.id, { kind: "message" })).map(({ message }) => message.id);
      expect(ids).toEqual(["m-one", "m-two"]);
    },
  );

  it("knows what it wrote where another process went on before a replica had it", { timeout: 60_000 }, async () => {
    const { main, admin } = await startPair();
    const other = await opened(main.url);
    const going: { readonly of: string; readonly on: () => Promise<unknown> }[] = [];
    const call: IoRedisClient["call"] = async (command, ...args) => {
      if (command === "EVALSHA" && going.length > 0) throw new Error("NOSCRIPT No matching script.");
      const answer = await admin.call(command, ...args);
      const [next] = going;
      if (next && command === "EVAL" && args.join(" ").includes(next.of)) await going.shift()?.on();
      return answer;
    };
    const store = closing(redisStore({ client: { call } }));
    const time = "2026-01-01T00:00:00.000Z";
    const lock = await held(store, "one");
    going.push({
      of: '"reason":"first"',
      on: async () => other.upkeep.keep(everybody, lock.id, { keptAt: time }),
    });
    await store.upkeep.keep(everybody, lock.id, { keptAt: time, reason: "first" });
    expect(await store.upkeep.kept(everybody, lock.id)).toEqual({ keptAt: time });
    await store.upkeep.unkeep(everybody, lock.id);
    await store.append(lock, [messageRecord("two")]);
    const copy = await wholeDump(other.transfer, everybody, lock.id);
    const trash = async (): Promise<unknown> => other.upkeep.trash(everybody, [lock.id], time);
    going.push({ of: "status completed", on: trash });
    await store.finish(lock, stateOf("completed"));
    await other.upkeep.erase(everybody, [lock.id]);
    going.push({ of: "mark  owner", on: async () => other.lock(everybody, lock.id) });
    expect((await store.transfer.restore(everybody, copy)).outcome).toBe("written");
    expect(going).toEqual([]);
  });

  it("keeps at once what a server took before it was full, and refuses the rest", { timeout: 60_000 }, async () => {
    const { admin } = await startPair();
    let isFull = false;
    const call: IoRedisClient["call"] = async (command, ...args) => {
      const answer = await admin.call(command, ...args);
      if (isFull && command.startsWith("EVAL")) await admin.call("CONFIG", "SET", "maxmemory", 1);
      return answer;
    };
    const store = closing(redisStore({ client: { call } }));
    const lock = await store.create(everybody, newSession());
    isFull = true;
    await store.append(lock, [messageRecord("one")]);
    await expect(store.append(lock, [messageRecord("two")])).rejects.toMatchObject({ code: "not-durable" });
    expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(1);
    isFull = false;
    await admin.call("CONFIG", "SET", "maxmemory", 0);
    await store.finish(lock, stateOf("completed"));
  });
});

describe.skipIf(!hasOwn)("strict by a replica, on a server that hides its settings", () => {
  it.each(["ERR unknown command 'CONFIG'", "unsupported command 'CONFIG'", "Command timed out"])(
    "is found out with one look: %s",
    { timeout: 60_000 },
    async (words) => {
      const { admin } = await startPair();
      let looks = 0;
      const call: IoRedisClient["call"] = async (command, ...args) => {
        if (command !== "CONFIG") return admin.call(command, ...args);
        if (++looks > 100) throw new Error("ERR asked without end");
        throw new Error(words);
      };
      const store = closing(redisStore({ client: { call } }));
      const lock = await held(store, "one");
      expect(looks).toBe(1);
      await lock.release();
    },
  );
});

describe.skipIf(!hasOwn)("strict on a server that no longer keeps what it promised", () => {
  it("is refused at the next heartbeat, and at once on a new connection", { timeout: 60_000 }, async () => {
    const server = await ownRedis();
    const admin = clientOf(server);
    let now = Date.now();
    const clock = { now: () => now, every: () => () => undefined };
    const client = clientOf(server);
    const store = closing(redisStore({ client, clock }));
    const refused = { code: "not-durable", message: expect.stringContaining("appendonly no") };
    const lock = await held(store, "one");
    await admin.call("CONFIG", "SET", "appendonly", "no");
    now += heartbeatMs;
    await expect(store.append(lock, [messageRecord("two")])).rejects.toMatchObject(refused);
    await expect(store.create(everybody, newSession())).rejects.toMatchObject(refused);
    expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(1);
    await admin.call("CONFIG", "SET", "appendonly", "yes");
    await store.append(lock, [messageRecord("three")]);
    await admin.call("CONFIG", "SET", "appendonly", "no");
    const isBack = new Promise<void>((resolve) => client.on("ready", () => resolve()));
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await isBack;
    await expect(store.append(lock, [messageRecord("four")])).rejects.toMatchObject(refused);
    await lock.release();
  });

  it("is refused by every call that writes, and nothing is written", { timeout: 60_000 }, async () => {
    const { replica, admin } = await startPair();
    let now = Date.now();
    const store = closing(redisStore({ client: admin, clock: { now: () => now, every: () => () => undefined } }));
    const [lock, free] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    await store.append(lock, [messageRecord("one")]);
    await free.release();
    const dump = await store.transfer.dump(everybody, free.id);
    await replica.close();
    while (String(await admin.call("INFO", "replication")).includes("slave0")) await sleep(20);
    now += heartbeatMs;
    const mark = { keptAt: "2026-01-01T00:00:00.000Z" };
    const calls = {
      create: () => store.create(everybody, newSession()),
      lock: () => store.lock(everybody, free.id),
      restore: () => store.transfer.restore(everybody, { ...dump, id: randomUUID() }),
      append: () => store.append(lock, [messageRecord("two")]),
      finish: () => store.finish(lock, stateOf("completed")),
      keep: () => store.upkeep.keep(everybody, free.id, mark),
    };
    for (const [name, call] of Object.entries(calls)) {
      const error: unknown = await call().catch((reason: unknown) => reason);
      expect({ name, error }).toMatchObject({ error: { code: "not-durable" } });
    }
    expect(await store.upkeep.kept(everybody, free.id)).toBeUndefined();
    expect((await store.info(everybody, lock.id)).state.status).toBe("initializing");
    expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(1);
    await lock.release();
  });
});
