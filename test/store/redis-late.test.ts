import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../src/access/open.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import type { IoRedisClient } from "../../src/store/redis/redis.ts";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../../src/store/testing/kit.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { lateStore as lateStoreAt } from "./redis-fixtures.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

let server: TestRedis;
beforeAll(async () => {
  if (hasRedis) server = await startRedis();
}, 60_000);
afterAll(async () => server?.close());

const lateStore = (of: string): ReturnType<typeof lateStoreAt> => lateStoreAt(server.url, of);
const prefix = "windrow:";

describe.skipIf(!hasRedis)("a script whose answer did not come", () => {
  it("undoes no newer state where it is carried out late, and is known where it was carried out", async () => {
    const { store, arm, late } = lateStore("XADD");
    const lock = await store.create(everybody, newSession());
    const state = (error: string) => ({ ...stateOf("processing"), error });
    const errorNow = async (): Promise<unknown> => (await store.info(everybody, lock.id)).state.error;
    arm("late");
    await store.setState(lock, state("first"));
    await store.setState(lock, state("second"));
    await late();
    expect(await errorNow()).toBe("second");
    arm("no answer");
    await store.setState(lock, state("third"));
    await store.append(lock, [messageRecord("one")]);
    await store.setState(lock, state("fourth"));
    expect(await errorNow()).toBe("fourth");
    arm("late");
    await store.setState(lock, state("fifth"));
    await store.finish(lock, stateOf("completed"));
    await late();
    expect((await store.info(everybody, lock.id)).state.status).toBe("completed");
    await store.close();
  });

  it("ends a session once, however often the end is asked for", async () => {
    const { store, arm } = lateStore("HDEL");
    const lock = await store.create(everybody, newSession());
    await store.append(lock, [messageRecord("one")]);
    arm("no answer");
    await expect(store.finish(lock, stateOf("completed"))).rejects.toMatchObject({ code: "store-unavailable" });
    await store.finish(lock, stateOf("completed"));
    expect((await store.info(everybody, lock.id)).state.status).toBe("completed");
    await store.close();
  });

  it("ends no session that was written meanwhile", async () => {
    const { store, arm, late } = lateStore("'HDEL'");
    const lock = await store.create(everybody, newSession());
    arm("late");
    await expect(store.finish(lock, stateOf("completed"))).rejects.toMatchObject({ code: "store-unavailable" });
    await store.append(lock, [messageRecord("goes on")]);
    await late();
    expect((await store.info(everybody, lock.id)).state.status).not.toBe("completed");
    await store.append(lock, [messageRecord("and on")]);
    await store.finish(lock, stateOf("completed"));
    await store.close();
  });

  it("adds nothing to a session that was let go of", async () => {
    const { store, arm, late } = lateStore("XADD");
    const lock = await store.create(everybody, newSession());
    arm("late");
    await store.append(lock, [messageRecord("sent twice")]);
    const client = new Redis(server.url);
    // As it is where the second sending does not reach the server.
    const key = `${prefix}session:{${lock.id}}`;
    await client.call("DEL", `${key}:messages`);
    await client.call("HSET", key, "head", 0, "revision", 0);
    await lock.release();
    await late();
    expect(await client.call("EXISTS", `${key}:messages`)).toBe(0);
    expect(await client.call("HGET", key, "revision")).toBe("1");
    await store.close();
    await client.quit();
  });

  it("adds nothing to a session that was made anew under its id", async () => {
    const { store, arm, late } = lateStore("XADD");
    const session = newSession();
    const lock = await store.create(everybody, session);
    arm("late");
    await store.append(lock, [messageRecord("of the first")]);
    await lock.release();
    await store.upkeep?.erase(everybody, [lock.id]);
    await store.create(everybody, session);
    await late();
    expect(await readAll(store, lock.id, { kind: "message" })).toEqual([]);
    await store.close();
  });

  it("leaves a session that was made anew to its new holder", async () => {
    const session = newSession();
    const [old, other] = [await openStore(server.url), await openStore(server.url)];
    const lock = await old.create(everybody, session);
    const client = new Redis(server.url);
    // As after a fail-over to a replica that had not heard of the first holder.
    await client.call("DEL", `${prefix}session:{${lock.id}}`);
    const anew = await other.create(everybody, session);
    await expect(old.append(lock, [messageRecord("of the old")])).rejects.toMatchObject({ code: "fenced" });
    await lock.release();
    await expect(other.append(anew, [messageRecord("of the new")])).resolves.toHaveLength(1);
    await old.close();
    await other.close();
    await client.quit();
  });

  it("answers as the first time where a client sends it again by itself", async () => {
    const client = new Redis(server.url);
    const call: IoRedisClient["call"] = async (command, ...args) => {
      const answer = await client.call(command, ...args);
      return command.startsWith("EVAL") ? client.call(command, ...args) : answer;
    };
    const store = redisStore({ client: { call } });
    const made = await store.create(everybody, newSession());
    await store.append(made, [messageRecord("one")]);
    await made.release();
    const lock = await store.lock(everybody, made.id);
    await store.append(lock, [messageRecord("two")]);
    await store.setState(lock, stateOf("processing"));
    await store.finish(lock, stateOf("completed"));
    expect(await readAll(store, lock.id, { kind: "message" })).toHaveLength(2);
    await store.close();
    await client.quit();
  });

  it("is not sent again by the client of an address", async () => {
    const proxy = await startCutProxy(Number(new URL(server.url).port));
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const [store, direct] = [await openStore(url.href), await openStore(server.url)];
    const made = await direct.create(everybody, newSession());
    await direct.append(made, [messageRecord("one")]);
    await made.release();
    await store.info(everybody, made.id);
    proxy.stall();
    const asked = store.info(everybody, made.id);
    asked.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    proxy.cut();
    proxy.flow();
    await expect(asked).rejects.toMatchObject({ code: "store-unavailable" });
    await store.close();
    await direct.close();
    await proxy.close();
  });
});
