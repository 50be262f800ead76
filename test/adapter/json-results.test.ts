/** Results that are JSON values of their hosts: what a window makes of them goes out as a value again. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import { aiSdkAdapter } from "windrow/ai-sdk";
import { chatAdapter } from "windrow/chat";
import { fromContents, toContents } from "windrow/gemini";
import { genkitAdapter } from "windrow/genkit";
import type { JsonObject } from "../kit/inside/message.ts";

type Write = (messages: readonly Message[]) => unknown;

/** By host: a call with the result of a value, and how messages go out. */
const hosts: Readonly<Record<string, (value: JsonObject) => readonly [readonly Message[], Write]>> = {
  "ai-sdk": (value) => {
    const call = { toolCallId: "c", toolName: "bash" };
    const calls = { role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] };
    const output = { type: "json", value };
    const results = { role: "tool", content: [{ type: "tool-result", ...call, output }] };
    return [aiSdkAdapter.decode([calls, results] as never), (messages) => aiSdkAdapter.encode(messages)];
  },
  "genkit": (value) => {
    const call = { name: "bash", ref: "c" };
    const calls = { role: "model", content: [{ toolRequest: { ...call, input: {} } }] };
    const results = { role: "tool", content: [{ toolResponse: { ...call, output: value } }] };
    return [genkitAdapter.decode([calls, results] as never), (messages) => genkitAdapter.encode(messages)];
  },
  "gemini": (value) => {
    const calls = { role: "model", parts: [{ functionCall: { name: "bash", args: {} } }] };
    const results = { role: "user", parts: [{ functionResponse: { name: "bash", response: value } }] };
    return [fromContents([calls, results]), toContents];
  },
  "chat": (value) => {
    const calls = { role: "assistant", content: null, tool_calls: [{ id: "c", name: "bash", args: {} }] };
    const results = { role: "tool", tool_results: [{ tool_call_id: "c", result: value }] };
    return [chatAdapter.decode([calls, results]), (messages) => chatAdapter.encode(messages)];
  },
};

describe.each(Object.entries(hosts))("a result of %s", (_host, stage) => {
  it("goes out without half a surrogate pair, and with all else that it had", () => {
    const given = {
      "half": "\ud83d \ude00 \ud83d\ud83d\ude00",
      "\udc00": "🚀",
      "code": String.raw`\ud83d \\`,
      "n": 1.5,
    };
    const [history, write] = stage(given);
    const begin: Message = { id: "u", role: "user", parts: [{ type: "text", text: "Go." }] };
    const window = composeWindow({ messages: [begin, ...history], budget: 10_000 });
    expect(window.report.repairs).toEqual({ "mended-text": 1 });
    const mended = { "half": "\ufffd \ufffd \ufffd😀", "\ufffd": "🚀", "code": given.code, "n": 1.5 };
    expect(JSON.stringify(write(window.messages))).toContain(JSON.stringify(mended));
    const [whole] = stage(mended);
    expect(composeWindow({ messages: [begin, ...whole], budget: 10_000 }).report.repairs).toEqual({});
  });
});
