/** Everything that a model saw is in the log: system prompts and tools once each, the window of each call, recalls. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { SessionManager } from "windrow";
import type { Session, Store, ToolDefinition } from "windrow";
import { exportSession, viewSession } from "windrow/ops";
import { openStore } from "windrow/store";
import type { StoredRecordOf } from "windrow/store/author";
import { estimate } from "windrow/testing";
import { readTranscripts, replay } from "windrow/transcript";
import { codingSession } from "../kit/inside/message.ts";
import type { EditRecord } from "../kit/inside/message.ts";
import { composeStored, copy } from "../kit/inside/ops.ts";
import { newFolder } from "../cli/stage.ts";
import { asked, listed } from "../kit/sessions.ts";

const stores: Store[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const prompt = "You mend code.\nAnswer briefly.\nNever push.";
const otherPrompt = "You mend code.\nAnswer at length.\nNever push.";
const read: ToolDefinition = { name: "read", description: "Reads a file.", inputSchema: { type: "object" } };
const write: ToolDefinition = { name: "write", description: "Writes a file." };

async function opened(url: string): Promise<{ store: Store; manager: SessionManager }> {
  const store = await openStore(url);
  stores.push(store);
  return { store, manager: await SessionManager.open({ store, budget: 8_000 }) };
}

/** Talks for so many steps of the sample session, from a step on. */
async function talk(session: Session, from: number, steps: number, system: string, tools: readonly ToolDefinition[]) {
  const messages = codingSession(60, 20).slice(from, from + steps);
  for (const message of messages) {
    if (message.role === "assistant") {
      await session.compose({ system, tools });
      await session.endStep({ usage: { input: 100, output: 10 }, model: "a-model" });
    }
    await session.append(message);
  }
}

async function edits(store: Store, id: string, ...types: readonly string[]): Promise<readonly EditRecord[]> {
  return (await listed(store.read({}, id, { kind: "edit" }))).filter(({ type }) => types.includes(type));
}

async function usage(store: Store, id: string): Promise<readonly StoredRecordOf<"usage">[]> {
  return listed(store.read({}, id, { kind: "usage" }));
}

const kinds = ["files", "sqlite"] as const;
const urlOf = async (kind: (typeof kinds)[number]): Promise<string> => {
  const folder = await newFolder();
  return kind === "files" ? join(folder, "contexts") : `sqlite:${join(folder, "contexts.db")}`;
};

it.each(kinds)("keeps each distinct system prompt and tool list once, over epochs and restarts (%s)", async (kind) => {
  const { store, manager } = await opened(await urlOf(kind));
  const session = await manager.create();
  await talk(session, 0, 40, prompt, [read]);
  await talk(session, 40, 10, otherPrompt, [read, write]);
  await session.close();
  const again = await manager.resume(session.id);
  await talk(again, 50, 20, prompt, [read]);
  await talk(again, 70, 10, otherPrompt, [read, write]);
  expect(again.stats().epoch).toBeGreaterThan(3);
  const kept = await edits(store, session.id, "system", "tools");
  expect(kept.map(({ type, data }) => [type, data["text"] ?? data["definitions"]])).toEqual([
    ["system", prompt],
    ["tools", [read]],
    ["system", otherPrompt],
    ["tools", [read, write]],
  ]);
});

it.each(kinds)("shows them in the window made from the disk alone, as the model saw it (%s)", async (kind) => {
  const { store, manager } = await opened(await urlOf(kind));
  const session = await manager.create();
  await talk(session, 0, 50, prompt, [read]);
  const live = await session.compose({ system: prompt, tools: [read] });
  await session.close();
  const preview = await composeStored(store, {}, await store.info({}, session.id));
  expect(preview.messages).toEqual(live.messages);
  expect(preview.tokens).toBe(live.tokens);
  expect(preview.tools).toEqual([read]);
  expect(preview.missing).toEqual([]);
  const view = await viewSession(store, {}, session.id, { window: true });
  expect(view.window?.messages).toEqual(live.messages);
});

it("says what a change of the system prompt or the tools changed", async () => {
  const { store, manager } = await opened("ram:");
  const session = await manager.create();
  await talk(session, 0, 10, prompt, [read]);
  await talk(session, 10, 2, otherPrompt, [read]);
  await talk(session, 12, 2, otherPrompt, [{ ...read, description: "Reads." }, write]);
  const system = { line: 2, removed: ["Answer briefly."], added: ["Answer at length."] };
  const tools = { added: ["write"], removed: [], changed: ["read"] };
  const { epochs } = await viewSession(store, {}, session.id, { epochs: true, last: Infinity });
  expect(epochs?.shown.map(({ reason, changed }) => [reason, changed])).toEqual([
    ["system-changed", { system }],
    ["tools-changed", { tools }],
  ]);
  expect(await session.explain({ epoch: 1 })).toMatchObject({
    sent: { system: otherPrompt, tools: [read] },
    changed: { system },
  });
  expect((await session.explain()).changed).toEqual({ tools });
});

it("says that a system prompt came, and that it went away", async () => {
  const { store, manager } = await opened("ram:");
  const session = await manager.create();
  for (const system of [undefined, prompt, undefined]) {
    await session.append(asked("Go on."));
    await session.compose({ ...(system !== undefined && { system }), tools: [read] });
    await session.endStep();
  }
  const lines = prompt.split("\n");
  const { epochs } = await viewSession(store, {}, session.id, { epochs: true, last: Infinity });
  expect(epochs?.shown.map(({ reason, changed }) => [reason, changed])).toEqual([
    ["system-changed", { system: { line: 1, removed: [], added: lines } }],
    ["system-changed", { system: { line: 1, removed: lines, added: [] } }],
  ]);
  const explained = await session.explain();
  expect(explained.changed).toEqual({ system: { line: 1, removed: lines, added: [] } });
  expect(explained.sent).toEqual({ tools: [read] });
});

it.each(kinds)("names the window of each call in its usage: it is made again, byte for byte (%s)", async (kind) => {
  const { store, manager } = await opened(await urlOf(kind));
  const session = await manager.create();
  await talk(session, 0, 60, prompt, [read]);
  await session.endStep({ usage: { input: 1 } });
  await session.close();
  const lines = await usage(store, session.id);
  expect(lines.at(-1)?.window).toBeUndefined();
  const called = lines.slice(0, -1).map(({ window }) => window!);
  expect(called.every((window, index) => window.last > (called[index - 1]?.last ?? 0))).toBe(true);
  const newest = called.at(-1)!;
  expect(newest.epoch).toBe(Math.max(...called.map(({ epoch }) => epoch)));
  expect(newest.cached).toBeGreaterThan(0);
  const fork = await manager.fork(session.id, { at: newest.last });
  const { report } = await fork.compose({ system: prompt, tools: [read] });
  expect(report.windowHash).toBe(newest.hash);
  expect(report.tokens).toBe(newest.tokens);
});

it("keeps them masked, and large ones as a blob", async () => {
  const folder = await newFolder();
  const { manager, store } = await opened(join(folder, "contexts"));
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const session = await manager.create();
  const large = `Use ${secret}.\n${"A rule of the house. ".repeat(5_000)}`;
  await session.append(asked("begin"));
  await session.compose({ system: large, tools: [{ ...read, description: `With ${secret}` }], budget: 100_000 });
  await session.close();
  const place = join(folder, "contexts", "running", session.id);
  const blobs = await readdir(join(place, "blobs"));
  expect(blobs).toHaveLength(1);
  const files = await Promise.all(
    [join(place, "edits.jsonl"), join(place, "blobs", blobs[0]!)].map((p) => readFile(p)),
  );
  for (const file of files) expect(file.includes(secret)).toBe(false);
  const { messages } = await composeStored(store, {}, await store.info({}, session.id), { budget: 100_000 });
  expect(messages[0]?.parts).toEqual([{ type: "text", text: files[1]!.toString() }]);
});

it("go with a session into another store, a file and a replay", async () => {
  const { store, manager } = await opened(await urlOf("files"));
  const session = await manager.create();
  await talk(session, 0, 30, prompt, [read]);
  await talk(session, 30, 31, otherPrompt, [read]);
  await session.finish("completed");
  const { store: database } = await opened(await urlOf("sqlite"));
  await copy(store, database, {});
  const [there, here] = await Promise.all(
    [database, store].map((one) => edits(one, session.id, "system", "tools", "epoch")),
  );
  expect(there).toEqual(here);
  const file = join(await newFolder(), "session.jsonl");
  const lines = await listed((await exportSession(database, {}, session.id)).lines);
  await writeFile(file, lines.join("\n"));
  const [transcript] = await readTranscripts(file);
  expect(transcript?.sent?.map(({ system }) => system)).toEqual([prompt, otherPrompt]);
  const systems: unknown[] = [];
  const replayed = await replay(transcript!, {
    strategies: ["adaptive"],
    budgets: [8_000],
    profile: "openai-chat",
    counter: estimate,
    onWindow: ({ composed }) => systems.push(composed.messages[0]?.parts),
  });
  expect(replayed.sent).toEqual({ system: true, tools: 1 });
  expect(systems[0]).toEqual([{ type: "text", text: prompt }]);
  expect(systems.at(-1)).toEqual([{ type: "text", text: otherPrompt }]);
});

it("has recalls on record, found or not", async () => {
  const { store, manager } = await opened("ram:");
  const session = await manager.create();
  await talk(session, 0, 40, prompt, [read]);
  const found = await session.recall({ id: "m3" });
  await session.recall({ query: "function_3" });
  await expect(session.recall({ id: "m900" })).rejects.toThrow("There is no message m900");
  const records = await edits(store, session.id, "recall");
  expect(records.map(({ data }) => data)).toMatchObject([
    { id: "m3", seqs: [3], tokens: found.tokens, more: found.more },
    { query: "function_3" },
    { id: "m900", error: "not-found" },
  ]);
  const reader = await manager.resume(session.id, { readOnly: true });
  expect((await reader.recall({ id: "m3" })).seqs).toEqual([3]);
  expect(await edits(store, session.id, "recall")).toHaveLength(3);
});
