import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, heartbeatMs, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { hasRedis } from "../kit/redis.ts";
import type { TestRedis } from "../kit/redis.ts";
import { closing, ownRedis } from "./stage.ts";
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

describe.skipIf(!hasOwn)("strict on a server that syncs every write", () => {
  it("keeps at once what a server took before it was full, and refuses the rest", { timeout: 60_000 }, async () => {
    const admin = clientOf(await ownRedis());
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

describe.skipIf(!hasOwn)("strict on a server that hides its settings", () => {
  it.each(["ERR unknown command 'CONFIG'", "unsupported command 'CONFIG'", "Command timed out"])(
    "is refused with one look: %s",
    { timeout: 60_000 },
    async (words) => {
      const admin = clientOf(await ownRedis());
      let looks = 0;
      const call: IoRedisClient["call"] = async (command, ...args) => {
        if (command !== "CONFIG") return admin.call(command, ...args);
        if (++looks > 100) throw new Error("ERR asked without end");
        throw new Error(words);
      };
      const store = closing(redisStore({ client: { call } }));
      const refused = { code: "bad-option", message: expect.stringContaining("does not tell its settings") };
      await expect(store.create(everybody, newSession())).rejects.toMatchObject(refused);
      expect(looks).toBe(1);
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
    const admin = clientOf(await ownRedis());
    let now = Date.now();
    const store = closing(redisStore({ client: admin, clock: { now: () => now, every: () => () => undefined } }));
    const [lock, free] = [await store.create(everybody, newSession()), await store.create(everybody, newSession())];
    await store.append(lock, [messageRecord("one")]);
    await free.release();
    const dump = await store.transfer.dump(everybody, free.id);
    await admin.call("CONFIG", "SET", "appendonly", "no");
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
