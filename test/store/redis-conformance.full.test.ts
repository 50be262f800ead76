import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { NodeRedisClient } from "windrow/store/redis";
import { register, storeConformance } from "windrow/testing";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { redisClientFixture, redisFixture } from "../kit/redis-stores.ts";

const capabilities = { durable: true, shared: true };

let server: TestRedis;
beforeAll(async () => {
  if (hasRedis) server = await startRedis();
}, 60_000);
afterAll(async () => server?.close());

describe.skipIf(!hasRedis)("redis, by the address of a server", () => {
  register(
    storeConformance(capabilities, () => redisFixture(server.url)),
    { describe, it },
  );
});

describe.skipIf(!hasRedis)("redis, on a client of the package redis", () => {
  const redis = createRequire(import.meta.url)("redis") as {
    createClient(options: object): NodeRedisClient & { connect(): Promise<unknown>; destroy(): void };
  };
  let client: ReturnType<typeof redis.createClient>;
  beforeAll(async () => {
    client = redis.createClient({ url: server.url });
    await client.connect();
  });
  afterAll(() => client?.destroy());
  register(
    storeConformance(capabilities, () => redisClientFixture(client)),
    { describe, it },
  );
});
