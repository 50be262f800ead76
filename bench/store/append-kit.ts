/** What the benchmark of appends measures: the stores, the floor under them, and the SQLite drivers beside them. */
import { randomUUID } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { MessageRecord } from "../../src/message/record.ts";
import { filesStore } from "../../src/store/files/files.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { PostgresClient } from "../../src/store/postgres/postgres.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import type { SqliteDatabase } from "../../src/store/sqlite/connection/driver.ts";
import { sqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { hasPostgres, startPostgres } from "../../test/kit/postgres.ts";
import { hasRedis, startRedis } from "../../test/kit/redis.ts";
import { installedPeer } from "../peer.ts";
import { messageRecord } from "./kit.ts";

/** So many appends of lines of one size, so many of them at a time. */
export interface Work {
  readonly lineBytes: number;
  readonly atATime: number;
  readonly count: number;
}

/** The speed of one loop: appends a second, and the processor time of this process for one. */
export interface Sample {
  readonly rate: number;
  readonly cpuMicros: number;
}

/** Distinct messages that the loops take in turn, made before anything is measured. */
const distinct = 512;

const made = new Map<number, readonly MessageRecord[]>();

/** Messages whose lines have about so many bytes. */
export function messages(lineBytes: number): readonly MessageRecord[] {
  const known = made.get(lineBytes);
  if (known) return known;
  // Texts as a host has them: whole in memory, no slice of another text.
  const plain = Array.from({ length: distinct }, (_, index) => messageRecord(index + 1, lineBytes));
  const records = plain.map((record) => JSON.parse(JSON.stringify(record)) as MessageRecord);
  made.set(lineBytes, records);
  return records;
}

/** The fields that a message's line has, with numbers. */
function lineOf({ message, tokenCount, timestamp }: MessageRecord, seq: number): object {
  const part = message.parts[0];
  const content = part?.type === "text" ? part.text : "";
  return { seq, role: message.role, content, timestamp, token_count: tokenCount, id: message.id, pos: seq };
}

/** The floor: the same lines with the same checksums, put together and written by hand. */
export function floorLoop(
  folder: string,
  { lineBytes, atATime, count }: Work,
  given: readonly MessageRecord[],
): Sample {
  const path = join(folder, randomUUID());
  const file = openSync(path, "a");
  const bytes = Buffer.allocUnsafe(2 * atATime * (lineBytes + 512));
  try {
    return timed(count, () => {
      for (let done = 0; done < count;) {
        let end = 0;
        for (const last = Math.min(done + atATime, count); done < last; done += 1) {
          const start = end;
          end += bytes.write(JSON.stringify(lineOf(given[done % given.length]!, done + 1)), end) - 1;
          const crc = crc32(bytes.subarray(start, end)).toString(16).padStart(8, "0");
          end += bytes.write(`,"crc":"${crc}"}\n`, end, "latin1");
        }
        writeSync(file, bytes, 0, end);
        fdatasyncSync(file);
      }
    });
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}

/** A driver of SQLite that is measured beside the stores, and that a store uses. */
export interface SqlitePeer {
  readonly name: string;
  /** The version of SQLite in it. */
  readonly sqlite: string;
  readonly open: (path: string) => SqliteDatabase;
}

const betterSqlite = "better-sqlite3@12.11.1";

/** The drivers that can be had here, and what is to be said of the others. */
export async function sqlitePeers(): Promise<{
  readonly peers: readonly SqlitePeer[];
  readonly missing: readonly string[];
}> {
  type DatabaseClass = new (path: string) => SqliteDatabase;
  const peers: SqlitePeer[] = [];
  const missing: string[] = [];
  const loaders: readonly (readonly [string, () => Promise<DatabaseClass>])[] = [
    [
      betterSqlite,
      async () => {
        const url = installedPeer([betterSqlite], `export { default } from "better-sqlite3";\n`, true);
        return ((await import(url)) as { readonly default: DatabaseClass }).default;
      },
    ],
    ["libsql@0.5.29", async () => createRequire(import.meta.url)("libsql") as DatabaseClass],
  ];
  for (const [name, load] of loaders) {
    try {
      const Database = await load();
      const asked = new Database(":memory:");
      const [row] = asked.prepare("SELECT sqlite_version() AS version").all() as { readonly version: string }[];
      asked.close();
      peers.push({ name, sqlite: row?.version ?? "?", open: (path) => new Database(path) });
    } catch (error) {
      const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
      missing.push(`${name} WAS LEFT OUT: ${reason}`);
      console.error(missing.at(-1));
    }
  }
  return { peers, missing };
}

/** Rows in transactions of so many, each on the disk before the next begins. */
export function batchLoop(database: SqliteDatabase, { atATime, count }: Work, given: readonly MessageRecord[]): Sample {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE messages (session TEXT, seq INTEGER, line TEXT, PRIMARY KEY (session, seq))");
  const insert = database.prepare("INSERT INTO messages VALUES (?, ?, ?)");
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  const sample = timed(count, () => {
    for (let done = 0; done < count;) {
      begin.run();
      for (const last = Math.min(done + atATime, count); done < last; done += 1) {
        insert.run("a", done + 1, JSON.stringify(lineOf(given[done % given.length]!, done + 1)));
      }
      commit.run();
    }
  });
  database.close();
  return sample;
}

function timed(count: number, run: () => void): Sample {
  const cpu = process.cpuUsage();
  const before = performance.now();
  run();
  const seconds = (performance.now() - before) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { rate: count / seconds, cpuMicros: (user + system) / count };
}

/** A store that is measured. */
export interface OpenedStore {
  readonly name: string;
  readonly store: Store;
  /** Whether a share of the floor is its goal: it writes to a disk of its own, not through a server. */
  readonly hasGoal: boolean;
}

/** The stores on the disk of a folder. */
export function localStores(folder: string, drivers: readonly SqlitePeer[]): readonly OpenedStore[] {
  return [
    { name: "files", store: filesStore({ folder: join(folder, "contexts") }), hasGoal: true },
    ...drivers.map(({ name, open }, index) => {
      const store = sqliteStore({ database: open(join(folder, `contexts-${index}.db`)) });
      return { name: `sqlite, ${name.split("@")[0]}`, store, hasGoal: true };
    }),
  ];
}

/** The stores on servers of the benchmark's own: Postgres with fsync, Redis with `appendfsync always`. */
export async function remoteStores(): Promise<{
  readonly stores: readonly OpenedStore[];
  readonly missing: readonly string[];
  close(): Promise<void>;
}> {
  const load = createRequire(import.meta.url);
  const stores: OpenedStore[] = [];
  const missing: string[] = [];
  const closings: (() => Promise<unknown>)[] = [];
  if (hasPostgres) {
    type Pool = PostgresClient & { end(): Promise<void> };
    const { Pool } = load("pg") as { readonly Pool: new (options: object) => Pool };
    const server = await startPostgres();
    const pool = new Pool({ connectionString: server.url, max: 10 });
    stores.push({ name: "postgres", store: postgresStore({ client: pool, schema: "bench_append" }), hasGoal: false });
    closings.push(async () => {
      await pool.end();
      server.close();
    });
  } else missing.push("no Postgres server can be had here");
  if (hasRedis) {
    type Client = Parameters<typeof redisStore>[0]["client"] & { quit(): Promise<unknown> };
    const { Redis } = load("ioredis") as { readonly Redis: new (url: string) => Client };
    const server = await startRedis();
    const client = new Redis(server.url);
    stores.push({
      name: "redis",
      store: redisStore({ client, prefix: "bench:", durability: "strict" }),
      hasGoal: false,
    });
    closings.push(async () => {
      await client.quit();
      await server.close();
    });
  } else missing.push("no Redis server can be had here");
  return {
    stores,
    missing,
    close: async () => {
      for (const close of closings) await close();
    },
  };
}
