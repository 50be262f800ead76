import { describe, expect, it } from "vitest";
import type { Part } from "windrow";
import { countTools, estimate } from "windrow/testing";
import {
  chars4Ceil,
  chars4Floor,
  counterNames,
  counterOf,
  countMessage,
  countPart,
  isExactName,
} from "../kit/inside/tokens.ts";

describe("chars4", () => {
  it("rounds up in chars4-ceil and down in chars4-floor", () => {
    expect(["", "a", "abcd", "abcde", "abcdefgh"].map((text) => chars4Ceil.count(text))).toEqual([0, 1, 1, 2, 2]);
    expect(["", "a", "abcd", "abcde", "abcdefgh"].map((text) => chars4Floor.count(text))).toEqual([0, 1, 1, 1, 2]);
  });

  it("fixes an image at 100 tokens in chars4-ceil alone", () => {
    expect(chars4Ceil.imageTokens).toBe(100);
    expect(chars4Floor.imageTokens).toBeUndefined();
  });

  it("frames nothing: a message costs its characters, by whatever role", () => {
    const result: Part = { type: "tool-result", callId: "1", content: "x".repeat(4_800) };
    expect(countMessage(chars4Floor, { parts: [result] })).toBe(1_200);
    for (const [chars, tokens] of Object.entries({ 1_000: 250, 480: 120, 1_800: 450 })) {
      expect(countMessage(chars4Floor, { parts: [{ type: "text", text: "x".repeat(Number(chars)) }] })).toBe(tokens);
    }
    const tools = [{ name: "read", description: "x".repeat(40) }];
    expect(countTools(chars4Floor, tools)).toBe(Math.floor(JSON.stringify(tools[0]).length / 4));
    expect(countMessage(estimate, { parts: [] })).toBe(4);
    expect(countMessage({ ...estimate, framingTokens: 7 }, { parts: [] })).toBe(7);
  });

  it("counts calls and responses as their JSON in chars4-ceil", () => {
    const call: Part = { type: "tool-call", callId: "1", name: "click", args: { x: 10, y: 20 } };
    const said = (content: string | readonly (typeof image | typeof text)[], isError = false): number =>
      countPart(chars4Ceil, { type: "tool-result", callId: "1", name: "click", content, isError });
    const text = { type: "text", text: "done" } as const;
    const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
    const size = (value: object): number => Math.ceil(JSON.stringify(value).length / 4);
    expect(countPart(chars4Ceil, call)).toBe(size({ name: "click", args: { x: 10, y: 20 } }));
    expect(said('{"success":true}')).toBe(size({ name: "click", response: { success: true } }));
    expect(said("done")).toBe(size({ name: "click", response: { output: "done" } }));
    expect(said("gone", true)).toBe(size({ name: "click", response: { error: "gone" } }));
    expect(said([text, image])).toBe(size({ name: "click", response: { output: "done" } }) + 100);
  });
});

describe("counterOf", () => {
  it("finds every counter by its name, and the estimate by none", () => {
    for (const name of counterNames.filter((known) => !isExactName(known))) expect(counterOf(name).name).toBe(name);
    expect(counterNames).toContain("chars4-ceil");
    expect(counterNames).toContain("chars4-floor");
    expect(counterOf()).toBe(estimate);
  });

  it("takes a counter of one's own, and the same one for the same", () => {
    const own = { name: "words", framingTokens: 2, count: (text: string) => text.split(" ").length };
    expect(counterOf(own)).toMatchObject({ name: "words", framingTokens: 2 });
    expect(counterOf(own).count("one two three")).toBe(3);
    expect(counterOf(own)).toBe(counterOf(counterOf(own)));
  });

  it.each(["estimat", "gpt-4o", "toString", ""])("refuses %j and names those there are", (name) => {
    const message = expect.stringContaining("chars4-floor") as string;
    expect(() => counterOf(name)).toThrow(expect.objectContaining({ code: "unknown-counter", message }));
  });
});
