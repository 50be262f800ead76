/** One durable append after another: the file store beside SQLite in WAL mode with synchronous=FULL, in the same run. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { filesStore } from "../../src/store/files/files.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { median } from "../bench.ts";
import { installedPeer } from "../peer.ts";
import { inFolder, messageRecord, rounded } from "./kit.ts";

const libsql = "libsql@0.5.29";
const pairs = 9;
const count = 300;
const lineBytes = 1_024;

/** The few methods of a SQLite database that are used; `libsql` and `node:sqlite` both have them. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: readonly (string | number)[]): unknown };
  close(): unknown;
}

type Opener = (path: string) => Database;

/** Appends rows of 1 KB to each, in turn. */
export async function benchPeers(): Promise<BenchReport> {
  const missing: string[] = [];
  const peers: { readonly name: string; readonly open: Opener }[] = [];
  for (const [name, load] of [
    [libsql, loadLibsql],
    ["node:sqlite", loadNodeSqlite],
  ] as const) {
    try {
      peers.push({ name, open: await load() });
    } catch (error) {
      missing.push(`${name} was left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const { name, open } of peers) rows.push(await measure(folder, name, open));
    const note =
      `median of ${pairs} pairs of ${count} appends of ${lineBytes} bytes, each durable before the next; SQLite blocks the ` +
      "process meanwhile, the file store syncs beside it";
    return { name: "peers", rows, note: [note, ...missing].join("; ") };
  });
}

async function measure(folder: string, name: string, open: Opener): Promise<BenchRow> {
  const samples: { readonly peer: number; readonly store: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const peer = peerLoop(open(join(folder, `${randomUUID()}.db`)));
    samples.push({ peer, store: await storeLoop(folder) });
  }
  return {
    "beside": `${name}, WAL, FULL`,
    "files/s": Math.round(median(samples.map(({ store }) => store))),
    "it/s": Math.round(median(samples.map(({ peer }) => peer))),
    "ratio": rounded(median(samples.map(({ peer, store }) => store / peer))),
  };
}

function peerLoop(database: Database): number {
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE messages (session TEXT, seq INTEGER, line TEXT, PRIMARY KEY (session, seq))");
  const insert = database.prepare("INSERT INTO messages VALUES (?, ?, ?)");
  const before = performance.now();
  for (let seq = 1; seq <= count; seq += 1) insert.run("a", seq, JSON.stringify(messageRecord(seq, lineBytes)));
  const seconds = (performance.now() - before) / 1_000;
  database.close();
  return count / seconds;
}

async function storeLoop(folder: string): Promise<number> {
  const store = filesStore({ folder: join(folder, "contexts") });
  const createdAt = new Date().toISOString();
  const lock = await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt });
  const before = performance.now();
  for (let seq = 1; seq <= count; seq += 1) await store.append(lock, [messageRecord(seq, lineBytes)]);
  const seconds = (performance.now() - before) / 1_000;
  await store.close();
  return count / seconds;
}

async function loadLibsql(): Promise<Opener> {
  const url = installedPeer([libsql], `export { default } from "libsql";\n`);
  const { default: Database } = (await import(url)) as { readonly default: new (path: string) => Database };
  return (path) => new Database(path);
}

async function loadNodeSqlite(): Promise<Opener> {
  const name = "node:sqlite";
  const { DatabaseSync } = (await import(name)) as { readonly DatabaseSync: new (path: string) => Database };
  return (path) => new DatabaseSync(path);
}
