import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../src/message/message.ts";
import { importanceOf } from "../../../src/window/passes/importance.ts";

const say = (text: string, role: Message["role"] = "assistant"): Message => ({
  id: "m",
  role,
  parts: [{ type: "text", text }],
});
const part = (...parts: readonly Part[]): Message => ({ id: "m", role: "assistant", parts });
const call = (name: string, args: Record<string, string> = {}): Part => ({
  type: "tool-call",
  callId: "c",
  name,
  args,
});
const result = (content: string, rest: Partial<Extract<Part, { type: "tool-result" }>> = {}): Message => ({
  id: "m",
  role: "tool",
  parts: [{ type: "tool-result", callId: "c", content, ...rest }],
});
const image: Part = { type: "image", mediaType: "image/png", url: "https://example.org/screen.png" };

describe("seed 000's table", () => {
  it.each([
    ["a plain message", say("I look at the page."), 0.5],
    ["an error result", result("no such element", { isError: true }), 0.8],
    ["an error by its text", result("TypeError: x is not a function\n    at main.ts:3"), 0.8],
    ["an error by its last line", result("Traceback (most recent call last):\n  File a.py\nValueError: bad"), 0.8],
    ["an error in Japanese", say("エラー: ファイルがありません"), 0.8],
    ["an error in a field", result('{"error":"not found"}'), 0.8],
    ["a failed state", result('{"step":3,"status":"failed"}'), 0.8],
    ["no errors", say("There were no errors."), 0.5],
    ["an empty error field", result('{"error":null,"items":[]}'), 0.5],
    ["done, as a call", part(call("done")), 0.8],
    ["done, as an action", part(call("act", { action: "done" })), 0.8],
    ["done, in words", say("Done. The page is open."), 0.8],
    ["完了", say("完了しました"), 0.8],
    ["not done", say("Done is better than perfect"), 0.5],
    ["a think in the planning phase", part(call("think", { phase: "planning" })), 0.7],
    ["a think in another phase", part(call("think", { phase: "verification" })), 0.5],
    ["a screenshot", part(image), 0.6],
    ["a screenshot in a result", result("", { content: [image] }), 0.6],
    ["elementsJson", result("{}", { name: "elementsJson" }), 0.4],
    ["webElements", result("[]", { name: "webElements" }), 0.4],
    ["a planning screenshot", part(call("think", { phase: "planning" }), image), 0.8],
    ["an error twice", part(...say("Error: one").parts, ...say("Error: two").parts), 0.8],
  ])("%s", (_, message, score) => {
    expect(importanceOf([message])).toBe(score);
  });

  it("is clamped to 1, and each factor counts once over a step", () => {
    expect(importanceOf([part(call("done")), result("Error: 404", { isError: true })])).toBe(1);
    expect(importanceOf([part(call("elementsJson")), result("{}")])).toBe(0.4);
  });

  it("takes a host's own number, and other weights", () => {
    expect(importanceOf([{ ...say("x"), extra: { importance: 0.9 } }])).toBe(0.9);
    expect(importanceOf([result("x", { isError: true })], { error: 0.5 })).toBe(1);
  });
});
