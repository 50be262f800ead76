/** Echoes of answers, messages without reasoning, and errors, as all APIs have them. */
import { describe, expect, it } from "vitest";
import type { WireApi } from "windrow/gateway";
import { anthropicMessages, chatCompletions, responsesApi } from "../../kit/inside/gateway.ts";
import type { JsonObject } from "../../kit/inside/message.ts";
import { apis } from "./stage.ts";
import type { ApiName } from "./stage.ts";

const assistant = (content: unknown): JsonObject => ({ role: "assistant", content }) as JsonObject;
const text = (words: string): JsonObject => ({ type: "text", text: words });
const call = { type: "tool_use", id: "t", name: "read", input: { a: 1, b: [2] } };
const thinking = { type: "thinking", thinking: "", signature: "c2ln" };
const answer = assistant([thinking, text("Let me  look.\n"), call]);
const looked = text("Let me look.");

const chat = (content: string | null, args: string): JsonObject => ({
  ...assistant(content),
  tool_calls: [{ id: "c", type: "function", function: { name: "read", arguments: args } }],
});

const called = { type: "function_call", call_id: "c", name: "read", arguments: '{"a":1}' };
const sealed = { type: "reasoning", summary: [], encrypted_content: "AAAA" };
const look = assistant("I look, grün.");

const functionCall = { functionCall: { name: "read", args: { a: 1 } }, thoughtSignature: "c2ln" };
const model = (...parts: readonly object[]): JsonObject => ({ role: "model", parts }) as JsonObject;
const thought = { text: "I think so.", thought: true };
const said = model(thought, { text: "I look, grün." }, functionCall, { text: "", thoughtSignature: "ZW5k" });
const sent = [{ text: "I look,\n" }, { text: "grün." }, { functionCall: { id: "x", args: { a: 1 }, name: "read" } }];

const tool_calls = ["a", "b"].map((path) => ({ function: { name: "read", arguments: { path } } }));
const ollama = { role: "assistant", content: "I look.", thinking: "Hm.", tool_calls };

it.each<readonly [string, ApiName, JsonObject, JsonObject, boolean]>([
  ["the same", "anthropic", answer, answer, true],
  [
    "other white space, members in another order",
    "anthropic",
    assistant([looked, { ...call, input: { b: [2], a: 1 } }]),
    answer,
    true,
  ],
  ["the user's", "anthropic", { ...answer, role: "user" }, answer, false],
  ["another text", "anthropic", assistant([text("Let me see."), call]), answer, false],
  ["no call", "anthropic", assistant([looked]), answer, false],
  ["another id", "anthropic", assistant([looked, { ...call, id: "u" }]), answer, false],
  ["another input", "anthropic", assistant([looked, { ...call, input: { a: 1 } }]), answer, false],
  ["a trimmed text", "anthropic", assistant("OK"), assistant(" OK\n"), true],
  ["arguments written anew", "chat", chat("", '{ "a": 1 }'), chat(null, '{"a":1}'), true],
  ["other arguments", "chat", chat("", '{"a":2}'), chat(null, '{"a":1}'), false],
  ["another text", "chat", chat("x", '{"a":1}'), chat(null, '{"a":1}'), false],
  ["broken arguments", "chat", chat("", '{"a'), chat("", '{"a'), true],
  ["text with other white space", "responses", assistant("I look,  grün. "), look, true],
  ["another text", "responses", assistant("I see."), look, false],
  ["the user's text", "responses", { ...look, role: "user" }, look, false],
  [
    "arguments written anew",
    "responses",
    { ...called, arguments: '{ "a": 1 }', extra: { turn_id: "t" } },
    called,
    true,
  ],
  ["another call", "responses", { ...called, call_id: "d" }, called, false],
  ["the same seal", "responses", { type: "reasoning", encrypted_content: "AAAA" }, sealed, true],
  ["another seal", "responses", { ...sealed, encrypted_content: "B" }, sealed, false],
  ["other parts without thoughts", "gemini", model(...sent), said, true],
  ["no call", "gemini", model(...sent.slice(0, 2)), said, false],
  ["the user's", "gemini", { ...model(...sent), role: "user" }, said, false],
  ["no thinking", "ollama", { ...assistant("I look."), tool_calls }, ollama, true],
  ["no call", "ollama", assistant("I look."), ollama, false],
])("an answer comes back as %s: %s", (_what, api, echo, given, isIt) => {
  expect(apis[api].isEcho(echo, given)).toBe(isIt);
});

const placeholder = expect.stringMatching(/\S/) as string;
const plain = model({ text: "hi" });
const ok = assistant([text("OK")]);

it.each<readonly [ApiName, JsonObject, JsonObject]>([
  ["anthropic", ok, ok],
  ["anthropic", assistant([thinking, text("OK"), call]), assistant([text("OK"), call])],
  ["anthropic", assistant([{ type: "redacted_thinking", data: "x" }, text("OK")]), assistant("OK")],
  ["anthropic", assistant([thinking]), assistant("[reasoning]")],
  ["chat", look, look],
  ["chat", { ...look, reasoning_content: "hm", reasoning_details: [] }, look],
  ["chat", { ...assistant(null), reasoning: "hm" }, assistant("[reasoning]")],
  ["gemini", said, model(...(said["parts"] as JsonObject[]).slice(1))],
  ["gemini", plain, plain],
  ["gemini", model({ text: "Hm.", thought: true }), model({ text: placeholder })],
  ["ollama", ollama, { ...assistant("I look."), tool_calls }],
])("%s takes reasoning and nothing else of %j", (api, message, rest) => {
  const told = apis[api].withoutReasoning(message);
  expect(told).toEqual(rest);
  expect(told === message).toBe(message === rest);
});

describe("an error", () => {
  const bound =
    "messages.2.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
  const unverified = "The encrypted content gAAA could not be verified.";
  const lone = "was provided without its required";

  it.each<readonly [ApiName, number, string, boolean]>([
    ["anthropic", 400, bound, true],
    ["anthropic", 500, bound, false],
    ["anthropic", 400, "prompt is too long", false],
    ["responses", 400, unverified, true],
    ["responses", 400, `Item 'fc_1' of type 'function_call' ${lone} 'reasoning' item: 'rs_1'.`, true],
    ["responses", 400, `Item 'rs_1' of type 'reasoning' ${lone} following item.`, true],
    ["responses", 400, "Unknown parameter.", false],
    ["responses", 500, unverified, false],
  ])("of %s says that reasoning does not belong to the messages before it: %d %s", (api, status, message, isFault) => {
    expect(apis[api].isPrefixFault(status, JSON.stringify({ error: { message } }))).toBe(isFault);
  });

  it.each([
    [400, "prompt is too long: 214315 tokens > 200000 maximum", true],
    [400, '{"error":{"code":"context_length_exceeded"}}', true],
    [400, '{"error":{"type":"exceed_context_size_error"}}', true],
    [200, "The number of tokens is greater than the context length", true],
    [400, "The input (210000 tokens) is longer than the model's context length (200000 tokens).", true],
    [400, "Input length (210000 tokens) exceeds the maximum allowed length (200000 tokens).", true],
    [400, "The decoder prompt (length 88049) is longer than the maximum model length of 32768.", true],
    [422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.", true],
    [400, "Trying to keep the first 15857 tokens when context the overflows.", true],
    [400, "InvalidParameter: Range of input length should be [1, 98304]", true],
    [400, '{"error":{"code":"1261","message":"Prompt exceeds max length"}}', true],
    [400, "max_tokens is too large: 200000. This model supports at most 128000 completion tokens.", false],
    [413, "<html>", true],
    [429, "prompt is too long for your rate limit", false],
    [400, bound, false],
  ])("with status %d says that a request is too long: %s", (status, body, isLong) => {
    for (const api of [anthropicMessages, chatCompletions, responsesApi])
      expect(api.isOverflow(status, body)).toBe(isLong);
  });

  it("of the gateway's own has the shape of the API", () => {
    const told = (api: WireApi, status: number): unknown => JSON.parse(api.fault(status, 'no "upstream"').body);
    const message = 'no "upstream"';
    expect(told(anthropicMessages, 502)).toEqual({ type: "error", error: { type: "api_error", message } });
    expect(told(chatCompletions, 404)).toMatchObject({ error: { message, type: "not_found_error" } });
  });
});
