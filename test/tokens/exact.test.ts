/** The exact counters against the package they use, and where that package alone would throw or stall. */
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { countTokens, isWindrowError, loadCounter } from "windrow";
import type { TokenCounter } from "windrow";
import { counterOf } from "../kit/inside/tokens.ts";

const asText = { disallowedSpecial: new Set<string>() };
const library = { o200k, cl100k };
const names = ["o200k", "cl100k"] as const;

it("hands other counters back, and refuses a wrong name with the nearest", async () => {
  expect((await loadCounter()).name).toBe("estimate");
  const own: TokenCounter = { name: "own", count: () => 1 };
  expect((await loadCounter(own)).count("words")).toBe(1);
  const error = await loadCounter("o200").catch((reason: unknown) => reason);
  expect(isWindrowError(error, "unknown-counter")).toBe(true);
  expect(String(error)).toContain('"o200k"');
});

describe.each(names)("%s", (name) => {
  let counter: TokenCounter;

  beforeAll(async () => {
    counter = await loadCounter(name);
  });

  it("is the counter of its name once it is loaded", async () => {
    expect(counterOf(name)).toBe(counter);
    expect(await loadCounter(name)).toBe(counter);
    expect(counter.name).toBe(name);
    const message = { role: "user", parts: [{ type: "text", text: "hello world" }] } as const;
    expect(countTokens([message, message], name)).toBe(2 * (counter.count("hello world") + 4));
  });

  it.each(Object.entries(ordinary()))("counts as the package does: %s", (_, text) => {
    expect(counter.count(text)).toBe(library[name](text, asText));
  });

  it("counts random text as the package does, and never throws", () => {
    const odd = fc.string({ unit: "binary", maxLength: 600 });
    const runs = fc
      .array(fc.tuple(fc.constantFrom("a", "Z", " ", "\n", "/", "=", "中", "'s", "9", "\ud83d", "é"), fc.nat(40)))
      .map((some) => some.map(([unit, times]) => unit.repeat(times)).join(""));
    fc.assert(
      fc.property(fc.oneof(odd, runs), (text) => {
        const [counted, whole] = [counter.count(text), library[name](text, asText)];
        // Every 256 characters of an unbroken run may add a token.
        expect(Math.abs(counted - whole)).toBeLessThanOrEqual(Math.floor(text.length / 256));
      }),
      { numRuns: 400 },
    );
  });

  it("takes special tokens and halves of pairs as text", () => {
    for (const text of ["<|endoftext|>", "a<|im_start|>b", "<|fim_prefix|>".repeat(100), "\ud83d", "x\udc00"]) {
      expect(counter.count(text)).toBe(library[name](text, asText));
    }
    expect(counter.count("<|endoftext|>")).toBeGreaterThan(1);
    expect(counter.count("")).toBe(0);
  });

  it("stays near the package on runs without a break", () => {
    for (const unit of ["a", "B", "中", "ア漢", "=", "\n", "/\n", " ", "é", "\u0301", "😀"]) {
      const text = unit.repeat(Math.ceil(3_000 / unit.length));
      const cuts = Math.ceil(text.length / 256);
      const difference = Math.abs(counter.count(text) - library[name](text, asText));
      expect(difference, JSON.stringify(unit)).toBeLessThanOrEqual(cuts);
    }
  });

  // Work that grew with the square of the length would not end before the limit.
  it("counts a megabyte without a break", () => {
    for (const unit of ["a", "/\n", "\ud800"]) {
      expect(counter.count(unit.repeat(1_000_000 / unit.length))).toBeGreaterThan(10_000);
    }
  }, 60_000);
});

function ordinary(): Readonly<Record<string, string>> {
  const lines = (line: (index: number) => string): string => Array.from({ length: 80 }, (_, at) => line(at)).join("\n");
  return {
    code: lines((at) => `  const value${at} = await read("src/file_${at}.ts"); // isn't it ${at * 7919}?`),
    json: JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, name: `n${id}`, when: "2026-01-02T03:04:05Z" }))),
    english: lines((at) => `The agent's ${at}th message doesn't fit; we'll cut it, they've said.   Twice.`),
    japanese: lines((at) => `${at}件目のメッセージを保存しました。次の呼び出しで、ウィンドウに入れます。`),
    chinese: lines((at) => `第${at}条消息已经保存，下一次调用时会放入窗口。`),
    table: lines((at) => `| ${"-".repeat(30)} | ${at} | ${"─".repeat(90)} |\t\t|`),
    base64: Buffer.from(lines((at) => `${at * 31} some bytes`)).toString("base64"),
    hashes: lines((at) => `${(at * 2_654_435_761).toString(16).padStart(40, "ab0")}  file_${at}`),
    blank: lines((at) => (at % 3 === 0 ? "" : `${" ".repeat(at)}}  `)),
    crlf: lines((at) => `https://example.org/a/b//${at}\r\n\r\n/* */\r`),
  };
}
