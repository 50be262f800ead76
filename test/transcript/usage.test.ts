/** Usage is read without decoding sessions, and adds up to what their decoders find. */
import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { readTranscripts } from "windrow/transcript";
import { discoverUsage, readUsage } from "../kit/inside/transcript.ts";
import type { CallUsage, FoundUsage } from "../kit/inside/transcript.ts";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";
import { temporaryFolder } from "./files.ts";
import { openCodeDatabase } from "./opencode-sessions.ts";

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

async function usageOf(agent: FoundUsage["agent"], path: string): Promise<readonly CallUsage[]> {
  const { size, mtimeMs } = await stat(path);
  return readUsage({ path, agent, bytes: size, modifiedMs: mtimeMs });
}

async function usageIn(agent: FoundUsage["agent"], rows: readonly unknown[]): Promise<readonly CallUsage[]> {
  const text = rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n");
  return usageOf(agent, await put(join(await temporaryFolder(), "session.jsonl"), text));
}

describe("calls whose answers are no part of a session", () => {
  const piAnswer = (id: string, parentId: string | null, input: number): object => ({
    ...{ type: "message", id, parentId, timestamp: "2026-01-02T00:00:00Z" },
    message: { role: "assistant", model: "m", content: [{ type: "text", text: id }], usage: { input, output: 1 } },
  });
  const item = (role: string, text: string): object => ({
    type: "response_item",
    payload: { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] },
  });
  const used = (total: number): object => tokenCount(total, 10 * total, { input_tokens: 10, output_tokens: 1 });
  const withoutTotal = {
    type: "event_msg",
    payload: { type: "token_count", info: { last_token_usage: { input_tokens: 10, output_tokens: 1 } } },
  };
  const gemini = (id: string): object => ({
    ...{ id, type: "gemini", timestamp: "2026-01-02T00:00:00Z", model: "m", content: id },
    tokens: { input: 10, output: 1 },
  });
  const opencode = (id: string): object => {
    const tokens = { input: 10, output: 1, cache: { read: 0, write: 0 } };
    return { info: { id, role: "assistant", modelID: "m", tokens }, parts: [{ type: "text", text: id }] };
  };

  it.each([
    ["of pi's other branch", [piAnswer("a", null, 10), piAnswer("b", "a", 10), piAnswer("c", "a", 10)], 2],
    [
      "that Codex rolled back, or made for itself",
      [
        { type: "session_meta", payload: { id: "s" } },
        ...[item("user", "go"), item("assistant", "wrong"), used(1)],
        { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 1 } },
        ...[item("user", "again"), item("assistant", "right"), used(2), used(3)],
      ],
      1,
    ],
    [
      "that Codex made for itself, of a file without totals",
      [
        { type: "session_meta", payload: { id: "s" } },
        ...[item("user", "go"), item("assistant", "done"), withoutTotal, withoutTotal, withoutTotal],
      ],
      1,
    ],
    [
      "that Gemini CLI rewound",
      [{ sessionId: "g", projectHash: "h" }, gemini("a"), gemini("b"), { $rewindTo: "b" }, gemini("c")],
      2,
    ],
    [
      "that opencode reverted",
      [{ info: { id: "s", revert: { messageID: "b" } }, messages: [opencode("a"), opencode("b"), opencode("c")] }],
      1,
    ],
  ])("are known: those %s", async (_whose, rows, kept) => {
    const text = rows.map((row) => JSON.stringify(row)).join("\n");
    const path = await put(join(await temporaryFolder(), "session.jsonl"), `${text}\n`);
    const [session] = await readTranscripts(path);
    const usage = { input: 10, output: 1 };
    expect(session?.messages.flatMap((message) => message.usage ?? [])).toHaveLength(kept);
    expect(session?.otherCalls).toHaveLength(3 - kept);
    for (const call of session?.otherCalls ?? []) expect(call.usage).toMatchObject(usage);
  });
});

/** A line of Claude Code's. */
function claudeLine(id: string, usage: object, more: object = {}): object {
  return {
    type: "assistant",
    timestamp: "2026-01-02T03:04:05.000Z",
    cwd: "/repo",
    requestId: `req_${id}`,
    ...more,
    message: { id, role: "assistant", model: "claude-sonnet-4-5", content: [], usage },
  };
}

describe("Claude Code", () => {
  it("counts a request once, by its last line, and knows which writes last an hour", async () => {
    const cache = { ephemeral_1h_input_tokens: 70, ephemeral_5m_input_tokens: 30 };
    const usage = { input_tokens: 5, cache_read_input_tokens: 1_000, cache_creation_input_tokens: 100 };
    const [call, ...others] = await usageIn("claude-code", [
      claudeLine("a", { ...usage, cache_creation: cache, output_tokens: 1 }),
      {
        type: "user",
        message: { role: "user", content: 'it printed "usage" and \\"usage\\"' },
        toolUseResult: { usage },
      },
      claudeLine("a", { ...usage, cache_creation: cache, output_tokens: 90 }),
    ]);
    expect(others).toEqual([]);
    expect(call).toMatchObject({
      model: "claude-sonnet-4-5",
      project: "/repo",
      time: Date.UTC(2026, 0, 2, 3, 4, 5),
      ...{ input: 1_105, output: 90, cacheRead: 1_000, cacheWrite: 100, cacheWriteHour: 70 },
    });
  });

  it("counts side chains and answers that were abandoned, and nothing of made-up answers", async () => {
    const calls = await usageIn("claude-code", [
      claudeLine("a", { input_tokens: 10 }),
      claudeLine("b", { input_tokens: 20 }, { isSidechain: true, agentId: "x" }),
      claudeLine("none", { input_tokens: 0, output_tokens: 0 }),
    ]);
    expect(calls.map(({ input, chain }) => [input, chain])).toEqual([
      [10, "main"],
      [20, "side x"],
    ]);
  });

  it("lists a sub-agent whose lines name no folder under its project", async () => {
    const home = await temporaryFolder();
    const line = JSON.stringify(claudeLine("a", { input_tokens: 1 }, { cwd: undefined }));
    await put(join(home, ".claude/projects/-work-repo/s1/subagents/agent-1.jsonl"), line);
    const [place] = await discoverUsage({ home, env: {} });
    expect(await readUsage(place as FoundUsage)).toMatchObject([{ project: "-work-repo", input: 1 }]);
  });

  it("reads lines that are longer than what is read at once, and passes over those that are no JSON", async () => {
    const long = claudeLine("long", { input_tokens: 7 });
    const calls = await usageIn("claude-code", [
      claudeLine("a", { input_tokens: 1 }),
      { ...long, padding: "é".repeat(3_000_000) },
      '{"type":"assistant","message":{"usage"',
      claudeLine("b", { input_tokens: 2 }),
    ]);
    expect(calls.map(({ input }) => input)).toEqual([1, 7, 2]);
  });
});

/** A `token_count` event of Codex. */
function tokenCount(second: number, total: number, last?: object): object {
  const info = { total_token_usage: { input_tokens: total, output_tokens: total / 10 }, last_token_usage: last };
  return { type: "event_msg", timestamp: `2026-01-02T00:00:0${second}Z`, payload: { type: "token_count", info } };
}

describe("Codex", () => {
  it("counts an event told twice once, and follows the model", async () => {
    const turn = (model: string): object => ({ type: "turn_context", payload: { model, cwd: "/elsewhere" } });
    const last = { input_tokens: 100, cached_input_tokens: 60, output_tokens: 10 };
    const calls = await usageIn("codex", [
      { type: "session_meta", payload: { id: "s", cwd: "/repo" } },
      turn("gpt-5.5"),
      tokenCount(1, 100, last),
      tokenCount(2, 100, last),
      turn("gpt-5-mini"),
      tokenCount(3, 250, { input_tokens: 150, output_tokens: 15 }),
      { type: "event_msg", payload: { type: "token_count", info: null } },
    ]);
    expect(calls.map(({ model, input, cacheRead, project }) => [model, input, cacheRead, project])).toEqual([
      ["gpt-5.5", 100, 60, "/repo"],
      ["gpt-5-mini", 150, 0, "/repo"],
    ]);
  });

  it("takes the difference of totals where an event has nothing else", async () => {
    const calls = await usageIn("codex", [tokenCount(1, 100), tokenCount(2, 250)]);
    expect(calls.map(({ input, output }) => [input, output])).toEqual([
      [100, 10],
      [150, 15],
    ]);
  });
});

it("counts an answer of pi once, with what its cache read and kept", async () => {
  const usage = { input: 10, cacheRead: 20, cacheWrite: 3, output: 5 };
  const message = { role: "assistant", model: "claude-sonnet-4-5", usage };
  const answer = { type: "message", id: "a", timestamp: "2026-01-02T00:00:00Z", message };
  const asked = { ...answer, message: { role: "user", usage } };
  const calls = await usageIn("pi", [{ type: "session", cwd: "/repo" }, asked, answer, answer, { ...answer, id: "b" }]);
  const counted = { project: "/repo", model: "claude-sonnet-4-5", input: 33, output: 5, cacheRead: 20, cacheWrite: 3 };
  expect(calls).toMatchObject([counted, counted]);
});

describe("Gemini CLI", () => {
  const record = (id: string, input: number): object => ({
    ...{ id, type: "gemini", timestamp: "2026-01-02T00:00:00Z", model: "gemini-2.5-pro" },
    tokens: { input, output: 5, cached: 2, thoughts: 3 },
  });

  it("counts a record that was written again once, and one that was rewound", async () => {
    const calls = await usageIn("gemini-cli", [record("a", 10), record("a", 12), record("b", 20), { $rewindTo: "b" }]);
    expect(calls.map(({ input, output, cacheRead }) => [input, output, cacheRead])).toEqual([
      [12, 8, 2],
      [20, 8, 2],
    ]);
  });

  it("names the project's folder by the note that the CLI leaves", async () => {
    const home = await temporaryFolder();
    await put(join(home, ".gemini/tmp/repo/.project_root"), "/work/repo\n");
    await put(join(home, ".gemini/tmp/repo/chats/session-1.json"), JSON.stringify({ messages: [record("a", 10)] }));
    await put(join(home, ".gemini/tmp/0b7d/chats/parent/agent.jsonl"), JSON.stringify(record("b", 20)));
    await put(join(home, ".gemini/tmp/0b7d/logs.json"), "[]");
    const found = await discoverUsage({ home, env: {} });
    const projects = await Promise.all(found.map(async (place) => (await readUsage(place))[0]?.project));
    expect(projects.toSorted((left = "", right = "") => left.localeCompare(right))).toEqual(["/work/repo", "0b7d"]);
  });
});

/** An answer as opencode keeps it. */
function answer(id: string, input: number): object {
  return {
    ...{ id, role: "assistant", sessionID: "ses_1", modelID: "claude-sonnet-4-5", path: { cwd: "/repo" } },
    time: { created: 1_767_322_800_000, completed: 1_767_322_801_000 },
    tokens: { input, output: 4, reasoning: 6, cache: { read: 100, write: 50 } },
  };
}

const answered = { model: "claude-sonnet-4-5", project: "/repo", output: 10, cacheRead: 100, cacheWrite: 50 };

describe("opencode", () => {
  it("reads the folders of messages of versions before 1.2", async () => {
    const home = await temporaryFolder();
    const folder = join(home, ".local/share/opencode/storage/message/ses_1");
    await put(join(folder, "msg_1.json"), JSON.stringify({ id: "msg_1", role: "user" }));
    await put(join(folder, "msg_2.json"), JSON.stringify(answer("msg_2", 7)));
    await put(join(folder, "msg_3.json"), "{");
    const [before] = await discoverUsage({ home, env: {} });
    // A part is written behind its message, and may be all that changes.
    const part = JSON.stringify({ type: "text", text: "Hello" });
    await put(join(folder, "../../part/msg_2/prt_1.json"), part);
    const [place, ...others] = await discoverUsage({ home, env: {} });
    expect([place?.path, others]).toEqual([folder, []]);
    expect(place?.bytes).toBe((before?.bytes ?? 0) + part.length);
    const calls = await readUsage(place as FoundUsage);
    expect(calls).toMatchObject([{ ...answered, input: 157, time: 1_767_322_801_000, chain: "ses_1" }]);
  });

  it.skipIf(!driver)("reads the database of later versions, whose process died, and leaves it as it is", async () => {
    const home = await temporaryFolder();
    const said = { type: "text", text: "Hello" };
    const step = (input: number): object[] => [
      { type: "step-start" },
      { type: "step-finish", tokens: { input, output: 1 } },
    ];
    const messages = [
      { info: { id: "msg_1", role: "user" }, parts: [said] },
      { info: answer("msg_2", 7), parts: [said] },
      { info: answer("msg_3", 9), parts: [...step(5), said, ...step(9)] },
    ];
    const file = await openCodeDatabase(join(home, "live"), [JSON.stringify({ info: { id: "ses_1" }, messages })]);
    const database = openDatabase(file);
    database.exec("PRAGMA journal_mode = WAL; INSERT INTO message VALUES ('msg_4', 'ses_1', 9, '{')");
    // The files as they stand while a process has the database open are those that its end by a signal leaves.
    const folder = join(home, "data/opencode");
    cpSync(dirname(file), folder, { recursive: true });
    database.close();
    const contents = (): readonly Buffer[] =>
      ["opencode.db", "opencode.db-wal"].map((name) => readFileSync(join(folder, name)));
    const before = contents();
    const [place] = await discoverUsage({ home, env: { XDG_DATA_HOME: join(home, "data") } });
    const calls = await readUsage(place as FoundUsage);
    expect(calls[0]).toMatchObject({ ...answered, input: 157, chain: "ses_1" });
    expect(calls.slice(1).map(({ input, output }) => [input, output])).toEqual([
      [5, 1],
      [9, 1],
    ]);
    expect(contents()).toEqual(before);
  });
});
