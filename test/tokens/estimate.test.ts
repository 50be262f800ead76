import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import { beforeAll, describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { paragraphs, rows } from "./texts.ts";

const repo = new URL("../../", import.meta.url).pathname;

/** Signed relative error against o200k. */
function errorOf(text: string): number {
  return estimate.count(text) / countTokens(text, { disallowedSpecial: new Set() }) - 1;
}

function messagesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at + 1_000 < text.length; at += 2_000) pieces.push(text.slice(at, at + 2_000).toWellFormed());
  return pieces;
}

function mean(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

function share95(values: readonly number[]): number {
  return values.map(Math.abs).toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
}

/** Messages from the files of installed packages, a few from each of so many files that no package decides. */
function installed(ending: RegExp): readonly string[] {
  const root = join(repo, "node_modules");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => ending.test(file))
    .toSorted();
  const stride = Math.max(1, Math.floor(files.length / 200));
  return files
    .filter((file, index) => index % stride === 0 && statSync(join(root, file)).isFile())
    .flatMap((file) => messagesOf(readFileSync(join(root, file), "utf8").slice(0, 6_000)));
}

beforeAll(() => setMergeCacheSize(0));

describe("estimate against o200k", () => {
  const sources: Readonly<Record<string, RegExp>> = {
    "javascript": /[^.]{6}\.js$/,
    "declarations": /\.d\.ts$/,
    "markdown": /\.md$/,
    "package.json": /package\.json$/,
    "yaml": /\.ya?ml$/,
  };

  it.each(Object.entries(sources))("is within bounds on the %s files of installed packages", (_, ending) => {
    const errors = installed(ending).map(errorOf);
    expect(errors.length).toBeGreaterThan(0);
    expect(mean(errors.map(Math.abs))).toBeLessThan(0.08);
    expect(share95(errors)).toBeLessThan(0.18);
  });

  it.each(Object.entries(rows))("is within bounds on rows of %s", (_, messages) => {
    const errors = messages.map(errorOf);
    expect(mean(errors.map(Math.abs))).toBeLessThan(0.12);
    expect(Math.min(...errors)).toBeGreaterThan(-0.2);
  });

  it.each(Object.entries(paragraphs))("is within 20 %% on a paragraph of %s", (_, text) => {
    expect(Math.abs(errorOf(text))).toBeLessThan(0.2);
  });

  it("is within 10 % on average over the paragraphs of every script", () => {
    expect(mean(Object.values(paragraphs).map((text) => Math.abs(errorOf(text))))).toBeLessThan(0.1);
  });
});

describe("estimate on any text", () => {
  it("is 0 for the empty text alone", () => {
    expect(estimate.count("")).toBe(0);
    for (const text of [" ", "\n", "a", "\0", "\ud800", "\udc00", "́", "️", "中", "'"]) {
      expect(estimate.count(text)).toBeGreaterThan(0);
    }
  });

  it("counts a text that names special tokens as text", () => {
    expect(estimate.count("<|endoftext|><|im_start|>")).toBeGreaterThan(5);
  });

  const letters = Array.from({ length: 1_000_000 }, (_, at) =>
    String.fromCharCode(97 + ((at * 7_919 + (at >> 5)) % 26)),
  ).join("");
  const hostile: Readonly<Record<string, string>> = {
    "1 MB of one letter": "a".repeat(1_000_000),
    "100,000 Han without a stop": "这是没有标点的一段很长的文字".repeat(7_200),
    "1 MB of random letters": letters,
    "1 MB of spaces": " ".repeat(1_000_000),
    "1 MB of equals signs": "=".repeat(1_000_000),
    "1 MB of line ends": "\n".repeat(1_000_000),
    "1 MB of lone surrogates": "\ud800".repeat(1_000_000),
    "1 MB of combining marks": "́".repeat(1_000_000),
    "1 MB of <|endoftext|>": "<|endoftext|>".repeat(77_000),
  };

  // Work that grew with the square of the length would not end before the runner's limit.
  it.each(Object.entries(hostile))("counts %s", (_, text) => {
    const tokens = estimate.count(text);
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
  });

  it.each(["a", "A", "x", " ", "=", "-", "\n", "\t", "0", "─", "é"])("is within half of o200k on 4,000 %j", (sign) => {
    expect(Math.abs(errorOf(sign.repeat(4_000)))).toBeLessThan(0.5);
  });

  it("does not change by more than a few tokens when a text is counted in pieces", () => {
    const text = Object.values(paragraphs).join("\n");
    const halves = [text.slice(0, 700), text.slice(700)];
    expect(Math.abs(halves.reduce((sum, half) => sum + estimate.count(half), 0) - estimate.count(text))).toBeLessThan(
      5,
    );
  });
});
