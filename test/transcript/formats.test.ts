import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { messageText } from "../kit/inside/message.ts";
import { encodeMessage } from "../kit/inside/store.ts";
import { piEncoder } from "../kit/inside/transcript.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { driver, openDatabase } from "../kit/sqlite-stores.ts";
import { temporaryFolder, written } from "./files.ts";
import * as fixture from "./fixtures.ts";
import { opencode, openCodeDatabase, openCodeFolder } from "./opencode-sessions.ts";

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

async function read(lines: readonly string[], name = "session.jsonl"): Promise<readonly Transcript[]> {
  return readTranscripts(await written(folder, name, lines.join("\n")));
}
async function readOne(lines: readonly string[]): Promise<Transcript> {
  const [only, ...others] = await read(lines);
  expect(others).toEqual([]);
  if (!only) throw new Error("no session");
  return only;
}
const roles = (messages: readonly Message[]): string => messages.map((message) => message.role).join(" ");

describe("openai-chat", () => {
  it("reads roles, calls, reasoning and results, and keeps all else", async () => {
    const session = await readOne(fixture.openaiChat);
    expect(session.format).toBe("openai-chat");
    expect(session.id).toBe("session");
    expect(roles(session.messages)).toBe("system user assistant tool assistant user");
    expect(session.messages[0]?.extra).toEqual({ role: "developer" });
    expect(session.messages[2]?.parts).toEqual([
      { type: "reasoning", text: "Look it up." },
      { type: "tool-call", callId: "c1", name: "lookup", args: { q: "abc" } },
      { type: "tool-call", callId: "c2", name: "lookup", args: {}, argsText: '{"q":"ab' },
    ]);
    expect(session.messages[3]?.parts).toEqual([{ type: "tool-result", callId: "c1", name: "lookup", content: "ABC" }]);
    // Images, refusals, unknown blocks and unknown fields stay.
    const { messages } = session;
    expect(messages[1]?.parts[1]).toEqual({ type: "image", mediaType: "image/png", data: "QUJD" });
    expect(messages[4]?.parts).toEqual([{ type: "text", text: "I cannot say.", opaque: { refusal: true } }]);
    expect(messages[4]?.extra).toEqual({ service_tier: "default" });
    const data = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    expect(messages[5]?.parts).toEqual([{ type: "opaque", kind: "openai-chat/input_audio", data }]);
  });

  it("reads an array, an object with messages, and one such object a line", async () => {
    const messages = fixture.openaiChat.map((line) => JSON.parse(line) as object);
    const expected = await readOne(fixture.openaiChat);
    for (const text of [JSON.stringify(messages), JSON.stringify({ messages }, null, 2)]) {
      const [session] = await read([text]);
      expect(session?.messages).toEqual(expected.messages);
    }
    const many = await read([JSON.stringify({ messages }), JSON.stringify({ messages })]);
    expect(many.map((session) => session.id)).toEqual(["session", "session-2"]);
    expect(many[1]?.messages).toEqual(expected.messages);
  });

  it("reads the older function_call with its function message", async () => {
    const { messages } = await readOne([
      '{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}',
      '{"role":"function","name":"f","content":"7"}',
    ]);
    expect(messages[0]?.parts).toEqual([{ type: "tool-call", callId: "call-1", name: "f", args: {} }]);
    expect(messages[1]?.parts).toEqual([{ type: "tool-result", callId: "call-1", name: "f", content: "7" }]);
  });
});

describe("windrow", () => {
  it("reads messages as they are, makes ids unique and keeps unknown fields", async () => {
    const { format, messages } = await readOne(fixture.windrow);
    expect(format).toBe("windrow");
    expect(messages.map((message) => message.id)).toEqual(["a", "b", "b#2", "d"]);
    expect(messages[1]?.parts[0]).toEqual({ type: "reasoning", text: "think", signature: "c2ln+/==" });
    expect(messages[1]?.extra).toEqual({ custom: { kept: true } });
    expect(messages[3]?.status).toBe("interrupted");
  });

  it("reads content with flat calls", async () => {
    const { format, messages } = await readOne([
      '{"role":"assistant","content":"x","tool_calls":[{"id":"c","name":"ls","args":{"a":1}}],"id":"q"}',
      '{"role":"tool","content":"y","tool_call_id":"c","is_error":true}',
    ]);
    expect(format).toBe("windrow");
    expect(messages[0]).toMatchObject({ id: "q", parts: [{ text: "x" }, { callId: "c", args: { a: 1 } }] });
    expect(messages[1]?.parts).toEqual([{ type: "tool-result", callId: "c", name: "ls", content: "y", isError: true }]);
  });

  it("reads the lines of a session on disk as they were stored", async () => {
    const stored: Message[] = (await readOne(fixture.windrow)).messages.map((message) => ({
      ...message,
      timestamp: "2026-03-01T10:00:00.000Z",
    }));
    const lines = stored.map((message, index) => {
      const record = { kind: "message" as const, message, tokenCount: 5, timestamp: "2026-03-01T10:00:00.000Z" };
      const { before, after } = encodeMessage(record);
      return JSON.stringify({ seq: index + 1, ...before, pos: index + 1, ...after, crc: "00000000" });
    });
    const session = await readOne(lines);
    expect(session.format).toBe("windrow");
    expect(session.messages).toEqual(stored);
    const torn = await readOne([...lines.slice(0, 2), '{"seq":3,"role":"user","token_count":1}', ...lines.slice(2)]);
    expect(torn.messages).toEqual(stored);
    expect(torn.problems).toMatchObject([{ line: 3 }]);
  });

  it("reports a message that is none, with its line, and goes on", async () => {
    const bad = '{"id":"z","role":"user","parts":[{"type":"text"}]}';
    const session = await readOne([...fixture.windrow.slice(0, 1), bad, ...fixture.windrow.slice(1)]);
    expect(session.messages).toHaveLength(4);
    expect(session.problems.map((problem) => problem.line)).toEqual([2]);
    expect(session.problems[0]?.problem).toContain("not a message");
  });
});

describe("trajectory", () => {
  it("reads one session a line", async () => {
    const [first, second] = await read(fixture.trajectory);
    expect(first).toMatchObject({ id: "t/1", format: "trajectory", model: "m", meta: { agent: "some agent" } });
    expect(first?.messages[1]?.usage).toEqual({ input: 10, output: 1, cacheRead: 7, cacheWrite: 0 });
    expect(first?.messages[1]?.parts[0]).toEqual({ type: "reasoning", text: "hm" });
    expect(first?.messages[2]?.parts[0]).toMatchObject({ callId: "c1", isError: true });
    expect(second?.problems).toHaveLength(1);
  });

  it("pairs results with calls that have no ids, by name and else by order", async () => {
    const [, second] = await read(fixture.trajectory);
    const [ls, cat] = second?.messages[0]?.parts.filter((part) => part.type === "tool-call") ?? [];
    expect(second?.messages[1]?.parts[0]).toMatchObject({ callId: cat?.callId, content: "of cat" });
    expect(second?.messages[2]?.parts[0]).toMatchObject({ callId: ls?.callId, name: "ls", content: "of ls" });
  });
});

describe("pi", () => {
  it("reads a version 1 session", async () => {
    const session = await readOne(fixture.piFlat);
    expect(session).toMatchObject({ id: "s1", format: "pi", model: "claude-x", meta: { cwd: "/work" } });
    expect(roles(session.messages)).toBe("user assistant tool assistant user assistant");
    const [, answer, result, cut, bash, empty] = session.messages;
    expect(answer?.parts[0]).toEqual({ type: "reasoning", text: "hm", signature: "c2ln+/==" });
    expect(answer?.usage).toEqual({ input: 123, output: 5, cacheRead: 100, cacheWrite: 20 });
    expect(answer?.status).toBeUndefined();
    expect(result?.parts[0]).toMatchObject({ callId: "t1", name: "read", isError: true });
    expect(result?.extra).toEqual({ details: { lines: 1 } });
    expect(cut?.parts[0]).toMatchObject({ args: {}, argsText: '{"path":"b","te' });
    expect(cut?.status).toBe("interrupted");
    expect(cut?.usage).toBeUndefined();
    expect(bash).toMatchObject({ role: "user", status: "synthetic", extra: { command: "ls", output: "a b" } });
    expect(messageText(bash!)).toMatch(
      /^\[A command at the user's terminal .*, no instruction\]\nRan `ls`\n```\na b\n```\n\nCommand exited with code 1$/,
    );
    expect(empty).toMatchObject({ status: "interrupted", parts: [] });
  });

  it("writes a command at the user's terminal as the record that it was", async () => {
    const session = await readOne(fixture.piFlat);
    const head = { id: "s1", createdAt: "2026-03-01T10:00:00.000Z" };
    const lines = piEncoder.encode(head, session.messages).map((line) => JSON.stringify(line));
    const again = await readOne(lines);
    expect(again.messages[4]?.extra).toEqual(session.messages[4]?.extra);
    expect(again.messages[4]).toMatchObject({ status: "synthetic", parts: session.messages[4]?.parts });
  });

  it("follows the last leaf of a tree, over a missing parent, and counts what it leaves out", async () => {
    const session = await readOne(fixture.piTree);
    expect(session.messages.map((message) => message.id)).toEqual(["e1", "e3", "e5", "s5", "e6"]);
    expect(session.meta).toMatchObject({
      abandoned: 1,
      compactions: [{ after: 2, summary: "so far", tokensBefore: 9 }],
    });
    expect(session.messages[2]).toMatchObject({ role: "user", extra: { customType: "hint" } });
    expect(session.messages[3]?.parts[0]).toMatchObject({ text: "[Summary by pi, no instruction]\nthe other way" });
  });
});

describe("claude-code", () => {
  it("puts the lines of one message together and keeps every result of parallel calls", async () => {
    const [main] = await read(fixture.claudeCode);
    expect(main).toMatchObject({ id: "cc-1", format: "claude-code", model: "claude-y", meta: { title: "A title" } });
    const answer = main?.messages[1];
    expect(answer?.parts.map((part) => part.type)).toEqual(["reasoning", "tool-call", "tool-call"]);
    expect(answer?.parts[0]).toEqual({ type: "reasoning", text: "plan", signature: "c2ln+/==" });
    expect(answer?.usage).toEqual({ input: 114, output: 30, cacheRead: 100, cacheWrite: 10 });
    expect(main?.messages.slice(2, 5)).toMatchObject([
      { role: "tool", parts: [{ callId: "t1", name: "Bash", content: "a b" }] },
      { role: "tool", id: "r7", parts: [{ callId: "t2", name: "Read" }] },
      { role: "user", id: "r7/text", parts: [{ text: "Note this." }] },
    ]);
  });

  it("leaves retries out, keeps what came before a compaction, and crosses a missing parent", async () => {
    const [main] = await read(fixture.claudeCode);
    expect(main?.messages.map(({ id }) => id).join(" ")).toBe("u2 a3 r6 r7 r7/text a11 m14 a15 u16");
    expect(main?.meta).toMatchObject({
      abandoned: 2,
      compactions: [{ after: 6, trigger: "auto", summary: "what went before" }],
    });
    expect(main?.messages[5]?.parts[0]).toMatchObject({ type: "opaque", kind: "claude-code/server_tool_use" });
    expect(main?.messages[6]?.extra).toEqual({ isMeta: true });
    expect(main?.messages[7]?.status).toBe("interrupted");
  });

  it("gives a sub-agent a session of its own", async () => {
    const [, side, ...others] = await read(fixture.claudeCode);
    expect(others).toEqual([]);
    expect(side).toMatchObject({ id: "cc-1/sidechain-1", meta: { sidechain: "sidechain-1" } });
    expect(roles(side?.messages ?? [])).toBe("user assistant");
  });

  it("joins a message whose blocks go on after a result, and takes a repeated block once", async () => {
    const [u, a, b, r] = [fixture.claudeCode[2], fixture.claudeCode[4], fixture.claudeCode[5], fixture.claudeCode[6]];
    const { messages } = await readOne([u, a, r, b, b].filter((line) => line !== undefined));
    expect(roles(messages)).toBe("user assistant tool");
    expect(messages[1]?.parts.map((part) => part.type)).toEqual(["tool-call", "tool-call"]);
  });
});

describe("codex", () => {
  it("reads one answer as one message and takes usage, aborts and roll-backs from the events", async () => {
    const session = await readOne(fixture.codex);
    expect(session).toMatchObject({ id: "cx-1", format: "codex", model: "gpt-z" });
    expect(roles(session.messages)).toBe("system user assistant tool tool assistant");
    const answer = session.messages[2];
    expect(answer?.parts).toMatchObject([
      { type: "reasoning", text: "plan", signature: "gAAA+/==" },
      { type: "tool-call", callId: "k1", name: "shell", args: { command: ["ls"] } },
      { type: "tool-call", callId: "k2", name: "apply_patch", args: { input: "*** Begin" } },
    ]);
    expect(answer?.usage).toEqual({ input: 50, output: 10, cacheRead: 40, reasoning: 5 });
    expect(session.messages[4]?.parts[0]).toMatchObject({ content: "no", isError: true });
    expect(session.messages[5]).toMatchObject({
      status: "interrupted",
      parts: [{ name: "local_shell", args: { command: ["pwd"] } }, { kind: "codex/web_search_call" }],
    });
    expect(session.meta).toMatchObject({ abandoned: 2, compactions: [{ after: 5, summary: "so far" }] });
  });

  it("reads the flat lines of early versions", async () => {
    const session = await readOne(fixture.codexFlat);
    expect(session.id).toBe("cx-0");
    expect(roles(session.messages)).toBe("user assistant tool assistant");
    expect(session.problems).toEqual([]);
  });
});

describe("anthropic", () => {
  it("reads Cline's history: its times, models and counts, and results apart from words", async () => {
    const text = `[${fixture.cline.join(",")}]`;
    const [session] = await read([text], "api_conversation_history.json");
    expect(session).toMatchObject({ id: "api_conversation_history", format: "anthropic", model: "claude-z" });
    expect(session?.messages).toEqual((await readOne(fixture.cline)).messages);
    expect(roles(session?.messages ?? [])).toBe("user assistant tool user assistant");
    const [, answer, tool, , last] = session?.messages ?? [];
    expect(answer).toMatchObject({
      timestamp: "2026-03-01T10:00:02.000Z",
      usage: { input: 120, output: 9, cacheRead: 100 },
      extra: { modelInfo: { mode: "act" }, metrics: { cost: 0.01 } },
    });
    expect(answer?.parts).toEqual([
      { type: "reasoning", text: "hm", signature: "c2ln+/==" },
      { type: "text", text: "Looking.", opaque: { reasoning_details: [] } },
      { type: "tool-call", callId: "t1", name: "read_file", args: { path: "a" } },
    ]);
    expect(tool?.parts).toEqual([{ type: "tool-result", callId: "t1", name: "read_file", content: "body" }]);
    expect(last?.parts).toMatchObject([{ type: "opaque", kind: "anthropic/hosted_tool" }]);
  });
});

describe("files that look like another's", () => {
  it("takes chat messages for chat, also with times, and where a call comes late", async () => {
    const plain = Array.from({ length: 60 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `m${at}`,
      ts: 1,
    }));
    const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
    const late = [
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "x" },
    ];
    const session = await readOne([JSON.stringify([...plain, ...late])]);
    expect([session.format, session.problems, session.messages.length]).toEqual(["openai-chat", [], 62]);
    expect(session.messages[61]?.parts[0]).toMatchObject({ type: "tool-result", callId: "c1" });
    const thought = { role: "assistant", content: "Yes.", reasoning_content: "Hm.", ts: 1 };
    const [chat] = await read([JSON.stringify([{ role: "user", content: "Go.", ts: 1 }, thought])]);
    expect(chat?.messages[1]?.parts).toContainEqual({ type: "reasoning", text: "Hm." });
  });

  it("keeps the fields beside the messages of a request, and skips a message that is none", async () => {
    const use = { type: "tool_use", id: "t1", name: "read", input: {} };
    const result = { type: "tool_result", tool_use_id: "t1", content: { a: 1 } };
    const messages = [
      { role: "user", content: "Go." },
      { role: "assistant", content: [use] },
      { role: "assistant", type: "reasoning" },
      { role: "user", content: [result] },
    ];
    const session = await readOne([JSON.stringify({ session_id: "S1", model: "a", system: "Be brief.", messages })]);
    expect(session).toMatchObject({ format: "anthropic", id: "S1", model: "a", meta: { system: "Be brief." } });
    expect(session.problems.length).toBe(1);
    expect(session.messages[2]?.parts[0]).toMatchObject({ type: "tool-result", content: '{"a":1}' });
  });
});

describe("qwen-code", () => {
  it("reads the branch of the last record, and counts what it leaves out", async () => {
    const session = await readOne(fixture.qwenCode);
    expect(session).toMatchObject({ id: "q-1", format: "qwen-code", model: "qwen3", problems: [] });
    expect(session.messages.map(({ id, role }) => `${id} ${role}`).join(", ")).toBe(
      "u1 user, a2 assistant, r3 tool, a6 assistant",
    );
    expect(session.messages[1]).toMatchObject({
      usage: { input: 100, output: 12, reasoning: 7 },
      parts: [
        { type: "reasoning", text: "hm", signature: "c2ln+/==" },
        { callId: "k1", name: "ls", args: { path: "." } },
      ],
    });
    expect(session.messages[2]?.parts).toEqual([
      { type: "tool-result", callId: "k1", name: "ls", content: "no", isError: true },
    ]);
    expect(session.meta).toMatchObject({
      ...{ cwd: "/work", version: "0.9.0", title: "A look", abandoned: 1 },
      compactions: [{ after: 3, originalTokenCount: 9 }],
    });
    expect(session.otherCalls).toMatchObject([{ usage: { input: 9, output: 1 } }]);
  });
});

describe("opencode", () => {
  const places = [
    ["export", (data: string) => written(data, "export.jsonl", opencode.join("\n"))],
    ["folder", (data: string) => openCodeFolder(data, opencode)],
    ...(driver ? [["database", (data: string) => openCodeDatabase(data, opencode)] as const] : []),
  ] as const;

  it.each(places)("reads the %s", async (_name, place) => {
    const [session, agent, ...others] = await readTranscripts(await place(await temporaryFolder()));
    if (!session) throw new Error("no session");
    const { messages, ...about } = session;
    expect([others, agent]).toMatchObject([
      [],
      { id: "ses_a", meta: { parentID: "ses_b" }, messages: [{ id: "msg_7" }] },
    ]);
    expect(about).toEqual({
      ...{ id: "ses_b", format: "opencode", model: "claude-x", problems: [] },
      meta: { cwd: "/work", title: "Tests", version: "1.2.0", abandoned: 1 },
    });
    expect(messages.map(({ id, role, status }) => [id, role, ...(status ? [status] : [])].join(" "))).toEqual([
      ...["msg_1 user", "msg_2 assistant", "msg_2/results tool", "msg_2#2 assistant", "msg_2/results#2 tool"],
      ...["msg_3 user synthetic", "msg_4 assistant", "msg_5 assistant interrupted"],
    ]);
    const image = { type: "image", mediaType: "image/png", data: "QUJD" };
    expect(messages[0]).toMatchObject({
      timestamp: "2026-03-01T10:00:01.000Z",
      parts: [
        { type: "text", text: "Mend a.txt" },
        { type: "text", text: "Called the Read tool" },
        { type: "opaque", kind: "opencode/file", data: { url: "file:///work/a.txt" } },
        image,
      ],
    });
    expect(messages[0]?.extra).toEqual({ time: { created: 1_772_359_201_000 } });
    const [call, result] = ["tool-call", "tool-result"].map((type) => ({ type, name: "bash" }));
    expect(messages.slice(1, 5).map(({ parts }) => parts)).toMatchObject([
      [
        { type: "reasoning", text: "Look.", signature: "c2ln+/==" },
        { ...call, callId: "c1", args: { command: "ls" } },
      ],
      [{ ...result, callId: "c1", content: "no", isError: true }],
      [{ ...call, callId: "c2" }],
      [{ ...result, callId: "c2", content: [{ type: "text", text: "an image" }, image] }],
    ]);
    const used = { output: 10, reasoning: 6, cacheRead: 100, cacheWrite: 50 };
    expect(messages.flatMap(({ usage }) => usage ?? [])).toEqual([
      { ...used, input: 157 },
      { ...used, input: 159 },
      { ...used, input: 170 },
    ]);
    expect(messages.at(-1)?.parts).toMatchObject([
      { text: "Now" },
      { ...call, callId: "c3", args: { command: "npm test" } },
      { ...call, callId: "c4", args: {}, argsText: '{"comm' },
    ]);
  });

  it.skipIf(!driver)("refuses a database of another program by what it is", async () => {
    const path = join(await temporaryFolder(), "other.db");
    const database = openDatabase(path);
    database.exec("CREATE TABLE message (id TEXT)");
    database.close();
    await expect(readTranscripts(path)).rejects.toMatchObject({ code: "not-a-transcript" });
    await written(dirname(path), "text.db", "no database");
    await expect(readTranscripts(join(dirname(path), "text.db"))).rejects.toMatchObject({ code: "input-unreadable" });
  });
});
