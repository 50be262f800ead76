/** Sessions that cannot be described take nobody's place in a list, in every kind of store that can be damaged. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Scope } from "windrow";
import { inScope } from "windrow/store/author";
import type { IoRedisClient } from "windrow/store/redis";
import type { StoreFixture } from "windrow/testing";
import { newSession } from "../kit/inside/store.ts";
import { PgPool } from "../kit/pg-pool.ts";
import { hasPostgres, startPostgres } from "../support/postgres.ts";
import type { TestPostgres } from "../support/postgres.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { filesFixture } from "../kit/stores.ts";
import { postgresFixture } from "../kit/postgres-stores.ts";
import { redisFixture } from "../kit/redis-stores.ts";
import { driver, openDatabase, sqliteFixture } from "../kit/sqlite-stores.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

let postgres: TestPostgres;
let redis: TestRedis;
beforeAll(async () => {
  if (hasPostgres) postgres = await startPostgres();
  if (hasRedis) redis = await startRedis();
}, 60_000);
afterAll(async () => {
  postgres?.close();
  await redis?.close();
});

/** A store, and a hand that makes the metadata of a session unreadable. */
interface Damaged extends StoreFixture {
  readonly damage: (id: string) => Promise<void>;
}

const kinds: readonly (readonly [name: string, isHere: boolean, open: () => Promise<Damaged>])[] = [
  [
    "files",
    true,
    async () => {
      const fixture = await filesFixture();
      const damage = async (id: string): Promise<void> =>
        writeFileSync(join(fixture.folder, "running", id, "metadata.json"), "{");
      return { ...fixture, damage };
    },
  ],
  [
    "sqlite",
    driver !== undefined,
    async () => {
      const fixture = await sqliteFixture();
      return {
        ...fixture,
        async damage(id) {
          const database = openDatabase(fixture.file);
          database.exec(`UPDATE sessions SET metadata = '{' WHERE id = '${id}'`);
          database.close();
        },
      };
    },
  ],
  [
    "postgres",
    hasPostgres,
    async () => {
      const fixture = await postgresFixture(postgres.url);
      const schema = new URL(fixture.address).searchParams.get("schema") ?? "";
      return {
        ...fixture,
        async damage(id) {
          const pool = new PgPool({ connectionString: postgres.url });
          await pool.query(`UPDATE "${schema}".session SET metadata = '{' WHERE id = $1`, [id]);
          await pool.end();
        },
      };
    },
  ],
  [
    "redis",
    hasRedis,
    async () => {
      const fixture = await redisFixture(redis.url);
      return {
        ...fixture,
        async damage(id) {
          const client = new Redis(redis.url);
          const [key = ""] = (await client.call("KEYS", `*session:{${id}}`)) as string[];
          await client.call("HSET", key, "metadata", "{");
          await client.quit();
        },
      };
    },
  ],
];

const here = kinds.filter(([, isHere]) => isHere);

it.each(here)("%s: a limit counts what is told, and the others are told as unreadable", async (_name, _here, open) => {
  const { store, damage, close } = await open();
  const ids: string[] = [];
  for (let second = 10; second < 18; second++) {
    const lock = await store.create({}, newSession({ createdAt: `2024-01-15T10:30:${second}.000Z` }));
    await lock.release();
    ids.unshift(lock.id);
  }
  for (const id of ids.slice(0, 5)) await damage(id);
  const healthy = ids.slice(5);
  let told: string[] = [];
  const unreadable = (id: string): void => void told.push(id);
  for (const limit of [1, 2, 3, 20]) {
    const listed: string[] = [];
    told = [];
    for await (const { metadata } of store.list({}, { limit, unreadable })) listed.push(metadata.uuid);
    expect(listed).toEqual(healthy.slice(0, limit));
  }
  expect(told.toSorted()).toEqual(ids.slice(0, 5).toSorted());
  await close();
});

it.each(here)("%s: what another user has is not told as unreadable", async (_name, _here, open) => {
  const { store, damage, close } = await open();
  const own: Scope = { user: "ann" };
  for (const user of ["ann", "bob", "bob"]) {
    const lock = await store.create({ user }, newSession());
    await lock.release();
    if (user === "bob") await damage(lock.id);
  }
  const [listed, told]: [boolean[], string[]] = [[], []];
  const unreadable = (id: string): void => void told.push(id);
  for await (const { metadata } of store.list(own, { limit: 5, unreadable })) listed.push(inScope(own, metadata));
  expect([listed, told]).toEqual([[true], []]);
  await close();
});
