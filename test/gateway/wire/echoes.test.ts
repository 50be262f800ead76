/** Echoes of answers, messages without reasoning, and errors, as both APIs have them. */
import { describe, expect, it } from "vitest";
import { anthropicMessages, chatCompletions } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";

describe("an echo", () => {
  const call = { type: "tool_use", id: "t", name: "read", input: { a: 1, b: [2] } };
  const thinking = { type: "thinking", thinking: "", signature: "c2ln" };
  const answer = { role: "assistant", content: [thinking, { type: "text", text: "Let me  look.\n" }, call] };

  it("of Anthropic has the same calls, and the same text but for white space", () => {
    const echo = (content: unknown, role = "assistant"): boolean =>
      anthropicMessages.isEcho({ role, content } as never, answer);
    const moved = { ...call, input: { b: [2], a: 1 } };
    expect(echo(answer.content)).toBe(true);
    expect(echo([{ type: "text", text: "Let me look." }, moved])).toBe(true);
    expect(echo(answer.content, "user")).toBe(false);
    expect(echo([{ type: "text", text: "Let me see." }, call])).toBe(false);
    expect(echo([{ type: "text", text: "Let me look." }])).toBe(false);
    expect(
      echo([
        { type: "text", text: "Let me look." },
        { ...call, id: "u" },
      ]),
    ).toBe(false);
    expect(
      echo([
        { type: "text", text: "Let me look." },
        { ...call, input: { a: 1 } },
      ]),
    ).toBe(false);
    expect(
      anthropicMessages.isEcho({ role: "assistant", content: "OK" }, { role: "assistant", content: " OK\n" }),
    ).toBe(true);
  });

  it("of chat has arguments of the same value", () => {
    const of = (content: string | null, args: string): never =>
      ({
        role: "assistant",
        content,
        tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: args } }],
      }) as never;
    expect(chatCompletions.isEcho(of("", '{ "a": 1 }'), of(null, '{"a":1}'))).toBe(true);
    expect(chatCompletions.isEcho(of("", '{"a":2}'), of(null, '{"a":1}'))).toBe(false);
    expect(chatCompletions.isEcho(of("x", '{"a":1}'), of(null, '{"a":1}'))).toBe(false);
    expect(chatCompletions.isEcho(of("", '{"a'), of("", '{"a'))).toBe(true);
  });
});

describe("withoutReasoning", () => {
  it("takes reasoning and nothing else", () => {
    const text = { type: "text", text: "OK" };
    const thinking = { type: "thinking", thinking: "", signature: "c2ln" };
    const bare = { role: "assistant", content: [text] };
    const withoutReasoning = (message: JsonObject): JsonObject => anthropicMessages.withoutReasoning(message);
    expect(withoutReasoning(bare)).toBe(bare);
    expect(withoutReasoning({ role: "assistant", content: [thinking, text, { type: "tool_use", id: "t" }] })).toEqual({
      role: "assistant",
      content: [text, { type: "tool_use", id: "t" }],
    });
    expect(withoutReasoning({ role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, text] })).toEqual({
      role: "assistant",
      content: "OK",
    });
    expect(withoutReasoning({ role: "assistant", content: [thinking] })).toEqual({
      role: "assistant",
      content: "[reasoning]",
    });
  });

  it("takes the members in which chat has it", () => {
    const bare = { role: "assistant", content: "OK" };
    const withoutReasoning = (message: JsonObject): JsonObject => chatCompletions.withoutReasoning(message);
    expect(withoutReasoning(bare)).toBe(bare);
    expect(withoutReasoning({ ...bare, reasoning_content: "hm", reasoning_details: [] })).toEqual(bare);
    expect(withoutReasoning({ role: "assistant", content: null, reasoning: "hm" })).toEqual({
      role: "assistant",
      content: "[reasoning]",
    });
  });
});

describe("an error", () => {
  const bound =
    "messages.2.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";

  it("says that reasoning does not belong to the messages before it", () => {
    expect(anthropicMessages.isPrefixFault(400, JSON.stringify({ error: { message: bound } }))).toBe(true);
    expect(anthropicMessages.isPrefixFault(500, bound)).toBe(false);
    expect(anthropicMessages.isPrefixFault(400, "prompt is too long")).toBe(false);
  });

  it.each([
    [400, "prompt is too long: 214315 tokens > 200000 maximum", true],
    [400, '{"error":{"code":"context_length_exceeded"}}', true],
    [400, '{"error":{"type":"exceed_context_size_error"}}', true],
    [200, "The number of tokens is greater than the context length", true],
    [413, "<html>", true],
    [429, "prompt is too long for your rate limit", false],
    [400, bound, false],
  ])("with status %d says that a request is too long: %s", (status, body, isLong) => {
    expect(chatCompletions.isOverflow(status, body)).toBe(isLong);
    expect(anthropicMessages.isOverflow(status, body)).toBe(isLong);
  });

  it("of the gateway's own has the shape of the API", () => {
    expect(JSON.parse(anthropicMessages.fault(502, 'no "upstream"').body)).toEqual({
      type: "error",
      error: { type: "api_error", message: 'no "upstream"' },
    });
    expect(JSON.parse(chatCompletions.fault(404, "none").body)).toMatchObject({
      error: { message: "none", type: "not_found_error" },
    });
  });
});
