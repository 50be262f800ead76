/** Appends to a store in Redis, beside a pipelined loop of XADD of the same lines on the same server in the same run. */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { Lock, Store } from "../../src/store/store.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { encodeRecord } from "../../src/store/format/record.ts";
import { lineText, numberedLine } from "../../src/store/format/lines.ts";
import { hasRedis, startRedis } from "../../test/kit/redis.ts";
import { median } from "../bench.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { messageRecord, rounded } from "./kit.ts";

interface Client {
  call(command: string, ...args: (string | Buffer | number)[]): Promise<unknown>;
  pipeline(commands: readonly (readonly (string | number)[])[]): { exec(): Promise<unknown> };
  quit(): Promise<unknown>;
}
const { Redis } = createRequire(import.meta.url)("ioredis") as { Redis: new (url: string) => Client };

const pairs = 7;
const lineBytes = 1_024;

/** The settings of a server, and the durability that a store on it has. */
const kinds = [
  { fsync: "always", durability: "strict" },
  { fsync: "everysec", durability: "group" },
] as const;

/** Sessions that are written at once, and the share of the loop that is the goal. */
const sizes = [{ sessions: 1 }, { sessions: 16 }, { sessions: 64, goal: 0.5 }, { sessions: 256 }] as const;

/** Measures appends of 1, 16, 64 and 256 sessions at once. Takes about a minute. */
export async function benchRedis(): Promise<BenchReport> {
  if (!hasRedis) return { name: "redis", rows: [], note: "no Redis server can be had here" };
  const rows: BenchRow[] = [];
  for (const { fsync, durability } of kinds) {
    const server = await startRedis(["--appendonly", "yes", "--appendfsync", fsync]);
    const client = new Redis(server.url);
    try {
      for (const size of sizes) rows.push({ appendfsync: fsync, ...(await appends(client, durability, size)) });
    } finally {
      await client.quit();
      await server.close();
    }
  }
  const note =
    `medians of ${pairs} pairs; lines of ${lineBytes} bytes; the loop sends one XADD a session in one pipeline, waits for ` +
    "all answers, and sends again; it checks nothing";
  return { name: "redis", rows, note };
}

async function appends(
  client: Client,
  durability: "strict" | "group",
  { sessions, goal }: { readonly sessions: number; readonly goal?: number },
): Promise<BenchRow> {
  const store: Store = redisStore({ client, prefix: `bench-${randomUUID()}:`, durability });
  const locks: Lock[] = [];
  for (let index = 0; index < sessions; index++) {
    locks.push(
      await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt: new Date().toISOString() }),
    );
  }
  const each = Math.max(40, Math.round(Math.min(6_400, 600 * sessions) / sessions));
  const samples: { readonly loop: number; readonly store: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const loop = await pipelined(client, sessions, each);
    const before = performance.now();
    await Promise.all(
      locks.map(async (lock) => {
        for (let turn = 1; turn <= each; turn++) await store.append(lock, [messageRecord(turn, lineBytes)]);
      }),
    );
    samples.push({ loop, store: (each * sessions) / ((performance.now() - before) / 1_000) });
  }
  await store.close();
  await client.call("FLUSHALL");
  return {
    "sessions at once": sessions,
    "appends/s": Math.round(median(samples.map((one) => one.store))),
    "XADD loop/s": Math.round(median(samples.map((one) => one.loop))),
    "ratio": rounded(median(samples.map((one) => one.store / one.loop))),
    "goal": goal === undefined ? "–" : `≥ ${goal}`,
  };
}

async function pipelined(client: Client, sessions: number, each: number): Promise<number> {
  const streams = Array.from({ length: sessions }, () => `loop:${randomUUID()}`);
  const text = lineText(encodeRecord(messageRecord(1, lineBytes)));
  const before = performance.now();
  for (let seq = 1; seq <= each; seq++) {
    const line = numberedLine(text, seq, seq);
    await client.pipeline(streams.map((stream) => ["xadd", stream, `${seq}-0`, "line", line])).exec();
  }
  const rate = (each * sessions) / ((performance.now() - before) / 1_000);
  await client.call("UNLINK", ...streams);
  return rate;
}
