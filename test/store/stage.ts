/** Servers that run while the tests of a file do, stores that are closed with their test, and what a doctor finds. */
import { createRequire } from "node:module";
import { afterAll, beforeAll } from "vitest";
import type { Store } from "windrow";
import type { Examined } from "windrow/store/author";
import type { IoRedisClient } from "windrow/store/redis";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../kit/postgres.ts";
import type { TestPostgres } from "../kit/postgres.ts";
import { hasRedis, startRedis } from "../kit/redis.ts";
import type { TestRedis } from "../kit/redis.ts";
import { closing } from "../kit/stores.ts";

export { closing, opened } from "../kit/stores.ts";

/** A client of ioredis. */
export type Redis = Pick<IoRedisClient, "call"> & {
  quit(): Promise<unknown>;
  disconnect(): void;
  on(event: "ready" | "error", listener: () => void): unknown;
};
export const { Redis } = createRequire(import.meta.url)("ioredis") as { Redis: new (url: string) => Redis };

/** A Redis server of one test's own. */
export async function ownRedis(settings?: readonly string[]): Promise<TestRedis> {
  const server = await startRedis(settings);
  let closed: Promise<void> | undefined;
  return closing({ ...server, close: () => (closed ??= server.close()) });
}

/** A Redis server, and a client of it; both are there while the tests of the file run. */
export function redisHere(): { readonly server: TestRedis; readonly url: string; readonly client: Redis } {
  let here: { readonly server: TestRedis; readonly client: Redis } | undefined;
  beforeAll(async () => {
    if (!hasRedis) return;
    const server = await startRedis();
    here = { server, client: new Redis(server.url) };
    // The server may go away while its client is there.
    here.client.on("error", () => undefined);
  }, 60_000);
  afterAll(async () => {
    here?.client.disconnect();
    await here?.server.close();
  });
  return {
    get server() {
      return here!.server;
    },
    get url() {
      return here!.server.url;
    },
    get client() {
      return here!.client;
    },
  };
}

/** A Postgres server, and a pool of connections to it; both are there while the tests of the file run. */
export function postgresHere(max = 8): { readonly server: TestPostgres; readonly url: string; readonly pool: PgPool } {
  let here: { readonly server: TestPostgres; readonly pool: PgPool } | undefined;
  beforeAll(async () => {
    if (!hasPostgres) return;
    const server = await startPostgres();
    here = { server, pool: new PgPool({ connectionString: server.url, max }) };
    here.pool.on("error", () => undefined);
  }, 60_000);
  afterAll(async () => {
    await here?.pool.end();
    here?.server.close();
  });
  return {
    get server() {
      return here!.server;
    },
    get url() {
      return here!.server.url;
    },
    get pool() {
      return here!.pool;
    },
  };
}

/** What an examination says of every session. */
export async function examine(store: Store, mend = false): Promise<readonly Examined[]> {
  const found: Examined[] = [];
  for await (const one of store.checkup.examine({ mend })) found.push(one);
  return found;
}

/** The problems that an examination finds, in order of their names. */
export async function problems(store: Store, mend = false): Promise<readonly string[]> {
  return (await examine(store, mend)).flatMap(({ findings }) => findings.map(({ problem }) => problem)).toSorted();
}

/** A point that work reaches. */
export function point(): { readonly reached: Promise<void>; readonly reach: () => void } {
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return { reached, reach };
}
