/** Messages in the flat form, `{ id, name, args }` and `tool_results`: read whole, windowed, and given back as they came. */
import { expect, it } from "vitest";
import { composeWindow } from "windrow";
import { fromChat, toChat } from "windrow/chat";
import type { ChatMessage } from "windrow/chat";
import { readTranscripts } from "windrow/transcript";
import { toolCalls, toolResults } from "../kit/inside/message.ts";
import { newFolder } from "../cli/stage.ts";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { listed, openSession } from "../kit/sessions.ts";

const timestamp = "2026-01-05T09:00:00.000Z";
const history: readonly ChatMessage[] = [
  { id: "u1", timestamp, role: "user", content: "Compare both." },
  {
    id: "a1",
    timestamp,
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "c1", name: "get", args: { url: "a" } },
      { id: "c2", name: "get", args: { url: "b" } },
    ],
  },
  {
    id: "t1",
    timestamp,
    role: "tool",
    tool_results: [
      { tool_call_id: "c2", result: { code: 404 }, is_error: true },
      { tool_call_id: "c1", result: "found", is_error: false },
    ],
  },
  { id: "a2", timestamp, role: "assistant", content: "b is gone." },
] as readonly object[] as readonly ChatMessage[];

it("pairs calls with results, any JSON value among them, and has a place for everything", () => {
  const messages = fromChat(history);
  expect(messages.flatMap(toolCalls).map(({ callId, name, args }) => [callId, name, args])).toEqual([
    ["c1", "get", { url: "a" }],
    ["c2", "get", { url: "b" }],
  ]);
  expect(messages.flatMap(toolResults).map(({ callId, content, isError }) => [callId, content, isError])).toEqual([
    ["c2", '{"code":404}', true],
    ["c1", "found", undefined],
  ]);
  const { messages: window, report } = composeWindow({ messages, budget: 8_000 });
  expect(report.repairs).toEqual({});
  expect(report.faults).toEqual([]);
  expect(JSON.parse(JSON.stringify(toChat(structuredClone(window)))).map(withOrderedResults)).toEqual(
    history.map(withOrderedResults),
  );
});

/** Results stand in the order of their calls in a window. */
function withOrderedResults(message: ChatMessage): ChatMessage {
  const results = message.tool_results as readonly { readonly tool_call_id: string }[] | undefined;
  if (!results) return message;
  return { ...message, tool_results: results.toSorted((a, b) => a.tool_call_id.localeCompare(b.tool_call_id)) };
}

it.each([
  [{ tool_call_id: "c", result: null, is_error: false }],
  [{ tool_call_id: "c", result: "12", is_error: true }],
  [{ tool_call_id: "c", result: 12 }],
  [{ tool_call_id: "c", result: [1, { a: "b" }], is_error: false, took: 3 }],
  [{ result: "no id" }],
  ["no object"],
])("gives the result %j back as it came, by way of a store", async (entry) => {
  const message = { id: "t", role: "tool", content: null, tool_results: [entry], further: [1] };
  const session = await openSession({ budget: 8_000 });
  await session.append(fromChat([message]));
  expect(toChat(await listed(session.messages()))).toEqual([message]);
});

it("closes an unanswered flat call in the same form", () => {
  const messages = fromChat(history.slice(0, 2));
  const next = fromChat([...history.slice(0, 2), { role: "user", content: "go on" }]);
  const { messages: window } = composeWindow({ messages: next, budget: 8_000 });
  const sent = toChat(window);
  expect(messages).toHaveLength(2);
  expect(sent.filter(({ role }) => role === "tool").map(({ tool_results: results }) => results)).toEqual(
    ["c1", "c2"].map((id) => [{ tool_call_id: id, result: expect.stringContaining("interrupted"), is_error: true }]),
  );
});

it("is read as a transcript too", async () => {
  const file = join(await newFolder(), "session.jsonl");
  await writeFile(file, history.map((message) => JSON.stringify(message)).join("\n"));
  const [transcript] = await readTranscripts(file);
  expect(transcript?.problems).toEqual([]);
  expect(transcript?.messages.flatMap(toolResults).map(({ callId, name }) => [callId, name])).toEqual([
    ["c2", "get"],
    ["c1", "get"],
  ]);
});
