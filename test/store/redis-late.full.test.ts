import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { everybody, messageRecord, newSession, readAll, stateOf } from "../kit/inside/store.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { lateStore as lateStoreAt } from "../kit/redis-stores.ts";

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
    await store.upkeep?.trash(everybody, [lock.id], "2026-01-01T00:00:00.000Z");
    await store.upkeep?.untrash(everybody, lock.id);
    await store.upkeep?.putAside?.(everybody, lock.id);
    await expect(store.info(everybody, lock.id)).rejects.toMatchObject({ code: "session-not-found" });
    await store.close();
    await client.quit();
  });
});

/** A store that does something once, before it sends a command that is meant. */
function interrupted(isMeant: (command: string, args: readonly unknown[]) => boolean): {
  readonly store: Store;
  readonly client: InstanceType<typeof Redis>;
  before: () => Promise<unknown>;
} {
  const client = new Redis(server.url);
  const call: IoRedisClient["call"] = async (command, ...args) => {
    // The scripts are known by their texts.
    if (command === "EVALSHA" && from.before !== none) throw new Error("NOSCRIPT No matching script.");
    if (from.before !== none && isMeant(command, args)) {
      const { before } = from;
      from.before = none;
      await before();
    }
    return client.call(command, ...args);
  };
  const none = async (): Promise<void> => undefined;
  const from = { store: redisStore({ client: { call } }), client, before: none as () => Promise<unknown> };
  return from;
}

async function completed(store: Store): Promise<string> {
  const lock = await store.create(everybody, newSession());
  await store.append(lock, [messageRecord("one"), messageRecord("two")]);
  await store.finish(lock, stateOf("completed"));
  return lock.id;
}

describe.skipIf(!hasRedis)("upkeep beside another process", () => {
  const key = (id: string, kind = "session"): string => `${prefix}${kind}:{${id}}`;
  const mark = { reason: "evidence", by: "ann", keptAt: "2026-01-01T00:00:00.000Z" } as const;

  it("erases and puts aside nothing of a live process, also where the server cannot be asked for it", async () => {
    const client = new Redis(server.url);
    let fails = 0;
    const call: IoRedisClient["call"] = async (command, ...args) => {
      if (command === "HMGET" && fails > 0 && fails-- === 1) throw new Error("read ECONNRESET");
      return client.call(command, ...args);
    };
    const [store, other] = [redisStore({ client: { call } }), await openStore(server.url)];
    const lock = await other.create(everybody, newSession());
    await store.info(everybody, lock.id);
    fails = 1;
    await expect(store.upkeep?.putAside?.(everybody, lock.id)).rejects.toMatchObject({ code: "store-unavailable" });
    fails = 1;
    await expect(store.upkeep?.erase(everybody, [lock.id])).rejects.toMatchObject({ code: "store-unavailable" });
    await client.call("HSET", key(lock.id), "state", "nonsense");
    for (const what of [store.upkeep?.putAside?.(everybody, lock.id), store.upkeep?.erase(everybody, [lock.id])]) {
      await expect(what).rejects.toMatchObject({ code: "session-busy" });
    }
    await expect(other.append(lock, [messageRecord("goes on")])).resolves.toHaveLength(1);
    await other.close();
    await client.quit();
  });

  it("erases a session whose erasure was noted, and lets nobody take it in between", async () => {
    const from = interrupted((command, args) => command === "UNLINK" || String(args[0]).includes("UNLINK"));
    const other = await openStore(server.url);
    const made = await other.create(everybody, newSession());
    await made.release();
    let refused: unknown;
    from.before = async () => {
      refused = await other.lock(everybody, made.id).catch((error: unknown) => error);
    };
    await from.store.upkeep?.erase(everybody, [made.id]);
    expect(refused).toMatchObject({ code: "session-busy" });
    await expect(other.info(everybody, made.id)).rejects.toMatchObject({ code: "session-not-found" });
    await other.close();
    await from.client.quit();
  });

  it("makes no hash of a session that is erased before it is kept", async () => {
    const from = interrupted((_command, args) => args.includes("kept") || String(args[0]).includes("'kept'"));
    const id = await completed(from.store);
    // First its fields are read, which is no writing.
    from.before = async () => {
      from.before = async () => from.client.call("DEL", key(id));
    };
    await from.store.upkeep?.keep(everybody, id, mark).catch(() => undefined);
    expect(await from.client.call("EXISTS", key(id))).toBe(0);
    await from.client.quit();
  });

  it("puts nothing aside of a session that is erased meanwhile", async () => {
    const from = interrupted((command, args) => command === "XREVRANGE" && String(args[0]).includes(":messages"));
    const id = await completed(from.store);
    const other = await openStore(server.url);
    let isErased = false;
    const range = from.client.call.bind(from.client);
    from.client.call = async (command: string, ...args: (string | Buffer | number)[]) => {
      const answer = await range(command, ...args);
      // The lines are in memory when the session is erased.
      if (command === "XRANGE" && !isErased) {
        isErased = true;
        await other.upkeep?.erase(everybody, [id]);
      }
      return answer;
    };
    await from.store.upkeep?.putAside?.(everybody, id).catch(() => undefined);
    expect(isErased).toBe(true);
    expect(await range("EXISTS", key(id), key(id, "aside"))).toBe(0);
    await other.close();
    await from.client.quit();
  });

  it("moves no session to the trash that is kept in between, and one that was not moved is in no trash", async () => {
    const from = interrupted((_command, args) => String(args[0]).includes("RENAME"));
    const id = await completed(from.store);
    const other = await openStore(server.url);
    from.before = async () => other.upkeep?.keep(everybody, id, mark);
    const { upkeep } = from.store;
    await expect(upkeep?.trash(everybody, [id], mark.keptAt)).rejects.toMatchObject({ code: "bad-option" });
    expect(await other.upkeep?.kept(everybody, id)).toBeDefined();
    await upkeep?.unkeep(everybody, id);
    await upkeep?.trash(everybody, [id], mark.keptAt);
    await upkeep?.untrash(everybody, id);
    expect(await other.upkeep?.kept(everybody, id)).toBeUndefined();
    await other.close();
    await from.client.quit();
  });
});
