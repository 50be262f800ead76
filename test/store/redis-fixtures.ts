import { randomUUID } from "node:crypto";
import type { OpenStoreOptions } from "../../src/access/options.ts";
import { openStore } from "../../src/access/open.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import type { RedisClient } from "../../src/store/redis/redis.ts";
import type { StoreFixture } from "../../src/store/testing/conformance.ts";
import type { Store } from "../../src/store/store.ts";

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
