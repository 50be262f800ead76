/**
 * Sessions in Postgres beside a plain loop of INSERTs and beside LangGraph's checkpointer, on one server of the bench's own
 * (fsync on), in the same run. Ratios are of samples taken right after one another.
 */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { SessionManager } from "../../src/index.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import type { PostgresClient } from "../../src/store/postgres/postgres.ts";
import type { Lock, Store } from "../../src/store/store.ts";
import { hasPostgres, startPostgres } from "../../test/kit/postgres.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { median } from "../bench.ts";
import { installedPeer } from "../peer.ts";
import { messageRecord, rounded } from "./kit.ts";

interface Pool extends PostgresClient {
  connect(): Promise<unknown>;
  query(statement: Sent): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  end(): Promise<void>;
}
const { Pool } = createRequire(import.meta.url)("pg") as { Pool: new (options: object) => Pool };

const pairs = 5;
const lineBytes = 1_024;
const plainCount = 300;
const warmUpCount = 2_000;
const turns = 300;
const longSession = 100_000;
const manySessions = 1_000_000;

/** LangGraph, with a graph of one node that answers at once; it reads the conversation's state at every turn. */
const langGraph = [
  "@langchain/langgraph-checkpoint-postgres@1",
  "@langchain/langgraph@1",
  "@langchain/core@1",
  "pg@8.23.1",
];
const langGraphCode = `
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
export async function run(url, turns, text) {
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [new AIMessage(text)] }))
    .addEdge("__start__", "answer")
    .compile({ checkpointer: saver });
  const before = performance.now();
  for (let turn = 0; turn < turns; turn++) {
    await graph.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id: "bench" } });
  }
  const seconds = (performance.now() - before) / 1000;
  await saver.end();
  return seconds;
}`;

/** Measures appends, sizes, reads and lists. Takes some five minutes. */
export async function benchPostgres(): Promise<BenchReport> {
  if (!hasPostgres) return { name: "postgres", rows: [], note: "no Postgres server can be had here" };
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url, max: 10 });
  try {
    const rows: BenchRow[] = [];
    await warmUp(pool);
    for (const [sessions, goal] of [
      [1, 0.7],
      [16, 0],
      [64, 30],
      [256, 50],
    ] as const) {
      rows.push(await appends(pool, sessions, goal));
    }
    rows.push(...(await sizes(pool, server.url)), ...(await reads(pool)), await lists(pool));
    return {
      name: "postgres",
      rows,
      note: `medians of ${pairs} pairs; lines of ${lineBytes} bytes; fsync on; after ${warmUpCount} appends; floor: the store's statements in a bare loop; unchecked: INSERTs of the same lines and no more`,
    };
  } finally {
    await pool.end();
    server.close();
  }
}

function storeOn(client: PostgresClient, schema = `bench_${randomUUID().replaceAll("-", "")}`): Store {
  return postgresStore({ client, schema });
}

function newSession(): Parameters<Store["create"]>[1] {
  return { uuid: randomUUID(), taskKey: {}, config: {}, createdAt: new Date().toISOString() };
}

/** Appends, and inserts, until the code of both is compiled: that is what a server has that runs. */
async function warmUp(pool: Pool): Promise<void> {
  const store = storeOn(pool);
  const lock = await store.create({}, newSession());
  for (let turn = 1; turn <= warmUpCount; turn++) await store.append(lock, [messageRecord(turn, lineBytes)]);
  await store.close();
  await plainLoop(pool);
}

/** A statement that a store sent, and its values. */
interface Sent {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

async function appends(pool: Pool, sessions: number, goal: number): Promise<BenchRow> {
  const store = storeOn(pool);
  const locks = await newLocks(store, sessions);
  const sent = await statementsOf(pool, sessions);
  const bare = bareStatements(pool, sent, sessions);
  const alone = await insertsAlone(pool, sent, sessions);
  const each = Math.max(20, Math.round(Math.min(6_400, 300 * sessions) / sessions));
  const samples: Record<"plain" | "store" | "bare" | "alone", number>[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const plain = await plainLoop(pool);
    const before = performance.now();
    await Promise.all(
      locks.map(async (lock) => {
        for (let turn = 1; turn <= each; turn++) await store.append(lock, [messageRecord(turn, lineBytes)]);
      }),
    );
    const seconds = (performance.now() - before) / 1_000;
    samples.push({ plain, store: (each * sessions) / seconds, bare: await bare(each), alone: await alone(each) });
  }
  await store.close();
  return {
    measure: `appends a second, ${sessions} at once`,
    windrow: Math.round(median(samples.map((one) => one.store))),
    beside: `${Math.round(median(samples.map((one) => one.plain)))} plain INSERTs`,
    ratio: rounded(median(samples.map((one) => one.store / one.plain))),
    goal: goal === 0 ? "–" : `≥ ${goal}`,
    floor: rounded(median(samples.map((one) => one.bare / one.plain))),
    unchecked: rounded(median(samples.map((one) => one.alone / one.plain))),
  };
}

async function newLocks(store: Store, count: number): Promise<readonly Lock[]> {
  const locks: Lock[] = [];
  for (let index = 0; index < count; index++) locks.push(await store.create({}, newSession()));
  return locks;
}

/** The statements in which a store sends one line of each session at once. */
async function statementsOf(pool: Pool, sessions: number): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  const listening = {
    connect: true,
    query(statement: string | Sent, values: unknown[] = []) {
      if (typeof statement === "string") return pool.query(statement, values);
      sent.push(statement);
      return pool.query(statement);
    },
  };
  const store = storeOn(listening);
  const locks = await newLocks(store, sessions);
  sent.length = 0;
  await Promise.all(locks.map(async (lock) => store.append(lock, [messageRecord(1, lineBytes)])));
  return sent;
}

/**
 * A loop that sends the statements of the store, one line of each session, again and again: the most that they can do,
 * without a mask, JSON or checksums.
 *
 * @returns appends a second, for so many turns of each session
 */
function bareStatements(pool: Pool, sent: readonly Sent[], sessions: number): (turns: number) => Promise<number> {
  let done = 0;
  return async (turns) => {
    const before = performance.now();
    const send = async (one: Sent): Promise<void> => {
      for (let turn = done + 1; turn <= done + turns; turn++) {
        const values = one.values.map((value, place) => (counting.has(place) ? raised(value, turn) : value));
        await pool.query({ ...one, values });
      }
    };
    await Promise.all(sent.map(send));
    done += turns;
    return (turns * sessions) / ((performance.now() - before) / 1_000);
  };
}

/**
 * A loop of INSERTs that add the lines of those statements to a table of their own, as many at once, and check nothing: no
 * store can be faster that has one row a line.
 *
 * @returns lines a second, for so many turns of each session
 */
async function insertsAlone(
  pool: Pool,
  sent: readonly Sent[],
  sessions: number,
): Promise<(turns: number) => Promise<number>> {
  const table = `alone_${randomUUID().replaceAll("-", "")}`;
  await pool.query(`CREATE TABLE ${table} (session bigint, seq bigint, body text, PRIMARY KEY (session, seq))`);
  const text = `INSERT INTO ${table} SELECT * FROM unnest((SELECT $1::bigint[]), (SELECT $2::bigint[]), string_to_array((SELECT $3::text), E'\\n'))`;
  let done = 0;
  return async (turns) => {
    const before = performance.now();
    const send = async (one: Sent, index: number): Promise<void> => {
      const [keys, seqs, lines] = [raised(one.values[1], 1_000 * index), one.values[3], one.values[5]];
      for (let turn = done + 1; turn <= done + turns; turn++) {
        await pool.query({ name: table, text, values: [keys, raised(seqs, turn), lines] });
      }
    };
    await Promise.all(sent.map(send));
    done += turns;
    return (turns * sessions) / ((performance.now() - before) / 1_000);
  };
}

/** The places of the values that count: the steps, which name a revision, and the numbers and places of lines. */
const counting: ReadonlySet<number> = new Set([0, 3, 4]);

/** Steps, of which each revision is raised, or an array of SQL, of which each number is. */
function raised(value: unknown, by: number): string {
  const text = String(value);
  if (text.startsWith("[")) {
    const steps = JSON.parse(text) as readonly { readonly at: number }[];
    return JSON.stringify(steps.map((step) => ({ ...step, at: step.at + by })));
  }
  const numbers = text.slice(1, -1).split(",");
  return `{${numbers.map((one) => Number(one) + by).join(",")}}`;
}

async function plainLoop(pool: Pool): Promise<number> {
  await pool.query(
    "CREATE TABLE IF NOT EXISTS plain (session uuid, seq bigint, body text, PRIMARY KEY (session, seq))",
  );
  const [session, body] = [randomUUID(), JSON.stringify(messageRecord(1, lineBytes))];
  const before = performance.now();
  for (let seq = 1; seq <= plainCount; seq++) {
    await pool.query("INSERT INTO plain (session, seq, body) VALUES ($1, $2, $3)", [session, seq, body]);
  }
  return plainCount / ((performance.now() - before) / 1_000);
}

/** Bytes of a session of some turns in which question and answer are random words, which hardly compress. */
async function sizes(pool: Pool, url: string): Promise<readonly BenchRow[]> {
  const text = Array.from({ length: 32 }, () => randomUUID()).join(" ");
  const textBytes = 2 * turns * text.length;
  const open = await turnsOf(storeOn(pool, "bench_size"), text, false);
  const own = await bytesOf(pool, "bench_size");
  const resumed = await turnsOf(storeOn(pool, "bench_resumed"), text, true);
  const goals = { measure: `bytes of a session of ${turns} turns, × its text`, goal: "≤ 2" };
  const rows: BenchRow[] = [];
  const peer = await besideLangGraph(url, text);
  const beside =
    peer === undefined ? "–" : `${rounded((await bytesOf(pool, "public", "checkpoint")) / textBytes)} LangGraph`;
  rows.push({ ...goals, windrow: rounded(own / textBytes), beside, ratio: "", ...{ goal: goals.goal } });
  for (const [of, seconds] of [
    ["a session that stays open", open],
    ["a session that is resumed and closed at every turn", resumed],
  ] as const) {
    rows.push({
      measure: `seconds for ${turns} turns of ${of}`,
      windrow: rounded(seconds),
      beside: peer === undefined ? "–" : `${rounded(peer)} LangGraph`,
      ratio: peer === undefined ? "" : rounded(peer / seconds),
      goal: "–",
    });
  }
  return rows;
}

/** Seconds for turns of a question, the window for its answer, and the answer. */
async function turnsOf(store: Store, text: string, isResumed: boolean): Promise<number> {
  // The peer keeps no budget: no window leaves anything out.
  const manager = await SessionManager.open({ store, strategy: "adaptive", budget: 1_000_000 });
  let session = await manager.create();
  const before = performance.now();
  for (let turn = 1; turn <= turns; turn++) {
    if (isResumed && turn > 1) session = await manager.resume(session.id);
    await session.append(text);
    await session.compose();
    await session.append({ role: "assistant", parts: [{ type: "text", text }] });
    if (isResumed) await session.close();
  }
  const seconds = (performance.now() - before) / 1_000;
  await manager.close();
  await store.close();
  return seconds;
}

async function besideLangGraph(url: string, text: string): Promise<number | undefined> {
  try {
    const module = (await import(installedPeer(langGraph, langGraphCode))) as {
      run(url: string, turns: number, text: string): Promise<number>;
    };
    return await module.run(url, turns, text);
  } catch (error) {
    console.error(`LangGraph was left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    return undefined;
  }
}

async function bytesOf(pool: Pool, schema: string, prefix = ""): Promise<number> {
  const sql =
    "SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
    "WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname LIKE $2";
  const { rows } = await pool.query(sql, [schema, `${prefix}%`]);
  return Number(rows[0]?.["bytes"] ?? 0);
}

async function reads(pool: Pool): Promise<readonly BenchRow[]> {
  let asked = 0;
  const counting = {
    connect: true,
    query(statement: string | Sent, values: unknown[] = []) {
      asked++;
      return typeof statement === "string" ? pool.query(statement, values) : pool.query(statement);
    },
  };
  const store = storeOn(counting);
  const lock = await store.create({}, newSession());
  for (let from = 0; from < longSession; from += 5_000) {
    await store.append(
      lock,
      Array.from({ length: 5_000 }, (_, index) => messageRecord(from + index, lineBytes)),
    );
  }
  const [tails, floors]: [number[], number[]] = [[], []];
  for (let round = 0; round < 200; round++) {
    const floor = performance.now();
    await pool.query("SELECT 1");
    floors.push(performance.now() - floor);
    const before = performance.now();
    for await (const _record of store.read({}, lock.id, { kind: "message", last: 20 }));
    tails.push(performance.now() - before);
  }
  await lock.release();
  await store.info({}, lock.id);
  asked = 0;
  await (await store.lock({}, lock.id)).release();
  const row = {
    measure: `milliseconds for the last 20 of ${longSession} messages, over one round trip`,
    windrow: rounded(median(tails) - median(floors)),
    beside: `${rounded(median(floors))} a round trip`,
    ratio: "",
    goal: "≤ 1",
  };
  const trips = {
    measure: "statements of a take-over and a release",
    windrow: asked,
    beside: "–",
    ratio: "",
    goal: "–",
  };
  await store.close();
  return [row, trips];
}

async function lists(pool: Pool): Promise<BenchRow> {
  const store = storeOn(pool, "bench_list");
  const lock = await store.create({}, newSession());
  await lock.release();
  await pool.query(
    `INSERT INTO bench_list.session (id, tenant, "user", status, created_ms, hidden, metadata, state, mark, made, revision, ` +
      `origin, generation, heartbeat_at) SELECT gen_random_uuid(), tenant, "user", status, created_ms - g, hidden, metadata, state, ` +
      `mark, made, revision, origin, generation, heartbeat_at ` +
      `FROM bench_list.session, generate_series(1, ${manySessions - 1}) g`,
  );
  await pool.query("UPDATE bench_list.session SET metadata = replace(metadata, $1, id::text)", [lock.id]);
  await pool.query("ANALYZE bench_list.session");
  const times: number[] = [];
  for (let round = 0; round < 50; round++) {
    const before = performance.now();
    for await (const _session of store.list({}, { limit: 20 }));
    times.push(performance.now() - before);
  }
  await store.close();
  return {
    measure: `milliseconds for a page of 20 of ${manySessions} sessions`,
    windrow: rounded(median(times)),
    beside: "–",
    ratio: "",
    goal: "≤ 5",
  };
}
