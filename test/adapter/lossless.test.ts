/** Nothing a provider's message can hold is lost on the way in and out. */
import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Message } from "windrow";
import { fromAnthropic, toAnthropic } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";

function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

describe("fromChat", () => {
  it.each([
    { role: "robot", content: "Hello" },
    { role: "toString", content: "Hello" },
    { content: "Hello" },
    { role: "user", content: 42 },
    { role: "user", content: { type: "text" } },
  ])("refuses %j, with its place", (bad) => {
    const read = (): unknown => fromChat([{ role: "user", content: "Hello" }, bad as never]);
    assert.throws(read, (error) => isWindrowError(error, "bad-message") && error.data["index"] === 1);
  });

  it("leaves out what JSON cannot carry, and gives the very object back all the same", () => {
    const host = { role: "user", content: "x", name: undefined, stop: () => 1, at: new Date(0) };
    const messages = fromChat([host]);
    assert.deepEqual(messages[0]?.extra, { "openai-chat": { at: "1970-01-01T00:00:00.000Z" } });
    assert.equal(toChat(messages)[0], host);
  });

  it("pairs results with calls by order where the host has no ids", () => {
    const [, call, one, two] = fromChat([
      { role: "user", content: "Both" },
      { role: "assistant", tool_calls: [{ function: { name: "a" } }, { function: { name: "b" } }] },
      { role: "tool", content: "first" },
      { role: "tool", content: "second" },
    ]);
    const ids = call?.parts.map((part) => (part.type === "tool-call" ? part.callId : ""));
    const answers = [one, two].map((message) =>
      message?.parts[0]?.type === "tool-result" ? message.parts[0].callId : "",
    );
    assert.deepEqual(answers, ids);
  });
});

describe("toChat", () => {
  it("writes arguments anew only where an edit changed them", () => {
    const text = '{ "path": "a" }';
    const entry = { id: "c", type: "function", function: { name: "read", arguments: text } };
    const [message] = stored(fromChat([{ role: "assistant", content: null, tool_calls: [entry] }]));
    const sent = (parts: Message["parts"]): unknown => {
      const [written] = toChat([{ ...(message as Message), parts }]);
      return (written as { tool_calls: (typeof entry)[] }).tool_calls[0]?.function.arguments;
    };
    assert.equal(sent(message?.parts ?? []), text);
    const edited = message?.parts.map((part) => (part.type === "tool-call" ? { ...part, args: { path: "b" } } : part));
    assert.equal(sent(edited ?? []), '{"path":"b"}');
  });

  it("sends a call that was cut off with no arguments, and says that it has no result", () => {
    const call = { id: "c", type: "function", function: { name: "edit", arguments: '{"path": "src/ma' } };
    const host = [
      { role: "user", content: "Mend it." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "user", content: "Go on." },
      { role: "assistant", content: "Gladly." },
    ];
    const window = composeWindow({ messages: fromChat(host), budget: 4_000 });
    assert.deepEqual(toChat(window.messages), [
      host[0],
      { role: "assistant", content: null, tool_calls: [{ ...call, function: { name: "edit", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "[interrupted: no result was recorded for this call]" },
      host[2],
      host[3],
    ]);
    assert.deepEqual(window.report.repairs, { "mended-text": 1, "closed-call": 1 });
    assert.equal(call.function.arguments, '{"path": "src/ma');
  });

  it("splits a message of several results, and keeps the words beside them", () => {
    const written = toChat([
      {
        id: "m1",
        role: "tool",
        parts: [
          { type: "tool-result", callId: "a", content: "one" },
          {
            type: "tool-result",
            callId: "b",
            content: [
              { type: "text", text: "two" },
              { type: "image", mediaType: "image/png", data: "QUJD" },
            ],
          },
          { type: "text", text: "Be quick." },
        ],
      },
    ]);
    assert.deepEqual(written, [
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "tool", tool_call_id: "b", content: "two\n[image]" },
      { role: "user", content: "Be quick." },
    ]);
  });
});

describe("toAnthropic", () => {
  it("sets the leading system messages apart", () => {
    const text = (words: string): Message["parts"] => [{ type: "text", text: words }];
    const request = toAnthropic([
      { id: "s", role: "system", parts: text("Be brief.") },
      { id: "t", role: "system", parts: text("Be kind.") },
      { id: "u", role: "user", parts: text("Hello") },
      { id: "v", role: "system", parts: text("The plan changed.") },
    ]);
    assert.deepEqual(request, {
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind." },
      ],
      messages: [
        { role: "user", content: "Hello" },
        { role: "system", content: "The plan changed." },
      ],
    });
    assert.equal("system" in toAnthropic([]), false);
  });

  it("puts the results of one answer together, first in the user's message", () => {
    const { messages } = toAnthropic([
      { id: "1", role: "user", parts: [{ type: "text", text: "Both" }] },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "tool-call", callId: "call|1", name: "fs.read", args: [] },
          { type: "tool-call", callId: "call_1", name: "patch", args: "*** Begin" },
        ],
      },
      { id: "3", role: "tool", parts: [{ type: "tool-result", callId: "call|1", content: "one" }] },
      { id: "4", role: "tool", parts: [{ type: "tool-result", callId: "call_1", content: "two", isError: true }] },
      { id: "5", role: "user", parts: [{ type: "text", text: "Go on." }] },
    ]);
    assert.deepEqual(messages, [
      { role: "user", content: "Both" },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "call_1_27he3e9ts9z", name: "fs_read", input: { input: [] } },
          { type: "tool_use", id: "call_1", name: "patch", input: { input: "*** Begin" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1_27he3e9ts9z", content: "one" },
          { type: "tool_result", tool_use_id: "call_1", content: "two", is_error: true },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
  });

  it("sends reasoning only where its provider made it", () => {
    const reasoning = { type: "reasoning", text: "Hm.", signature: "c2ln" } as const;
    const answer = (rest: Partial<Message>): readonly unknown[] =>
      toAnthropic([{ id: "1", role: "assistant", parts: [reasoning, { type: "text", text: "So." }], ...rest }])
        .messages;
    const thinking = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
    assert.deepEqual(answer({ model: "gpt-5" }), [{ role: "assistant", content: [{ type: "text", text: "So." }] }]);
    for (const by of [{ model: "claude-opus-4-1" }, {}])
      assert.deepEqual(answer(by), [{ role: "assistant", content: [thinking, { type: "text", text: "So." }] }]);
    assert.deepEqual(
      toAnthropic([{ id: "1", role: "assistant", parts: [{ type: "reasoning", text: "Hm." }] }]).messages,
      [],
    );
  });

  it("takes messages of the other provider without their fields", () => {
    const messages = fromChat([
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } }],
        name: "mira",
      },
      { role: "assistant", content: "A cat.", refusal: null },
    ]);
    assert.deepEqual(toAnthropic(messages).messages, [
      { role: "user", content: [{ type: "image", source: { type: "url", url: "https://example.org/a.png" } }] },
      { role: "assistant", content: "A cat." },
    ]);
    const other = fromAnthropic([
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] },
    ]);
    assert.deepEqual(toChat(other), [{ role: "user", content: "Hi" }]);
  });
});
