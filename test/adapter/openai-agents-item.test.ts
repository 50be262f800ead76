/** Items of the OpenAI Agents SDK in and out: what each becomes, and that nothing of it is lost. */
import { describe, expect, it } from "vitest";
import { validateWindow } from "windrow";
import { groupItems, openaiAgentsAdapter } from "windrow/openai-agents";
import type { AgentItem } from "windrow/openai-agents";
import { openaiResponses } from "../kit/inside/window.ts";
import { transcriptOf } from "./transcripts.ts";

const items = (...values: readonly object[]): readonly AgentItem[] => values as readonly AgentItem[];
const pixel = "data:image/png;base64,iVBORw0KGgo=";

const everyShape = transcriptOf<readonly AgentItem[]>("openai-agents", "every shape");

describe("openaiAgentsAdapter", () => {
  it("puts what a model answered together in one message", () => {
    const messages = openaiAgentsAdapter.decode(everyShape);
    expect(
      messages
        .map(({ role }) => role)
        .slice(0, 6)
        .join(),
    ).toBe("system,user,user,assistant,tool,tool");
    const types = messages[3]?.parts.map(({ type }) => type).join();
    expect(types).toBe("reasoning,text,opaque,text,tool-call,tool-call");
    expect(messages[3]?.parts[4]).toMatchObject({ args: { path: "a.png" }, argsText: '{"path": "a.png"}' });
    expect(messages[4]?.parts[0]).toMatchObject({ callId: "c1", content: "A cat." });
    const valid = { ...openaiResponses, rules: { ...openaiResponses.rules, noEmptyContent: false } };
    expect(validateWindow(messages, valid)).toEqual([]);
  });

  it("leaves what an API takes where the result of a built-in tool left the window", () => {
    const seen = items(
      { type: "computer_call", callId: "c4", status: "completed", action: { type: "screenshot" } },
      { type: "computer_call_result", callId: "c4", output: { type: "computer_screenshot", data: pixel } },
    );
    const messages = openaiAgentsAdapter.decode([...everyShape, ...groupItems(seen)]);
    const stored = JSON.parse(JSON.stringify(messages)) as typeof messages;
    expect(openaiAgentsAdapter.encode(stored).flat().slice(-2)).toEqual(seen);
    const edited = messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) => (part.type === "tool-result" ? { ...part, content: "[gone]" } : part)),
    }));
    const written = openaiAgentsAdapter.encode(edited).flat() as readonly { type?: string; output?: unknown }[];
    const outputOf = (type: string): unknown => written.find((item) => item.type === type)?.output;
    expect(outputOf("shell_call_output")).toEqual([
      { stdout: "[gone]", stderr: "", outcome: { type: "exit", exitCode: 0 } },
    ]);
    expect(outputOf("computer_call_result")).toMatchObject({ type: "computer_screenshot" });
    expect(outputOf("apply_patch_call_output")).toBe("[gone]");
  });

  it("writes messages of other origin as items", () => {
    const written = openaiAgentsAdapter.encode([
      { id: "a", role: "user", parts: [{ type: "text", text: "Hi" }] },
      {
        id: "b",
        role: "assistant",
        parts: [
          { type: "text", text: "One" },
          { type: "tool-call", callId: "c", name: "t", args: {} },
        ],
      },
      { id: "d", role: "tool", parts: [{ type: "tool-result", callId: "c", name: "t", content: "ok" }] },
    ]);
    expect(written.flat()).toEqual([
      { type: "message", role: "user", content: "Hi" },
      { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "One" }] },
      { type: "function_call", callId: "c", name: "t", arguments: "{}" },
      {
        type: "function_call_result",
        status: "completed",
        name: "t",
        callId: "c",
        output: { type: "text", text: "ok" },
      },
    ]);
  });
});
