/** Every kind of store that keeps, each in a place of its own, and damage to the metadata of one of its sessions. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PgPool } from "../kit/pg-pool.ts";
import { redisKey } from "../kit/redis.ts";
import { openDatabase } from "../kit/sqlite-stores.ts";
import { Redis } from "./stage.ts";

/** Sends a command to the server of a Redis store; `KEY` in it is the hash of a session. */
export async function redisCommand(address: string, id: string, ...command: readonly string[]): Promise<unknown> {
  const [server = ""] = address.split("?");
  const prefix = new URL(address).searchParams.get("prefix") ?? "";
  const client = new Redis(server);
  const [name = "", ...args] = command.map((one) => one.replace("KEY", redisKey(prefix, id)).replace("PREFIX", prefix));
  try {
    return await client.call(name, ...args);
  } finally {
    await client.quit();
  }
}

/** Runs a statement on the database of a store in SQLite, or in Postgres, where `SCHEMA` names its schema. */
export async function runSql(address: string, sql: string): Promise<void> {
  if (address.startsWith("sqlite")) {
    const database = openDatabase(address.slice("sqlite:".length));
    database.exec(sql);
    return database.close() as void;
  }
  const pool = new PgPool({ connectionString: address.split("?")[0] ?? "", max: 1 });
  await pool.query(sql.replaceAll("SCHEMA", `"${new URL(address).searchParams.get("schema")}"`));
  await pool.end();
}

/** Damages the metadata of a session; of a store in files, outside the trash. */
export async function damageMetadata(address: string, id: string): Promise<unknown> {
  const change = `SET metadata = '{' WHERE id = '${id}'`;
  if (address.startsWith("redis")) return redisCommand(address, id, "HSET", "KEY", "metadata", "{");
  if (address.startsWith("sqlite")) return runSql(address, `UPDATE sessions ${change}`);
  if (address.startsWith("postgres")) return runSql(address, `UPDATE SCHEMA.session ${change}`);
  const paths = ["running", "completed"].map((folder) => join(address, folder, id, "metadata.json"));
  for (const path of paths) if (existsSync(path)) writeFileSync(path, "{");
  return undefined;
}
