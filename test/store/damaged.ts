/** Every kind of store that keeps, each in a place of its own, and damage to the metadata of one of its sessions. */
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { IoRedisClient } from "windrow/store/redis";
import { PgPool } from "../kit/pg-pool.ts";
import { hasRedis, startRedis } from "../support/redis.ts";
import type { TestRedis } from "../support/redis.ts";
import { newFolder, storeKinds } from "./archive/kinds.ts";
import type { StoreKind } from "./archive/kinds.ts";
import { openDatabase } from "../kit/sqlite-stores.ts";

const { Redis } = createRequire(import.meta.url)("ioredis") as {
  Redis: new (url: string) => IoRedisClient & { quit(): Promise<unknown> };
};

/** The four kinds; their servers run while the tests of the file do. */
export function keptKinds(): readonly StoreKind[] {
  let redis: TestRedis | undefined;
  beforeAll(async () => {
    if (hasRedis) redis = await startRedis();
  }, 60_000);
  afterAll(() => redis?.close());
  return [
    ...storeKinds(),
    { name: "sqlite", isHere: true, address: async () => `sqlite:${join(await newFolder(), "store.db")}` },
    { name: "redis", isHere: hasRedis, address: async () => `${redis?.url}?prefix=kept-${randomUUID()}:` },
  ];
}

/** Sends a command to the server of a Redis store; `KEY` in it is the hash of a session. */
export async function redisCommand(address: string, id: string, ...command: readonly string[]): Promise<unknown> {
  const [server = ""] = address.split("?");
  const prefix = new URL(address).searchParams.get("prefix") ?? "";
  const client = new Redis(server);
  const [name = "", ...args] = command.map((one) =>
    one.replace("KEY", `${prefix}session:{${id}}`).replace("PREFIX", prefix),
  );
  try {
    return await client.call(name, ...args);
  } finally {
    await client.quit();
  }
}

/** Damages the metadata of a session in the trash of a database. */
export async function damageTrashed(address: string, id: string): Promise<void> {
  if (address.startsWith("redis")) await redisCommand(address, id, "HSET", `PREFIXtrashed:{${id}}`, "metadata", "{");
  else if (address.startsWith("sqlite")) {
    const database = openDatabase(address.slice("sqlite:".length));
    database.exec(`UPDATE trash SET metadata = '{' WHERE session_id = '${id}'`);
    database.close();
  } else {
    const pool = new PgPool({ connectionString: address.split("?")[0] ?? "", max: 1 });
    const schema = new URL(address).searchParams.get("schema");
    await pool.query(`UPDATE "${schema}".session SET metadata = '{' WHERE id = $1`, [id]);
    await pool.end();
  }
}

/** Damages the metadata of a session outside the trash. */
export async function damageMetadata(address: string, id: string): Promise<void> {
  if (address.startsWith("redis")) await redisCommand(address, id, "HSET", "KEY", "metadata", "{");
  else if (address.startsWith("sqlite")) {
    const database = openDatabase(address.slice("sqlite:".length));
    database.exec(`UPDATE sessions SET metadata = '{' WHERE id = '${id}'`);
    database.close();
  } else if (address.startsWith("postgres")) {
    const pool = new PgPool({ connectionString: address.split("?")[0] ?? "", max: 1 });
    const schema = new URL(address).searchParams.get("schema");
    await pool.query(`UPDATE "${schema}".session SET metadata = '{' WHERE id = $1 AND trashed_at IS NULL`, [id]);
    await pool.end();
  } else {
    const paths = ["running", "completed"].map((folder) => join(address, folder, id, "metadata.json"));
    for (const path of paths) if (existsSync(path)) writeFileSync(path, "{");
  }
}
