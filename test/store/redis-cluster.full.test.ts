import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { cleanup, doctor } from "windrow/ops";
import type { IoRedisClient, NodeRedisCluster } from "windrow/store/redis";
import { register, storeConformance } from "windrow/testing";
import { everybody, messageRecord, newSession } from "../kit/inside/store.ts";
import { hasRedisCluster, startRedisCluster } from "../kit/redis.ts";
import { redisClientFixture, redisFixture } from "../kit/redis-stores.ts";
import { opened } from "./stage.ts";

const capabilities = { durable: true, shared: true };
const require = createRequire(import.meta.url);

let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
let ports: readonly number[] = [];
beforeAll(async () => {
  if (!hasRedisCluster) return;
  cluster = await startRedisCluster();
  ports = cluster.ports;
}, 60_000);
afterAll(async () => cluster?.close());

describe.skipIf(!hasRedisCluster)("redis, a cluster by the address of one node", () => {
  register(
    storeConformance(capabilities, () => redisFixture(`redis://127.0.0.1:${ports[0]}`, {}, "cluster=true&")),
    { describe, it },
  );
});

describe.skipIf(!hasRedisCluster)("redis, on a cluster of the package redis", () => {
  const redis = require("redis") as {
    createCluster(options: object): NodeRedisCluster<never> & { connect(): Promise<unknown>; destroy(): void };
  };
  let client: ReturnType<typeof redis.createCluster>;
  beforeAll(async () => {
    client = redis.createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${ports[1]}` }] });
    await client.connect();
  });
  afterAll(() => client?.destroy());
  register(
    storeConformance(capabilities, () => redisClientFixture(client)),
    { describe, it },
  );
});

async function keysBelow(prefix: string, of = ports): Promise<readonly string[]> {
  const { Redis } = require("ioredis") as { Redis: new (port: number) => IoRedisClient };
  const found: string[] = [];
  for (const port of of) {
    const node = new Redis(port);
    found.push(...((await node.call("KEYS", `${prefix}*`)) as readonly string[]));
    await node.quit?.();
  }
  return found;
}

describe.skipIf(!hasRedisCluster)("a cluster of Redis", () => {
  it("spreads sessions over its nodes, and they are listed, followed, examined and taken away as one store", async () => {
    const address = `redis://127.0.0.1:${ports[2]}?cluster=true&prefix=spread:`;
    const store = await opened(address);
    const locks = await Promise.all(Array.from({ length: 40 }, async () => store.create(everybody, newSession())));
    await Promise.all(locks.map(async (lock) => store.append(lock, [messageRecord(`of ${lock.id}`)])));
    for (const port of ports) expect(await keysBelow("spread:session:", [port])).not.toEqual([]);
    const listed = [];
    for await (const { metadata } of store.list(everybody)) listed.push(metadata.uuid);
    expect(listed.toSorted()).toEqual(locks.map(({ id }) => id).toSorted());
    await Promise.all(locks.map(async (lock) => lock.release()));
    await store.close();
    const manager = await SessionManager.open({ store: address, model: "gpt-4o", budget: 4_000 });
    for (const { id } of locks) await (await manager.resume(id)).finish("completed");
    await manager.close();
    const again = await opened(address);
    expect((await doctor(again)).findings).toEqual([]);
    const all = { scope: everybody, deleteAfter: 0, compressAfter: 0, trashFor: 0, remove: true };
    const report = await cleanup(again, { ...all, now: () => new Date(Date.now() + 60_000) });
    expect([report.trashed.length, report.failures]).toEqual([40, []]);
    await cleanup(again, { ...all, now: () => new Date(Date.now() + 120_000) });
    expect(await keysBelow("spread:")).toEqual([]);
  });

  it("refuses a client of one node, and names what helps", async () => {
    const single = await opened(`redis://127.0.0.1:${ports[0]}?prefix=single:`);
    const errors = await Promise.all(
      Array.from({ length: 12 }, async () => single.create(everybody, newSession()).then(() => undefined, String)),
    );
    expect(errors.find((error) => error !== undefined)).toContain("cluster=true");
  });
});
