/** Items of the Responses API: steps of many items, windows, and items of other hosts. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { composeWindow, validateWindow } from "windrow";
import type { Message } from "windrow";
import { anthropicAdapter, toAnthropic } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";
import { fromResponses, toResponses } from "windrow/responses";
import type { ResponsesItem } from "windrow/responses";
import { inPlace, openaiResponses } from "../kit/inside/window.ts";
import { faults } from "../providers/openai-responses.ts";

type Item = ResponsesItem & { readonly [field: string]: unknown };

const profile = inPlace(openaiResponses);

const developer: Item = {
  type: "message",
  role: "developer",
  content: [{ type: "input_text", text: "Work on parts." }],
};

/** A job of many answers, each of reasoning, words and two calls that run side by side. */
const job: readonly Item[] = [
  developer,
  { role: "user", content: "Find the slowest of the parts and mend it." },
  ...Array.from({ length: 40 }, (_, turn): readonly Item[] => [
    { type: "reasoning", id: `rs_${turn}`, summary: [], encrypted_content: `gAAAA${turn}` },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: `I read part ${turn}.` }] },
    { type: "function_call", call_id: `a${turn}`, name: "read", arguments: `{"part":${turn}}` },
    { type: "custom_tool_call", call_id: `b${turn}`, name: "run", input: `time ${turn}` },
    { type: "custom_tool_call_output", call_id: `b${turn}`, output: `took ${turn}\n`.repeat(20) },
    { type: "function_call_output", call_id: `a${turn}`, output: `part ${turn}\n`.repeat(40) },
  ]).flat(),
];

describe("an answer of several items", () => {
  it("comes back whole and in its order below the budget", () => {
    const window = composeWindow({ messages: fromResponses(job), profile, budget: 1_000_000 });
    expect(window.report.faults).toEqual([]);
    expect(window.report.repairs).toEqual({});
    const { input } = toResponses(window.messages);
    assert.equal(input.length, job.length);
    input.forEach((item, index) => assert.equal(item, job[index]));
  });

  it.each(["adaptive", "sliding-window", "importance", "layered", "rolling-summary", "entity-state"])(
    "leaves a window whole or not at all: %s",
    (strategy) => {
      let state;
      for (let length = 8; length <= job.length; length += 6) {
        const messages = fromResponses(job.slice(0, length));
        const given = { messages, profile, strategy, budget: 3_000, ...(state && { state }) };
        const window = composeWindow(given);
        state = window.state;
        expect(window.report.faults).toEqual([]);
        const { input } = toResponses<Item>(window.messages);
        expect(faults({ input })).toEqual([]);
        const shown = new Set(window.messages.map(({ id }) => id));
        for (let first = 2; first < length; first += 6) {
          const kept = messages.slice(first + 1, first + 6).filter(({ id }) => shown.has(id));
          assert([0, 5].includes(kept.length), `${kept.length} of the 5 items at ${first} stayed`);
        }
      }
      expect(state?.epoch).toBeGreaterThan(0);
    },
  );

  it("is without the reasoning that an edit before it unbinds, and keeps its items", () => {
    const messages = fromResponses(job);
    const window = composeWindow({ messages, profile, budget: 3_000 });
    const items = toResponses<Item>(window.messages).input;
    assert(items.some(({ type }) => type === "function_call"));
    assert(items.every(({ type }) => type !== "reasoning"));
  });

  it("is one message of chat completions and of the Messages API", () => {
    const messages = fromResponses(job.slice(0, 8));
    const chat = toChat(composeWindow({ messages, profile: "openai-chat", budget: 100_000 }).messages);
    expect(chat.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool"]);
    expect(chat[2]?.tool_calls).toHaveLength(2);
    const { messages: anthropic } = toAnthropic(
      composeWindow({ messages, profile: "anthropic", budget: 100_000 }).messages,
    );
    expect(anthropic.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
});

describe("fromResponses", () => {
  it("keeps the places of the developer's items, beside a prompt that is given", () => {
    const items: readonly Item[] = [
      developer,
      { role: "user", content: "Hi." },
      developer,
      { role: "user", content: "Go." },
    ];
    const window = composeWindow({ messages: fromResponses(items), system: "Be brief.", profile, budget: 10_000 });
    expect(toResponses(window.messages)).toEqual({ instructions: "Be brief.", input: items });
  });

  it("never lets a compaction leave", () => {
    const compaction: Item = { type: "compaction", id: "cmp_1", encrypted_content: "AAAA" };
    const items = [...job.slice(0, 8), compaction, ...job.slice(8)];
    const { input } = toResponses(composeWindow({ messages: fromResponses(items), profile, budget: 3_000 }).messages);
    assert(input.includes(compaction));
  });

  it("refuses an item without a type and a role", () => {
    expect(() => fromResponses([{ content: "Hi." } as ResponsesItem])).toThrowError(/Message 0 .*a type or a role/);
  });
});

describe("toResponses", () => {
  it("writes another host's history so that the API takes it", () => {
    const chat = fromChat([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Look." },
      {
        role: "assistant",
        content: "I look.",
        reasoning_content: "Hm.",
        tool_calls: [{ id: "c:1", type: "function", function: { name: "mcp.read:file", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "c:1", content: "seen" },
    ]);
    const { messages } = composeWindow({ messages: chat, budget: 4_000, profile: "openai-responses" });
    expect(toResponses(messages)).toEqual({
      instructions: "Be brief.",
      input: [
        { type: "message", role: "user", content: "Look." },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "c_1_1gy976jcifg", name: "mcp_read_file", arguments: '{"a":1}' },
        { type: "function_call_output", call_id: "c_1_1gy976jcifg", output: "seen" },
      ],
    });
  });

  it("answers a call of each kind that nothing answered with an output of its kind", () => {
    const items: readonly Item[] = [
      { role: "user", content: "Go." },
      { type: "custom_tool_call", call_id: "a", name: "run", input: "x" },
      { role: "user", content: "Stop." },
      { type: "computer_call", call_id: "b", id: "cu", status: "completed", action: { type: "screenshot" } },
      { role: "user", content: "Stop." },
    ];
    const { messages } = composeWindow({ messages: fromResponses(items), profile, budget: 10_000 });
    expect(validateWindow(messages, profile)).toEqual([]);
    const { input } = toResponses<Item>(messages);
    expect(input.map(({ type, call_id: id }) => [type, id]).filter(([, id]) => id !== undefined)).toEqual([
      ["custom_tool_call", "a"],
      ["custom_tool_call_output", "a"],
      ["computer_call", "b"],
      ["computer_call_output", "b"],
    ]);
    expect(input[5]?.["output"]).toMatchObject({ type: "computer_screenshot" });
  });
});

describe("anthropic messages", () => {
  it("go without lifting where the adapter writes them", () => {
    const system: Message = { id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] };
    expect(anthropicAdapter.encode([system])).toEqual([{ role: "system", content: "Be brief." }]);
  });
});
