/** What a tool's own JSON may hold that looks like the adapters' marks, or that nothing may walk. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { aiSdkAdapter } from "windrow/ai-sdk";
import type { AiSdkMessage } from "windrow/ai-sdk";
import { mastraAdapter } from "windrow/mastra";

function answered(value: unknown): AiSdkMessage[] {
  const output = { type: "json", value };
  return [
    { role: "user", content: "Look" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "look", output }] },
  ] as AiSdkMessage[];
}

describe.each([aiSdkAdapter, mastraAdapter])("JSON of tools", (adapter) => {
  it.each([[{ "windrow:url": "no address" }], [{ "windrow:bytes": "%%%" }], [{ "windrow:buffer": "a" }]])(
    "that looks like a mark stays as it is: %j",
    (value) => {
      const stored = JSON.parse(JSON.stringify(adapter.decode(answered(value)))) as ReturnType<typeof adapter.decode>;
      expect(JSON.stringify(adapter.encode(stored))).toContain(JSON.stringify(value));
    },
  );

  it("that is too deep or holds itself is refused with a code", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 50_000; level++) deep = [deep];
    const circle: unknown[] = [];
    circle.push(circle);
    for (const value of [deep, circle]) {
      const compose = (): unknown => composeWindow({ messages: adapter.decode(answered(value)), budget: 10_000 });
      expect(compose).toThrowError(expect.objectContaining({ code: "bad-message" }));
    }
  });
});
