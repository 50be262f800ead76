/** LangChain's messages in and out. */
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { fromLangChain, toLangChain } from "windrow/langchain";
import type { LangChainMessage } from "windrow/langchain";
import { transcriptsOf } from "./transcripts.ts";

const [openai, anthropic] = transcriptsOf<LangChainMessage>("langchain").map(({ messages }) => messages);

describe("LangChain's messages", () => {
  it("are what they say: roles, calls, results, reasoning, the model and what it used", () => {
    const [, , answer, failed] = fromLangChain(openai!);
    expect(answer?.model).toBe("gpt-4o");
    expect(answer?.usage).toEqual({ input: 90, output: 9, cacheRead: 64 });
    expect(answer?.parts.map(({ type }) => type)).toEqual(["tool-call", "tool-call"]);
    expect(failed?.parts).toMatchObject([{ type: "tool-result", callId: "c1", isError: true }]);
    const [seen, thought] = fromLangChain(anthropic!);
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
    expect(() => fromLangChain([{ type: "human", content: "Hi" }, value])).toThrow(
      expect.objectContaining({ code: "bad-message", data: { index: 1 } }),
    );
  });
});
