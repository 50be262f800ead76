/** A store whose server is silent is closed soon; what was under way is told as not known, and nothing is lost of it. */
import { createRequire } from "node:module";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { SessionManager } from "windrow";
import { openStore } from "windrow/store";
import type { Store } from "windrow";
import { postgresStore } from "windrow/store/postgres";
import { redisStore } from "windrow/store/redis";
import type { NodeRedisClient } from "windrow/store/redis";
import { everybody, messageRecord, newSession, texts } from "../kit/inside/store.ts";
import { startCutProxy } from "../kit/cut-proxy.ts";
import type { CutProxy } from "../kit/cut-proxy.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres } from "../kit/postgres.ts";
import { hasRedis } from "../kit/redis.ts";
import { opened, postgresHere, Redis, redisHere } from "./stage.ts";
import { held } from "../kit/stores.ts";

const require = createRequire(import.meta.url);
const { createClient } = require("redis") as {
  createClient: (options: object) => NodeRedisClient & {
    connect(): Promise<unknown>;
    destroy(): void;
    on(event: "error", listener: () => void): void;
  };
};

const [postgres, redis] = [postgresHere(), redisHere()];

let proxy: CutProxy;
afterEach(() => proxy?.close());

/** The address of a server behind a proxy that can stall. */
async function behindProxy(address: string): Promise<string> {
  const url = new URL(address);
  proxy = await startCutProxy(Number(url.port));
  url.port = String(proxy.port);
  return url.href;
}

/** How a store is opened behind a proxy, and another one in the same place beside it. */
const ways: Readonly<Record<string, { readonly isHere: boolean; open(): Promise<readonly [Store, Store]> }>> = {
  "redis, by its address": {
    isHere: hasRedis,
    open: async () => [await openStore(await behindProxy(redis.url)), await opened(redis.url)],
  },
  "redis, on a client of ioredis": {
    isHere: hasRedis,
    async open() {
      const client = new Redis(await behindProxy(redis.url));
      client.on("error", () => undefined);
      onTestFinished(() => client.disconnect());
      return [redisStore({ client }), await opened(redis.url)];
    },
  },
  "redis, on a client of the package redis": {
    isHere: hasRedis,
    async open() {
      const client = createClient({ url: await behindProxy(redis.url) });
      client.on("error", () => undefined);
      await client.connect();
      onTestFinished(() => client.destroy());
      return [redisStore({ client }), await opened(redis.url)];
    },
  },
  "postgres, by its address": {
    isHere: hasPostgres,
    open: async () => [await openStore(await behindProxy(postgres.url)), await opened(postgres.url)],
  },
  "postgres, on a client": {
    isHere: hasPostgres,
    async open() {
      const client = new PgPool({ connectionString: await behindProxy(postgres.url), query_timeout: 20_000 });
      client.on("error", () => undefined);
      onTestFinished(() => client.end());
      return [postgresStore({ client }), await opened(postgres.url)];
    },
  },
};

const here = Object.entries(ways).filter(([, { isHere }]) => isHere);

it.each(here)("%s", { timeout: 30_000 }, async (_name, way) => {
  const [store, other] = await way.open();
  const lock = await held(store, "one");
  proxy.stall();
  const appends = ["two", "three"].map(async (text) => store.append(lock, [messageRecord(text)]));
  const looking = store.info(everybody, lock.id);
  const ends = Promise.allSettled([...appends, looking]);
  const began = performance.now();
  const closed = await store.close().catch((error: unknown) => error);
  // Its five seconds, on a busy machine, too; its clients would wait for twenty.
  expect(performance.now() - began).toBeLessThan(15_000);
  // The session could not be let go of.
  expect(closed).toMatchObject({ name: "WindrowError" });
  for (const end of await ends) expect(end).toMatchObject({ status: "rejected", reason: { name: "WindrowError" } });
  await expect(appends[0]).rejects.toMatchObject({ code: "store-unavailable", message: /not known whether/ });
  await expect(store.append(lock, [messageRecord("four")])).rejects.toMatchObject({ code: "closed" });
  // What was sent was carried out, and its session is free to the process that had it.
  const again = await other.lock(everybody, lock.id);
  const kept = await texts(other, lock.id);
  expect(kept.slice(0, 1)).toEqual(["one"]);
  expect(kept).not.toContain("four");
  await other.append(again, [messageRecord("five")]);
  await again.release();
});

it.each(here)("%s: a server that answers, however slowly, is waited for", { timeout: 30_000 }, async (_name, way) => {
  const [store, other] = await way.open();
  const lock = await store.create(everybody, newSession());
  proxy.stall();
  const append = store.append(lock, [messageRecord("one")]);
  const closed = store.close();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  proxy.flow();
  expect(await append).toMatchObject([{ seq: 1 }]);
  await closed;
  expect(await texts(other, lock.id)).toEqual(["one"]);
  await (await other.lock(everybody, lock.id)).release();
});

const failing = here.flatMap(([name, way]) => (["silent", "away"] as const).map((how) => ({ name, how, way })));

it.each(failing)("a manager closes: $name, the server $how", { timeout: 40_000 }, async ({ how, way }) => {
  const [store, other] = await way.open();
  const manager = await SessionManager.open({ store });
  const sessions = [await manager.create(), await manager.create(), await manager.create()];
  for (const session of sessions) await session.append("one");
  if (how === "silent") proxy.stall();
  else await proxy.close();
  const began = performance.now();
  await expect(manager.close()).rejects.toMatchObject({ name: "WindrowError" });
  // Its five seconds, on a busy machine, too; each session would wait for a minute.
  expect(performance.now() - began).toBeLessThan(20_000);
  for (const { id } of sessions) expect(await texts(other, id)).toEqual(["one"]);
});
