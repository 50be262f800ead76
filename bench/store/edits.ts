/**
 * What `edits.jsonl` takes beside `messages.jsonl`: recorded sessions through a session with `adaptive`, composed before
 * every call. Bytes of blobs count with the log that names them.
 *
 *   npm run bench:store -- edits
 *   EDITS_BUDGETS=16000 EDITS_FILES=pi-sessions/trajectories.jsonl.gz npm run bench:store -- edits
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { callsOf } from "../../src/replay/measure.ts";
import { newestEdits } from "../../src/session/log.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import { filesStore } from "../../src/store/files/files.ts";
import type { ReadQuery, Scope, Store } from "../../src/store/store.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { recordedSessions } from "../window/kit.ts";
import { inFolder, rounded } from "./kit.ts";

const budgets = (process.env["EDITS_BUDGETS"] ?? "16000,32000,64000").split(",").map(Number);
const files = (
  process.env["EDITS_FILES"] ?? "long-sessions/trajectories.jsonl.gz,pi-sessions/trajectories.jsonl.gz"
).split(",");

/** One row a session and a budget at which an epoch opened. */
export async function benchEdits(): Promise<BenchReport> {
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [];
    for (const [at, transcript] of (await recordedSessions(files)).entries()) {
      for (const budget of budgets) {
        const row = await measured(join(folder, `${at}-${budget}`), transcript, budget);
        if (row) rows.push(row);
      }
    }
    const note = "resume: the lines of edits.jsonl and messages.jsonl that are read for the newest epoch, and the time";
    return { name: "edits", rows, note };
  });
}

async function measured(folder: string, transcript: Transcript, budget: number): Promise<BenchRow | undefined> {
  const store = filesStore({ folder, durability: "group" });
  const manager = await SessionManager.open({ store, strategy: "adaptive", budget });
  const session = await manager.create();
  let written = 0;
  for (const index of callsOf(transcript.messages)) {
    await session.append(transcript.messages.slice(written, index));
    written = index;
    // A step that is larger than the budget has no window.
    await session.compose().catch(() => undefined);
  }
  const epochs = session.stats().epoch;
  await manager.close();
  if (epochs === 0) return undefined;
  const own = join(folder, "running", session.id);
  const [messages, edits] = [bytesOf(own, "messages.jsonl"), bytesOf(own, "edits.jsonl")];
  const read = { edit: 0, message: 0 };
  const again = filesStore({ folder });
  const before = performance.now();
  await newestEdits({ store: counting(again, read), scope: {}, id: session.id });
  const milliseconds = performance.now() - before;
  await again.close();
  return {
    "session": transcript.id,
    budget,
    epochs,
    "messages KB": rounded(messages / 1e3, 0),
    "edits KB": rounded(edits / 1e3, 0),
    "%": rounded((100 * edits) / messages, 1),
    "goal": "≤ 10",
    "lines of edits": read.edit,
    "of messages": read.message,
    "ms": rounded(milliseconds, 0),
  };
}

/** Bytes of a log and of the blobs that it names. */
function bytesOf(folder: string, name: string): number {
  const log = readFileSync(join(folder, name), "utf8");
  const blobs = readdirSync(folder).includes("blobs") ? readdirSync(join(folder, "blobs")) : [];
  const own = blobs.filter((blob) => log.includes(blob)).map((blob) => statSync(join(folder, "blobs", blob)).size);
  return own.reduce((sum, size) => sum + size, Buffer.byteLength(log));
}

/** A store that counts the records that are read of it. */
function counting(store: Store, read: { edit: number; message: number }): Store {
  const given = store.read.bind(store);
  const counted = async function* (scope: Scope, id: string, query: ReadQuery): AsyncGenerator<unknown> {
    for await (const record of given(scope, id, query)) {
      if (query.kind === "edit" || query.kind === "message") read[query.kind]++;
      yield record;
    }
  };
  return Object.assign(store, { read: counted as unknown as Store["read"] });
}
