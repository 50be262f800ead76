import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { NodeRedisClient } from "windrow/store/redis";
import { register, storeConformance } from "windrow/testing";
import { hasRedis } from "../kit/redis.ts";
import { redisClientFixture, redisFixture } from "../kit/redis-stores.ts";
import { redisHere } from "./stage.ts";

const capabilities = { durable: true, shared: true };

const redis = redisHere();

describe.skipIf(!hasRedis)("redis, by the address of a server", () => {
  register(
    storeConformance(capabilities, () => redisFixture(redis.url)),
    { describe, it },
  );
});

describe.skipIf(!hasRedis)("redis, on a client of the package redis", () => {
  const package_ = createRequire(import.meta.url)("redis") as {
    createClient(options: object): NodeRedisClient & { connect(): Promise<unknown>; destroy(): void };
  };
  let client: ReturnType<typeof package_.createClient>;
  beforeAll(async () => {
    client = package_.createClient({ url: redis.url });
    await client.connect();
  });
  afterAll(() => client?.destroy());
  register(
    storeConformance(capabilities, () => redisClientFixture(client)),
    { describe, it },
  );
});
