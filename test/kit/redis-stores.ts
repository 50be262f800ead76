import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { Store } from "windrow";
import { openStore } from "windrow/store";
import type { OpenStoreOptions } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import type { IoRedisClient } from "windrow/store/redis";
import type { StoreFixture } from "windrow/testing";
import type { RedisClient } from "./inside/store.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

/** A Redis store with a prefix of its own, and handles on it. */
export async function redisFixture(url: string, options: OpenStoreOptions = {}, more = ""): Promise<StoreFixture> {
  const address = `${url}?${more}prefix=test-${randomUUID()}:`;
  return fixtureOf(() => openStore(address, options));
}

/** As {@link redisFixture}, on a client that is open. */
export async function redisClientFixture(client: RedisClient): Promise<StoreFixture> {
  const prefix = `test-${randomUUID()}:`;
  return fixtureOf(async () => redisStore({ client, prefix }));
}

async function fixtureOf(open: () => Promise<Store>): Promise<StoreFixture> {
  const stores: Store[] = [];
  const opened = async (): Promise<Store> => {
    const store = await open();
    stores.push(store);
    return store;
  };
  return {
    store: await opened(),
    reopen: opened,
    async close() {
      for (const store of stores) await store.close();
    },
  };
}

/** A store whose scripts of a kind go wrong once: `late` carries out what was on its way. */
export function lateStore(
  url: string,
  of: string,
): {
  readonly store: Store;
  readonly arm: (how: "late" | "no answer") => void;
  readonly late: () => Promise<unknown>;
} {
  const client = new Redis(url);
  let armed: "late" | "no answer" | undefined;
  let onTheWay: () => Promise<unknown> = async () => undefined;
  const call: IoRedisClient["call"] = async (command, ...args) => {
    // The script's text goes out where the server does not know its name.
    const isMeant = armed !== undefined && command === "EVAL" && String(args[0]).includes(of);
    if (command === "EVALSHA" && armed !== undefined) throw new Error("NOSCRIPT No matching script.");
    if (!isMeant) return client.call(command, ...args);
    const how = armed;
    armed = undefined;
    if (how === "late") onTheWay = async () => client.call(command, ...args);
    else await client.call(command, ...args);
    throw new Error("read ECONNRESET");
  };
  const store = redisStore({ client: { call, quit: async () => client.quit() } });
  return { store, arm: (how) => (armed = how), late: async () => onTheWay() };
}
