/** Items of the OpenAI Agents SDK in and out: what each becomes, and that nothing of it is lost. */
import { describe, expect, it } from "vitest";
import { validateWindow } from "windrow";
import { groupItems, openaiAgentsAdapter } from "windrow/openai-agents";
import type { AgentItem } from "windrow/openai-agents";
import { adapterConformance, register } from "windrow/testing";
import { openaiResponses } from "../kit/inside/window.ts";

const items = (...values: readonly object[]): readonly AgentItem[] => values as readonly AgentItem[];
const pixel = "data:image/png;base64,iVBORw0KGgo=";

const everyShape = items(
  { type: "message", role: "system", content: "Be brief." },
  { type: "message", role: "user", content: "Look at the picture." },
  {
    role: "user",
    content: [
      { type: "input_text", text: "This one.", promptCacheBreakpoint: { mode: "explicit" } },
      { type: "input_image", image: pixel, detail: "low" },
      { type: "input_image", image: { id: "file-1" } },
      { type: "input_file", file: { url: "https://example.org/a.pdf" }, filename: "a.pdf" },
      { type: "audio", audio: { id: "audio-1" }, transcript: null },
    ],
  },
  {
    type: "reasoning",
    id: "rs_1",
    content: [{ type: "input_text", text: "Which?" }],
    providerData: { encrypted_content: "gAAA" },
  },
  {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    phase: "commentary",
    content: [
      { type: "output_text", text: "Looking.", providerData: { annotations: [] } },
      { type: "refusal", refusal: "No." },
      { type: "output_text", text: "Still." },
    ],
  },
  { type: "function_call", callId: "c1", name: "look", arguments: '{"path": "a.png"}', status: "completed" },
  { type: "function_call", callId: "c2", name: "look", arguments: '{"path":', namespace: "eyes" },
  {
    type: "function_call_result",
    callId: "c1",
    name: "look",
    status: "completed",
    output: { type: "text", text: "A cat." },
  },
  { type: "function_call_result", callId: "c2", name: "look", status: "incomplete", output: "Failed." },
  { type: "reasoning", content: [] },
  {
    type: "reasoning",
    content: [
      { type: "input_text", text: "a" },
      { type: "input_text", text: "b" },
    ],
    rawContent: [],
  },
  { type: "shell_call", callId: "c3", status: "completed", action: { commands: ["ls", "pwd"] } },
  { type: "apply_patch_call", callId: "c5", status: "completed", operation: { type: "delete_file", path: "a" } },
  { type: "program", callId: "c6", code: "1 + 1", fingerprint: "f" },
  {
    type: "shell_call_output",
    callId: "c3",
    output: [{ stdout: "a\nb", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  { type: "apply_patch_call_output", callId: "c5", status: "completed", output: "Done" },
  { type: "program_output", callId: "c6", output: "2", status: "completed" },
  { type: "hosted_tool_call", id: "ws_1", name: "web_search_call", status: "completed", output: "found" },
  { type: "tool_search_call", call_id: "t1", arguments: { query: "mail" } },
  { type: "tool_search_output", call_id: "t1", tools: [] },
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Cats." }] },
  { type: "message", role: "user", content: [] },
  { type: "function_call", callId: "c7", name: "list", arguments: "{}" },
  {
    type: "function_call_result",
    callId: "c7",
    name: "list",
    status: "completed",
    output: [
      { type: "input_text", text: "a" },
      { type: "input_image", image: "https://example.org/a.png" },
    ],
  },
  { type: "compaction", encrypted_content: "sealed" },
  { type: "unknown", providerData: { type: "new_thing" } },
  { type: "message", role: "assistant", status: "completed", content: [] },
);

/** A run of tool calls, each answered at length. */
function longRun(count: number): readonly AgentItem[] {
  const steps = Array.from({ length: count }, (_, index) => [
    { type: "reasoning", id: `rs_${index}`, content: [{ type: "input_text", text: `Step ${index}.` }] },
    { type: "function_call", callId: `c${index}`, name: "read_file", arguments: `{"path":"src/${index % 4}.ts"}` },
    {
      type: "function_call_result",
      callId: `c${index}`,
      name: "read_file",
      status: "completed",
      output: { type: "text", text: `export const value${index} = ${index};\n`.repeat(30) },
    },
  ]);
  return items({ type: "message", role: "user", content: "Read it all." }, ...steps.flat());
}

const transcripts = [
  { name: "every shape", messages: groupItems(everyShape) },
  { name: "a long run", messages: groupItems(longRun(12)) },
  { name: "nothing", messages: [] },
];
register(adapterConformance(openaiAgentsAdapter, transcripts), { describe, it });

describe("openaiAgentsAdapter", () => {
  it("puts what a model answered together in one message", () => {
    const messages = openaiAgentsAdapter.decode(groupItems(everyShape));
    expect(messages.map(({ role }) => role).slice(0, 6)).toEqual([
      "system",
      "user",
      "user",
      "assistant",
      "tool",
      "tool",
    ]);
    expect(messages[3]?.parts.map(({ type }) => type)).toEqual([
      "reasoning",
      "text",
      "opaque",
      "text",
      "tool-call",
      "tool-call",
    ]);
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
    const messages = openaiAgentsAdapter.decode(groupItems([...everyShape, ...seen]));
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
