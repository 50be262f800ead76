/** Gemini's contents: requests, and the signatures a window keeps. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { composeWindow, validateWindow } from "windrow";
import type { Message } from "windrow";
import { fromChat } from "windrow/chat";
import { fromContents, toContents } from "windrow/gemini";
import type { GeminiContent } from "windrow/gemini";
import { toolCalls, toolResults } from "../kit/inside/message.ts";
import { gemini } from "../kit/inside/window.ts";

const user = (text: string): GeminiContent => ({ role: "user", parts: [{ text }] });
const call = (name: string, more: object = {}): object => ({ functionCall: { name, args: {} }, ...more });
const response = (name: string, said: object): object => ({ functionResponse: { name, response: said } });

/** A job of sixty calls, signed as Gemini 3 signs them. */
const long: readonly GeminiContent[] = [
  user("Which part is the slowest?"),
  ...Array.from({ length: 60 }, (_, index): readonly GeminiContent[] => [
    {
      role: "model",
      parts: [{ functionCall: { name: "read", args: { part: index } }, thoughtSignature: `c${index}=` }],
    },
    { role: "user", parts: [response("read", { result: `part ${index}\n`.repeat(40 + index) })] },
  ]).flat(),
];

describe("fromContents", () => {
  it("reads a response of one text as that text, an error as one, and any other as its JSON", () => {
    const messages = fromContents([
      user("Go on."),
      { role: "model", parts: [call("a"), call("b"), call("c")] },
      {
        role: "user",
        parts: [response("a", { result: "one" }), response("b", { error: "two" }), response("c", { x: 1, y: [] })],
      },
    ]);
    const results = messages.flatMap(toolResults);
    expect(results.map(({ content, isError }) => [content, isError])).toEqual([
      ["one", undefined],
      ["two", true],
      ['{"x":1,"y":[]}', undefined],
    ]);
    expect(results.map(({ callId }) => callId)).toEqual(messages.flatMap(toolCalls).map(({ callId }) => callId));
  });

  it("pairs calls without ids beside calls whose own ids look like made ones", () => {
    const contents = [
      user("Go on."),
      { role: "model", parts: [{ functionCall: { id: "call-1", name: "a", args: {} } }, call("a")] },
      {
        role: "user",
        parts: [{ functionResponse: { id: "call-1", name: "a", response: {} } }, response("a", {})],
      },
    ];
    expect(
      validateWindow(fromContents(contents), { ...gemini, rules: { ...gemini.rules, callNeedsSignature: false } }),
    ).toEqual([]);
  });
});

describe("toContents", () => {
  it("puts system messages apart and gives the host its own objects", () => {
    const system: Message = { id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] };
    const given = [user("Hi"), { role: "model", parts: [{ text: "Hello" }] }];
    const { systemInstruction, contents } = toContents([system, ...fromContents(given)]);
    expect(systemInstruction).toEqual({ parts: [{ text: "Be brief." }] });
    assert.equal(contents[0], given[0]);
    assert.equal(contents[1], given[1]);
  });

  it("makes one content of neighbours of one role", () => {
    const { contents } = toContents(
      fromContents([user("One"), user("Two"), { role: "model", parts: [{ text: "3" }] }]),
    );
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "One" }, { text: "Two" }] },
      { role: "model", parts: [{ text: "3" }] },
    ]);
  });

  it("keeps the signature on every call of a window, in budget, and turns alternate", () => {
    const window = composeWindow({ messages: fromContents(long), budget: 4_000, profile: "gemini" });
    const { contents } = toContents(window.messages);
    assert(contents.length < long.length);
    const roles = contents.map(({ role }) => role);
    assert(roles.every((role, index) => role !== roles[index - 1]));
    const calls = contents.flatMap(({ parts = [] }) => parts as readonly Record<string, unknown>[]);
    for (const part of calls.filter(({ functionCall }) => functionCall)) {
      const { args } = part["functionCall"] as { args: { part: number } };
      assert.equal(part["thoughtSignature"], `c${args.part}=`);
    }
  });

  it("writes another provider's history so that Gemini takes it", () => {
    const chat = fromChat([
      { role: "user", content: "Look." },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Hm.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "mcp.read:file", arguments: '["a"]' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "not {json" },
    ]);
    const { messages } = composeWindow({ messages: chat, budget: 4_000, profile: "gemini" });
    expect(toContents(messages).contents).toEqual([
      { role: "user", parts: [{ text: "Look." }] },
      {
        role: "model",
        parts: [
          {
            functionCall: { id: "c1", name: "mcp.read:file", args: { input: ["a"] } },
            thoughtSignature: "skip_thought_signature_validator",
          },
        ],
      },
      {
        role: "user",
        parts: [{ functionResponse: { id: "c1", name: "mcp.read:file", response: { output: "not {json" } } }],
      },
    ]);
  });
});
