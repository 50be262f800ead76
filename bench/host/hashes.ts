/**
 * Windows of every host and provider by their hashes, to tell whether a change of an adapter left them as they were.
 *
 *   npm run bench -- host/hashes
 *   HASHES_HOSTS=adk,pi npm run bench -- host/hashes     those alone
 *
 * Each is driven through its own door with one generated conversation: with a session and without one, over a resume and
 * a replaced history. A row has a SHA-256 of all windows and answers of recall, and one of the messages that were kept.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aiSdkMemoryTools } from "../../src/adapter/ai-sdk/ai-sdk.ts";
import { McpTools } from "../../src/adapter/mcp/mcp.ts";
import { agentsMemoryTools } from "../../src/adapter/openai-agents/openai-agents.ts";
import { memoryTools } from "../../src/adapter/public.ts";
import { MemoryFiles } from "../../src/memory/files/memory-files.ts";
import { storeMemory } from "../../src/memory/store-memory.ts";
import { SessionManager } from "../../src/session/manager/manager.ts";
import { openStore } from "../../src/access/open.ts";
import type { Message } from "../../src/message/message.ts";
import type { BenchReport, BenchRow } from "../bench.ts";
import { agents } from "./agents.ts";
import { apis } from "./apis.ts";
import type { Driven, Loose } from "./driven.ts";
import { frameworks } from "./frameworks.ts";
import { conversation, Seen } from "./kit.ts";

const steps = 64;
const resumesAt = 36;
const id = "11111111-1111-4111-8111-111111111111";
const now = (): number => Date.UTC(2026, 0, 5);

/** One row a host, with a session and without. */
export async function benchHosts(): Promise<BenchReport> {
  const rows: BenchRow[] = [];
  const wanted = process.env["HASHES_HOSTS"]?.split(",");
  const all = [...apis, ...frameworks, ...agents];
  const hosts = all.filter(({ name }) => wanted === undefined || wanted.includes(name));
  for (const driven of hosts) {
    rows.push(await rowOf(driven, true));
    if (driven.isFree) rows.push(await rowOf(driven, false));
  }
  if (wanted === undefined) rows.push(await mcpRow(), await memoryRow());
  for (const driven of hosts) rows.push(...fixtureRows(driven));
  return { name: "host/hashes", rows };
}

async function rowOf(driven: Driven, withSession: boolean): Promise<BenchRow> {
  const { name, profile, adapter, think } = driven;
  const folder = mkdtempSync(join(tmpdir(), "windrow-hosts-"));
  const open = (): Promise<SessionManager> => SessionManager.open({ store: folder, budget: 6_000, profile, now });
  const encode = (message: Message): readonly Loose[] =>
    JSON.parse(JSON.stringify(adapter.encode([message]))) as readonly Loose[];
  const [windows, kept] = [new Seen(), new Seen()];
  let manager = await open();
  let drive = driven.open(withSession ? await manager.create({ id }) : undefined, manager);
  let history: Loose[] = [];
  for (const [at, { before, answer }] of conversation(steps).entries()) {
    if (at === resumesAt && withSession) {
      await manager.close();
      manager = await open();
      const { [0]: found } = await listed(manager.list());
      history = structuredClone(history);
      drive = driven.open(await manager.resume(found?.metadata.uuid ?? id), manager);
    }
    if (at === steps - 10) history = history.slice(-20);
    history.push(...before.flatMap(encode).map((host) => ({ ...host, ...(at % 5 === 1 && { x_note: at }) })));
    windows.add(await drive.send([...history]));
    const [first, ...others] = encode(answer);
    history.push(...(at % 3 === 0 && first ? think(first, at) : first ? [first] : []), ...others);
    await drive.answered?.([...history], answer);
    if (at % 20 === 19) {
      for (const query of [{ id: "m3" }, { id: "m4-m9" }, { query: "part3" }, {}])
        windows.add(await drive.recall(query));
    }
  }
  if (withSession) {
    kept.add(await drive.kept?.());
    for (const { metadata } of await listed(manager.list())) kept.add(await listed(manager.messages(metadata.uuid)));
  }
  await manager.close();
  rmSync(folder, { recursive: true });
  return { host: `${name}${withSession ? "" : " without a session"}`, windows: windows.hash, kept: kept.hash };
}

/** What an adapter makes of every message that its host records, also with other results. */
function fixtureRows({ name, adapter }: Driven): readonly BenchRow[] {
  const path = join(
    import.meta.dirname,
    `../../../test/adapter/fixtures/${name === "chat" ? "openai-chat" : name}.json`,
  );
  if (!existsSync(path)) return [];
  const [read, written] = [new Seen(), new Seen()];
  for (const { messages } of JSON.parse(readFileSync(path, "utf8")) as readonly { readonly messages: never[] }[]) {
    const decoded = adapter.decode(messages);
    read.add(decoded);
    const stored = JSON.parse(JSON.stringify(decoded)) as readonly Message[];
    written.add(adapter.encode(stored));
    const content = "[Windrow: an excerpt; the whole is m1]";
    const cut = stored.map((message) => ({
      ...message,
      parts: message.parts.map((part) => (part.type === "tool-result" ? { ...part, content } : part)),
    }));
    written.add(adapter.encode(cut));
    written.add(adapter.encode(stored.map(({ extra: _extra, ...message }) => message)));
  }
  return [{ host: `${name}'s fixtures`, windows: written.hash, kept: read.hash }];
}

async function mcpRow(): Promise<BenchRow> {
  const store = await openStore("ram:");
  const manager = await SessionManager.open({ store, budget: 6_000, now });
  const session = await manager.create({ id });
  for (const { before, answer } of conversation(40))
    await session.append([...before, answer].map(({ id: _id, ...one }) => one));
  await session.pin("Never deploy.");
  const tools = await McpTools.open({ store });
  const seen = new Seen();
  const asked: readonly (() => Promise<unknown>)[] = [
    () => tools.sessions(),
    ...["m3", "m4-m9"].map((place) => () => tools.recall(undefined, { id: place })),
    ...["part3", "loop"].flatMap((words) => [() => tools.search(undefined, words), () => tools.search("all", words)]),
    ...[() => tools.pins(undefined), () => tools.stats(undefined), () => tools.view(undefined)],
    ...[() => tools.memory.search("part3 slow", 400, {}), () => tools.memory.facts(undefined)],
    ...[() => tools.memory.files(undefined), () => tools.memory.remember("x", "y")],
  ];
  for (const ask of asked) seen.add(await ask().catch(String));
  await tools.close();
  return { host: "mcp", windows: seen.hash, kept: "" };
}

/** The tools of a memory as hosts get them, and what they answer. */
async function memoryRow(): Promise<BenchRow> {
  const store = await openStore("ram:");
  const manager = await SessionManager.open({ store, budget: 6_000, now, memory: "store" });
  const session = await manager.create({ id });
  await session.append(
    conversation(20).flatMap(({ before, answer }) => [...before, answer].map(({ id: _id, ...one }) => one)),
  );
  await session.finish("completed");
  const files = new MemoryFiles(store, {});
  const memory = storeMemory(store);
  const seen = new Seen();
  for (const [name, tool] of Object.entries(aiSdkMemoryTools(memory, { files }))) {
    seen.add([name, tool.description, (tool.inputSchema as { jsonSchema: object }).jsonSchema]);
    for (const input of [{ query: "part3 slow", text: "It is slow." }, {}]) seen.add(await tool.execute(input));
  }
  for (const tool of agentsMemoryTools(memory, { files })) {
    seen.add(tool);
    seen.add(await tool.execute({ query: "loop of part3", text: "It is slow." }));
  }
  for (const tool of memoryTools(memory)) seen.add(tool);
  await manager.close();
  return { host: "tools of a memory", windows: seen.hash, kept: "" };
}

async function listed<T>(values: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}
