import { randomUUID } from "node:crypto";
import { fixtureOf } from "./stores.ts";
import { openStore } from "windrow/store";
import type { OpenStoreOptions } from "windrow/store";
import { redisStore } from "windrow/store/redis";
import type { StoreFixture } from "windrow/testing";
import type { RedisClient } from "./inside/store.ts";

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
