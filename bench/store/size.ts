/** Bytes on disk for the text of a conversation: the file store beside LangGraph's SqliteSaver. */
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { filesStore } from "../../src/store/files/files.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { installedPeer } from "../peer.ts";
import { inFolder, rounded } from "./kit.ts";

const saver = "@langchain/langgraph-checkpoint-sqlite@1.0.4";
const turns = 300;

/** The few methods of the saver that are used. */
interface Saver {
  put(config: object, checkpoint: object, metadata: object): Promise<object>;
  readonly db: { pragma(text: string): unknown; close(): unknown };
}

/** Writes 300 messages of about 900 characters to each, as an agent does: one after the other. */
export async function benchSize(): Promise<BenchReport> {
  const texts = Array.from({ length: turns }, (_, turn) => textOf(turn));
  const characters = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return await inFolder(async (folder) => {
    const rows: BenchRow[] = [await files(folder, texts, characters)];
    let note = `${turns} messages, ${rounded(characters / 1e6)} MB of text; time is that of all writes, the file store syncs beside them (group), the saver does not sync`;
    try {
      rows.push(await langgraph(folder, texts, characters));
    } catch (error) {
      note += `; ${saver} was left out: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
    }
    return { name: "size", rows, note };
  });
}

async function files(folder: string, texts: readonly string[], characters: number): Promise<BenchRow> {
  const store = filesStore({ folder, durability: "group" });
  const uuid = randomUUID();
  const lock = await store.create({}, { uuid, taskKey: {}, config: {}, createdAt: new Date().toISOString() });
  const before = performance.now();
  for (const [index, text] of texts.entries()) {
    const timestamp = new Date().toISOString();
    const message = { id: `m${index}`, role: "user", parts: [{ type: "text", text }], timestamp } as const;
    await store.append(lock, [{ kind: "message", message, tokenCount: 225, timestamp }]);
  }
  const milliseconds = performance.now() - before;
  await store.close();
  const session = join(folder, "running", uuid);
  const names = await readdir(session);
  const bytes = names.reduce((sum, name) => sum + statSync(join(session, name)).size, 0);
  return row("files", bytes, characters, milliseconds, "≤ 1.5");
}

async function langgraph(folder: string, texts: readonly string[], characters: number): Promise<BenchRow> {
  const code = `export { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";\n`;
  const packages = [saver, "@langchain/langgraph-checkpoint@1", "@langchain/core@1"];
  const { SqliteSaver } = (await import(installedPeer(packages, code, true))) as {
    readonly SqliteSaver: { fromConnString(path: string): Saver };
  };
  const path = join(folder, "saver.db");
  const kept = SqliteSaver.fromConnString(path);
  const messages: object[] = [];
  let config: object = { configurable: { thread_id: "a", checkpoint_ns: "" } };
  const before = performance.now();
  for (const [index, text] of texts.entries()) {
    messages.push({ role: "user", content: text });
    const checkpoint = {
      v: 4,
      id: `1ef4f797-8335-6428-8001-${String(index).padStart(12, "0")}`,
      ts: new Date().toISOString(),
      channel_values: { messages },
      channel_versions: { messages: index + 1 },
      versions_seen: {},
    };
    config = await kept.put(config, checkpoint, { source: "loop", step: index, parents: {} });
  }
  const milliseconds = performance.now() - before;
  kept.db.pragma("wal_checkpoint(TRUNCATE)");
  kept.db.close();
  const bytes = [path, `${path}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);
  return row("LangGraph SqliteSaver", bytes, characters, milliseconds, "–");
}

function row(store: string, bytes: number, characters: number, milliseconds: number, goal: string): BenchRow {
  return {
    store,
    "on disk, MB": rounded(bytes / 1e6),
    "to the text": rounded(bytes / characters),
    goal,
    "all writes, ms": Math.round(milliseconds),
  };
}

/** Words that differ from message to message, as text does. */
function textOf(turn: number): string {
  const words = Array.from({ length: 120 }, (_, word) =>
    ((turn + 1) * (word + 7) * 2_654_435_761).toString(36).slice(-7),
  );
  return words.join(" ");
}
