/**
 * Durable appends a second of every kind of store, beside the floor: a hand-written loop that does `JSON.stringify`, a
 * checksum a line, and one write and one fdatasync for as many lines as are appended at a time. In the same run:
 * better-sqlite3 and libsql in transactions of as many rows. Disks and their neighbours are moody: only the ratio of two
 * samples taken right after one another says anything, so they are interleaved and the median ratio is reported.
 */
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { filesStore } from "../../src/store/files/files.ts";
import type { Lock, Store } from "../../src/store/store.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { goalText, median } from "../bench.ts";
import { batchLoop, floorLoop, localStores, messages, remoteStores, sqlitePeers } from "./append-kit.ts";
import type { OpenedStore, Sample, SqlitePeer, Work } from "./append-kit.ts";
import { bareLoop, inFolder, rounded } from "./kit.ts";

const rounds = 5;
const remoteRounds = 2;
const bareCount = 300;

/** The works that are measured. `bare` is the goal of the file store beside a bare loop of one line at a time. */
const works: readonly (Work & { readonly bare?: number })[] = [
  { lineBytes: 1_024, atATime: 1, count: 300, bare: 0.6 },
  { lineBytes: 1_024, atATime: 16, count: 1_600, bare: 8 },
  { lineBytes: 1_024, atATime: 64, count: 6_400, bare: 25 },
  { lineBytes: 1_024, atATime: 256, count: 12_800, bare: 50 },
  { lineBytes: 10_240, atATime: 1, count: 300, bare: 0.6 },
  { lineBytes: 10_240, atATime: 16, count: 1_600, bare: 8 },
  { lineBytes: 10_240, atATime: 64, count: 3_200, bare: 25 },
  { lineBytes: 10_240, atATime: 256, count: 5_120 },
];

/** Shares of the floor that are the goals, for one append at a time and for more. */
const [goalAlone, goalTogether] = [0.6, 0.5];

/** Measures every kind of store with every work. Takes some five minutes on a quiet machine. */
export async function benchAppend(): Promise<BenchReport> {
  const { peers, missing } = await sqlitePeers();
  const remote = await remoteStores();
  try {
    return await inFolder(async (folder) => {
      const local = localStores(folder, peers);
      const rows: BenchRow[] = [];
      for (const work of works) {
        for (const store of local) rows.push(await measure(folder, work, { store, peers, count: rounds }));
        for (const store of remote.stores)
          rows.push(await measure(folder, work, { store, peers: [], count: remoteRounds }));
      }
      rows.push(...(await besideBareLoops(folder)));
      for (const { store } of [...local, ...remote.stores]) await store.close();
      return { name: "append", rows, note: [note(peers), ...missing, ...remote.missing].join("; ") };
    });
  } finally {
    await remote.close();
  }
}

function note(peers: readonly SqlitePeer[]): string {
  const beside = peers.map(({ name }) => `${name} (SQLite ${peerVersion(name, peers)})`).join(" and ");
  return (
    `medians of ${rounds} rounds, of servers ${remoteRounds}; floor: JSON.stringify, crc32, one write and one fdatasync for as ` +
    `many lines, blocking; ${beside || "no SQLite driver"}: WAL, synchronous=FULL, one transaction for as many rows, blocking; ` +
    "CPU µs: of this process, an append; the bare loops write and sync one line at a time, blocking and through the thread pool"
  );
}

function peerVersion(name: string, peers: readonly SqlitePeer[]): string {
  return peers.find((peer) => peer.name === name)?.sqlite ?? "?";
}

interface Measured {
  readonly store: OpenedStore;
  readonly peers: readonly SqlitePeer[];
  readonly count: number;
}

async function measure(folder: string, work: Work, { store, peers, count }: Measured): Promise<BenchRow> {
  const { lineBytes, atATime } = work;
  const given = messages(lineBytes);
  const samples: { readonly floor: Sample; readonly store: Sample; readonly peers: readonly Sample[] }[] = [];
  // The first round warms everything up, and does not count.
  for (let round = 0; round <= count; round += 1) {
    const floor = floorLoop(folder, work, given);
    const own = await storeLoop(store.store, work, given);
    const others = peers.map((peer) => batchLoop(peer.open(join(folder, `${randomUUID()}.db`)), work, given));
    if (round > 0) samples.push({ floor, store: own, peers: others });
  }
  const ratio = rounded(median(samples.map((one) => one.store.rate / one.floor.rate)));
  const beside = peers.map(({ name }, at): [string, number] => [
    `to ${name}`,
    rounded(median(samples.map((one) => one.store.rate / (one.peers[at]?.rate ?? Number.NaN)))),
  ]);
  return {
    "store": store.name,
    "line, KB": lineBytes / 1_024,
    "at a time": atATime,
    "appends/s": Math.round(median(samples.map((one) => one.store.rate))),
    "CPU µs": rounded(median(samples.map((one) => one.store.cpuMicros)), 1),
    "floor/s": Math.round(median(samples.map((one) => one.floor.rate))),
    "floor CPU µs": rounded(median(samples.map((one) => one.floor.cpuMicros)), 1),
    "to the floor": ratio,
    "goal": store.hasGoal ? goalText(ratio, { atLeast: atATime === 1 ? goalAlone : goalTogether }) : "–",
    ...Object.fromEntries(beside),
  };
}

/** The file store beside loops that write and sync one line at a time. */
async function besideBareLoops(folder: string): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  const group: Work & { readonly bare?: number } = { lineBytes: 1_024, atATime: 1, count: 2_000 };
  for (const [work, durability] of [...works.map((one) => [one, "strict"] as const), [group, "group"] as const]) {
    const store = filesStore({ folder: join(folder, "bare"), durability });
    const { lineBytes, atATime } = work;
    const samples: { readonly bare: number; readonly pool: number; readonly store: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const bare = bareLoop(folder, lineBytes, bareCount);
      const { rate } = await storeLoop(store, work, messages(lineBytes));
      samples.push({ bare, store: rate, pool: await poolLoop(folder, lineBytes) });
    }
    await store.close();
    const ratio = rounded(median(samples.map((one) => one.store / one.bare)));
    rows.push({
      "store": durability === "strict" ? "files" : `files, ${durability}`,
      "line, KB": lineBytes / 1_024,
      "at a time": atATime,
      "appends/s": Math.round(median(samples.map((one) => one.store))),
      "bare loop/s": Math.round(median(samples.map((one) => one.bare))),
      "to a bare loop": ratio,
      "goal": work.bare === undefined ? "–" : goalText(ratio, { atLeast: work.bare }),
      "to a pooled loop": rounded(median(samples.map((one) => one.store / one.pool))),
    });
  }
  return rows;
}

async function poolLoop(folder: string, lineBytes: number): Promise<number> {
  const line = Buffer.alloc(lineBytes, "x");
  const file = await open(join(folder, randomUUID()), "a");
  const before = performance.now();
  for (let done = 0; done < bareCount; done += 1) {
    await file.write(line);
    await file.datasync();
  }
  const seconds = (performance.now() - before) / 1_000;
  await file.close();
  return bareCount / seconds;
}

/** Appends to a new session by so many callers, each of which waits for its own. */
async function storeLoop(store: Store, { atATime, count }: Work, given: ReturnType<typeof messages>): Promise<Sample> {
  const createdAt = new Date().toISOString();
  const lock: Lock = await store.create({}, { uuid: randomUUID(), taskKey: {}, config: {}, createdAt });
  let done = 0;
  const produce = async (): Promise<void> => {
    while (done < count) {
      const record = given[done % given.length]!;
      done += 1;
      await store.append(lock, [record]);
    }
  };
  const cpu = process.cpuUsage();
  const before = performance.now();
  await Promise.all(Array.from({ length: atATime }, produce));
  const seconds = (performance.now() - before) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await lock.release();
  return { rate: count / seconds, cpuMicros: (user + system) / count };
}
