import { describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";

describe("estimate of a long text", () => {
  it("is that of its parts, whatever ends its lines, when it is asked for the first time and again", () => {
    const lines = [
      "const value = 17;  ",
      "",
      "\t日本語の行です。",
      "--------",
      "end {\r",
      "\r",
      "  “quoted” emoji 😀",
      "   ",
    ];
    const part = `${Array.from({ length: 40 }, (_, n) => lines.map((line) => line.replace("17", `${n}`)).join("\n")).join("\n")}\nx\n`;
    expect(part.length).toBeLessThan(16_000);
    const whole = part.repeat(12);
    expect(whole.length).toBeGreaterThan(20_000);
    const first = estimate.count(whole);
    expect(Math.abs(first - 12 * estimate.count(part))).toBeLessThanOrEqual(6);
    expect(estimate.count(whole)).toBe(first);
  });
});
