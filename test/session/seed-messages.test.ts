/** Messages in the designs' own shapes come in whole: calls without ids, results of any value, calls without an id. */
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SessionManager } from "windrow";
import type { Message } from "windrow";
import { readTranscripts } from "windrow/transcript";
import { resultText, toolCalls, toolResults } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";
import { listed, openManager, openSession } from "../kit/sessions.ts";

const time = "2024-01-15T10:30:01.123Z";
const line = (seq: number, role: string, content: string, fields: object = {}): string =>
  `${JSON.stringify({ seq, role, content, timestamp: time, token_count: 5, ...fields })}\n`;

/** The log of a program that names the function and nothing else. */
const lines = [
  line(1, "system", "You are an AI coding assistant..."),
  line(2, "user", "Fix the bug in..."),
  line(3, "assistant", "I'll help you fix...", {
    function_call: { name: "github_get_file_contents", arguments: '{"path":"a.ts"}' },
  }),
  line(4, "user", "Be quick."),
  line(5, "tool", '{"output":"const a = 1"}', { tool_name: "github_get_file_contents" }),
  line(6, "assistant", "", { function_call: { name: "edit", args: { path: "a.ts" } } }),
  line(7, "tool", '{"output":"done"}', { tool_name: "edit" }),
  line(8, "assistant", "Fixed."),
];

async function seedFolder(text: string): Promise<{ manager: SessionManager; id: string; path: string }> {
  const folder = await newFolder();
  const manager = await openManager({ store: folder, budget: 8_000 });
  const session = await manager.create();
  await session.close();
  const path = join(folder, "running", session.id, "messages.jsonl");
  await appendFile(path, text);
  return { manager, id: session.id, path };
}

function pairs(messages: readonly Message[]): readonly string[] {
  const names = new Map(messages.flatMap(toolCalls).map(({ callId, name }) => [callId, name]));
  return messages.flatMap(toolResults).map((result) => `${names.get(result.callId)}: ${resultText(result)}`);
}

it("pairs a function_call with the result of its name, in the window and in a transcript; the file stays as it is", async () => {
  const { manager, id, path } = await seedFolder(lines.join(""));
  const session = await manager.resume(id);
  const { messages, report } = await session.compose();
  expect(messages.flatMap(toolCalls).map(({ name, args }) => ({ name, args }))).toEqual([
    { name: "github_get_file_contents", args: { path: "a.ts" } },
    { name: "edit", args: { path: "a.ts" } },
  ]);
  expect(pairs(messages)).toEqual(['github_get_file_contents: {"output":"const a = 1"}', 'edit: {"output":"done"}']);
  expect(report.faults).toEqual([]);
  expect(JSON.stringify(messages)).not.toContain("Result without its call");
  const [transcript] = await readTranscripts(path);
  expect(pairs(transcript!.messages)).toEqual(pairs(messages));
  const fork = await manager.fork(id);
  expect(pairs((await fork.compose()).messages)).toEqual(pairs(messages));
  expect(await readFile(path, "utf8")).toBe(lines.join(""));
});

it("pairs calls on lines of their own with the results behind them, by name and order", async () => {
  const call = (seq: number, name: string, path: string): string =>
    line(seq, "assistant", "", { function_call: { name, arguments: JSON.stringify({ path }) } });
  const result = (seq: number, name: string, text: string): string => line(seq, "tool", text, { tool_name: name });
  const text = [
    line(1, "user", "go"),
    call(2, "read", "a.ts"),
    call(3, "list", "src"),
    call(4, "read", "b.ts"),
    result(5, "list", "files of src"),
    result(6, "read", "text of a.ts"),
    result(7, "read", "text of b.ts"),
    line(8, "assistant", "Seen."),
    call(9, "read", "c.ts"),
    call(10, "list", "test"),
    result(11, "list", "files of test"),
  ].join("");
  const { manager, id } = await seedFolder(text);
  const session = await manager.resume(id);
  const { messages, report } = await session.compose();
  const args = new Map(messages.flatMap(toolCalls).map(({ callId, args: given }) => [callId, JSON.stringify(given)]));
  const answers = messages.flatMap(toolResults).map((part) => `${args.get(part.callId)}: ${resultText(part)}`);
  expect(answers).toEqual([
    '{"path":"a.ts"}: text of a.ts',
    '{"path":"src"}: files of src',
    '{"path":"b.ts"}: text of b.ts',
    '{"path":"c.ts"}: [interrupted: no result was recorded for this call]',
    '{"path":"test"}: files of test',
  ]);
  expect(report.faults).toEqual([]);
  expect(JSON.stringify(messages)).not.toContain("without its call");
});

it("leaves a result of another name, and a function_call with no name, for what they are", async () => {
  const { manager, id } = await seedFolder(
    [
      line(1, "user", "go"),
      line(2, "assistant", "", { function_call: { name: "read", arguments: "{}" } }),
      line(3, "tool", "of another", { tool_name: "write" }),
      line(4, "assistant", "odd", { function_call: { arguments: "{}" } }),
    ].join(""),
  );
  const session = await manager.resume(id);
  const { messages } = await session.compose();
  expect(JSON.stringify(messages)).toContain("Result without its call, of write");
  const log = await listed(session.messages());
  expect(log[3]?.extra).toEqual({ function_call: { arguments: "{}" } });
});

it("makes the id of a call that is appended without one, and takes any value as a result", async () => {
  const session = await openSession({ budget: 8_000 });
  await session.append({ role: "user", parts: [{ type: "text", text: "look" }] });
  const asked = await session.append({
    role: "assistant",
    parts: [
      { type: "tool-call", name: "get", args: { url: "a" } },
      { type: "tool-call", name: "get", args: { url: "b" } },
      { type: "tool-call", callId: "own", name: "get", args: {} },
    ],
  });
  const [first, second, own] = toolCalls(asked).map(({ callId }) => callId);
  expect(own).toBe("own");
  expect(new Set([first, second, own]).size).toBe(3);
  await session.append({
    role: "tool",
    parts: [
      { type: "tool-result", callId: first!, content: { code: 404 }, isError: true },
      { type: "tool-result", callId: second!, content: [1, { a: null }] },
      { type: "tool-result", callId: "own", content: [{ type: "text", text: "plain" }] },
    ],
  });
  const { messages } = await session.compose();
  expect(messages.flatMap(toolResults).map(({ content }) => content)).toEqual([
    '{"code":404}',
    '[1,{"a":null}]',
    [{ type: "text", text: "plain" }],
  ]);
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const bad = { role: "tool", parts: [{ type: "tool-result", callId: "x", content: circle }] };
  await expect(session.append(bad as never)).rejects.toMatchObject({ code: "bad-message" });
});
