import { describe, expect, it } from "vitest";
import { isWindrowError } from "../../src/errors.ts";
import { chars4Ceil, chars4Floor } from "../../src/tokens/chars4.ts";
import { counterNames, counterOf, isExactName } from "../../src/tokens/counters.ts";
import { estimate } from "../../src/tokens/estimate.ts";

/** The error a call throws. */
function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("chars4", () => {
  it("rounds up in chars4-ceil and down in chars4-floor", () => {
    expect(["", "a", "abcd", "abcde", "abcdefgh"].map((text) => chars4Ceil.count(text))).toEqual([0, 1, 1, 2, 2]);
    expect(["", "a", "abcd", "abcde", "abcdefgh"].map((text) => chars4Floor.count(text))).toEqual([0, 1, 1, 1, 2]);
  });

  it("fixes an image at 100 tokens in chars4-ceil alone", () => {
    expect(chars4Ceil.imageTokens).toBe(100);
    expect(chars4Floor.imageTokens).toBeUndefined();
  });
});

describe("counterOf", () => {
  it("finds every counter by its name, and the estimate by none", () => {
    for (const name of counterNames.filter((known) => !isExactName(known))) expect(counterOf(name).name).toBe(name);
    expect(counterNames).toContain("chars4-ceil");
    expect(counterNames).toContain("chars4-floor");
    expect(counterOf()).toBe(estimate);
  });

  it("hands a counter of one's own back", () => {
    const own = { name: "words", count: (text: string) => text.split(" ").length };
    expect(counterOf(own)).toBe(own);
  });

  it.each(["estimat", "gpt-4o", "toString", ""])("refuses %j and names those there are", (name) => {
    const error = thrown(() => counterOf(name));
    expect(isWindrowError(error, "unknown-counter")).toBe(true);
    expect(String(error)).toContain("chars4-floor");
  });

  it("offers the nearest name", () => {
    expect(String(thrown(() => counterOf("estimat")))).toContain('Did you mean "estimate"?');
  });
});
