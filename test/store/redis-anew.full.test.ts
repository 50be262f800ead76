import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lock, Scope, Store } from "windrow";
import { openStore } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import { messageRecord, newSession, readAll } from "../kit/inside/store.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { lateStore } from "../kit/redis-stores.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

let server: TestRedis;
let client: InstanceType<typeof Redis>;
let other: Store;
beforeAll(async () => {
  if (!hasRedis) return;
  server = await startRedis();
  client = new Redis(server.url);
  other = await openStore(server.url);
}, 60_000);
afterAll(async () => {
  await other?.close();
  await client?.quit();
  await server?.close();
});

const [alpha, beta] = [{ tenant: "alpha" }, { tenant: "beta" }] as const;
const key = (id: string): string => `windrow:session:{${id}}`;

/** A session of alpha that nobody holds. */
async function free(): Promise<string> {
  const lock = await other.create(alpha, newSession());
  await other.append(lock, [messageRecord("of alpha")]);
  await lock.release();
  return lock.id;
}

/** Erases a session of alpha, and makes one of the same id, held. */
async function anew(id: string, scope: Scope = beta): Promise<Lock> {
  await other.upkeep?.erase(alpha, [id]);
  const lock = await other.create(scope, newSession({ uuid: id }));
  await other.append(lock, [messageRecord("of beta")]);
  return lock;
}

/** A store that does something once, before it sends the script that is meant. */
function interrupted(of: string, before: () => Promise<unknown>): Store {
  let isDone = false;
  const call: IoRedisClient["call"] = async (command, ...args) => {
    // The scripts are known by their texts.
    if (command === "EVALSHA" && !isDone) throw new Error("NOSCRIPT No matching script.");
    if (!isDone && command === "EVAL" && String(args[0]).includes(of)) {
      isDone = true;
      await before();
    }
    return client.call(command, ...args);
  };
  return redisStore({ client: { call } });
}

/** The session as its holder goes on with it: its messages, whether its state was written anew, and what is aside. */
async function goneOn(held: Lock | undefined): Promise<readonly unknown[]> {
  if (!held) throw new Error("nothing was made anew");
  await other.append(held, [messageRecord("more of beta")]);
  const messages = await readAll(other, held.id, { kind: "message" }, held.scope);
  const { state } = await other.info(held.scope, held.id);
  await held.release();
  const aside = await client.call("EXISTS", `windrow:aside:{${held.id}}`);
  return [messages.map(({ message }) => message.id), state.lastActivity === "state_rebuilt", aside];
}

const untouched = [["m-of beta", "m-more of beta"], false, 0];

describe.skipIf(!hasRedis)("a session that is erased and made anew under its id between a look and a script", () => {
  it("is not taken", async () => {
    const id = await free();
    let held: Lock | undefined;
    const store = interrupted("'worker', ARGV", async () => (held = await anew(id)));
    await expect(store.lock(alpha, id)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await goneOn(held)).toEqual(untouched);
    await store.close();
  });

  it("is not taken by a script that comes late", async () => {
    const id = await free();
    const one = lateStore(server.url, "'worker', ARGV");
    one.arm("late");
    await expect(one.store.lock(alpha, id)).rejects.toMatchObject({ code: "store-unavailable" });
    const held = await anew(id, alpha);
    await one.late();
    expect(await goneOn(held)).toEqual(untouched);
    await one.store.close();
  });

  it("is not put aside", async () => {
    const id = await free();
    let held: Lock | undefined;
    const store = interrupted("'HINCRBY', KEYS[1], 'generation'", async () => (held = await anew(id)));
    await expect(store.upkeep?.putAside?.(alpha, id)).rejects.toMatchObject({ code: "session-not-found" });
    expect(await goneOn(held)).toEqual(untouched);
    await store.close();
  });

  it.each([
    ["a text of the first", "RPUSH"],
    ["a document of the first", "HSETNX"],
  ])("is not mended with %s", async (_what, of) => {
    const id = await free();
    await client.call("HSET", key(id), "state", "nonsense");
    let held: Lock | undefined;
    const store = interrupted(of, async () => (held = await anew(id)));
    for await (const _ of store.checkup!.examine({ mend: true })) void _;
    expect(await goneOn(held)).toEqual(untouched);
    await store.close();
  });
});
