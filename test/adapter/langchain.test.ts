/** LangChain's messages in and out: what every adapter must hold, over messages as its models and tools write them. */
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { fromLangChain, langchainAdapter, toLangChain } from "windrow/langchain";
import type { LangChainMessage } from "windrow/langchain";
import { adapterConformance, register } from "windrow/testing";

const beside = { additional_kwargs: {}, response_metadata: {} };
const asked = { type: "human", content: "Fix the build.", id: "h1", ...beside };

const call = (id: string, name: string, args: object): object => ({ name, args, id, type: "tool_call" });

const openai = [
  { type: "system", content: "You fix builds.", ...beside },
  asked,
  {
    type: "ai",
    content: "",
    id: "chatcmpl-1",
    name: "model",
    additional_kwargs: { tool_calls: [{ id: "c1", type: "function", function: { name: "run", arguments: "{}" } }] },
    response_metadata: { model_name: "gpt-4o", finish_reason: "tool_calls", tokenUsage: { promptTokens: 90 } },
    tool_calls: [call("c1", "run", {}), call("c2", "read", { path: "a.ts" })],
    invalid_tool_calls: [],
    usage_metadata: { input_tokens: 90, output_tokens: 9, total_tokens: 99, input_token_details: { cache_read: 64 } },
  },
  { type: "tool", content: "FAIL", tool_call_id: "c1", name: "run", id: "t1", status: "error", ...beside },
  { type: "tool", content: [{ type: "text", text: "1: x" }], tool_call_id: "c2", artifact: { lines: 1 }, ...beside },
  { type: "ai", content: "Fixed.", tool_calls: [], invalid_tool_calls: [], ...beside },
];

const anthropic = [
  {
    type: "human",
    content: [
      { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
      { type: "image_url", image_url: "https://example.org/a.png" },
      { type: "image", source_type: "base64", mime_type: "image/png", data: "iVBORw0KGgo=" },
      { type: "file", mimeType: "application/pdf", data: "JVBERi0=", metadata: { filename: "a.pdf" } },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
    ],
    ...beside,
  },
  {
    type: "ai",
    content: [
      { type: "thinking", thinking: "It is a screen.", signature: "sig1" },
      { type: "redacted_thinking", data: "opaque" },
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" }, cache_control: { type: "ephemeral" } },
      { type: "text", text: "And:" },
      { type: "tool_use", id: "toolu_2", name: "read", input: { path: "b" } },
    ],
    id: "msg_1",
    additional_kwargs: { id: "msg_1" },
    response_metadata: { model: "claude-sonnet-4-5", stop_reason: "tool_use" },
    tool_calls: [call("toolu_1", "read", { path: "a" }), call("toolu_2", "read", { path: "b" })],
  },
  { type: "tool", content: "A", tool_call_id: "toolu_1", ...beside },
  { type: "tool", content: "", tool_call_id: "toolu_2", status: "success", ...beside },
  { type: "ai", content: [], ...beside },
  { type: "human", content: [{ type: "text", text: "Go on." }], ...beside },
];

const odd = [
  { type: "generic", role: "critic", content: "Hm." },
  { type: "human", content: "" },
  {
    type: "ai",
    content: [
      { type: "reasoning", reasoning: "Thinking", id: "rs_1" },
      { type: "reasoning", summary: [{ type: "summary_text", text: "Thought" }] },
      { type: "thinking", signature: "only" },
      { type: "tool_call", id: "x", name: "read", args: { path: "a" } },
      { type: "server_tool_call", id: "s", name: "web_search" },
    ],
    tool_calls: [
      { name: "read", args: { path: "a" }, id: "x" },
      { name: "run", args: {} },
    ],
  },
  {
    type: "tool",
    content: [{ type: "image", mimeType: "image/png", url: "https://example.org/b.png" }],
    tool_call_id: "x",
  },
  { type: "function", content: "Done", name: "run" },
];

register(
  adapterConformance(
    langchainAdapter,
    Object.entries({ openai, anthropic, odd }).map(([name, messages]) => ({
      name,
      messages: messages as readonly LangChainMessage[],
    })),
  ),
  { describe, it },
);

describe("LangChain's messages", () => {
  it("are what they say: roles, calls, results, reasoning, the model and what it used", () => {
    const [, , answer, failed] = fromLangChain(openai);
    expect(answer?.model).toBe("gpt-4o");
    expect(answer?.usage).toEqual({ input: 90, output: 9, cacheRead: 64 });
    expect(answer?.parts.map(({ type }) => type)).toEqual(["tool-call", "tool-call"]);
    expect(failed?.parts).toMatchObject([{ type: "tool-result", callId: "c1", isError: true }]);
    const [seen, thought] = fromLangChain(anthropic);
    expect(seen?.parts.map(({ type }) => type)).toEqual(["text", "image", "image", "image", "file", "opaque"]);
    const shapes = ["reasoning", "reasoning", "text", "tool-call", "text", "tool-call"];
    expect(thought?.parts.map(({ type }) => type)).toEqual(shapes);
  });

  it("are read from instances by their fields, an older one's type by its method", () => {
    class Old {
      lc_kwargs = { content: "Hi" };
      lc_namespace = ["langchain_core", "messages"];
      content = "Hi";
      additional_kwargs = {};
      id = undefined;
      _getType(): string {
        return "human";
      }
    }
    const [message] = fromLangChain([new Old() as unknown as LangChainMessage]);
    expect(message).toEqual({
      id: "m1",
      role: "user",
      parts: [{ type: "text", text: "Hi" }],
      extra: { langchain: { additional_kwargs: {} } },
    });
  });

  it("are written for what came from elsewhere, several results as a message each", () => {
    const messages: readonly Message[] = [
      { id: "a", role: "assistant", parts: [{ type: "tool-call", callId: "1", name: "read", args: {} }] },
      {
        id: "b",
        role: "tool",
        parts: [
          { type: "tool-result", callId: "1", name: "read", content: "One" },
          { type: "tool-result", callId: "2", content: [{ type: "text", text: "Two" }], isError: true },
          { type: "image", mediaType: "image/png", data: "AA==" },
        ],
      },
    ];
    expect(toLangChain(messages)).toEqual([
      { type: "ai", content: "", tool_calls: [{ name: "read", args: {}, id: "1", type: "tool_call" }] },
      { type: "tool", content: "One", tool_call_id: "1", name: "read" },
      { type: "tool", content: [{ type: "text", text: "Two" }], tool_call_id: "2", status: "error" },
      { type: "human", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
    ]);
  });

  it.each([
    { type: "remove", id: "h1", content: "" },
    { type: "human", content: 7 },
  ])("refuses %o", (value) => {
    expect(() => fromLangChain([asked, value])).toThrow(
      expect.objectContaining({ code: "bad-message", data: { index: 1 } }),
    );
  });
});
