/** Texts as the page shows them: unseen characters named, long ones shown by their beginning, gaps opened in place. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extentOf } from "../../web/model/excerpt.ts";
import { originLines } from "../../web/model/origins.ts";
import { plainLine, segments } from "../../web/model/visible.ts";

describe("unseen characters", () => {
  it("are named, and the text between them stays", () => {
    const marks = segments("a\u001b[31m\u202eb\u0000\ud800c").flatMap(({ mark }) => mark ?? []);
    expect(marks).toEqual(["ESC", "RLO", "NUL", "U+D800"]);
  });

  it("leave every character of a text in its place", () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom("\u001b", "\u202e", "\ud800", "\n", "中", "é"), fc.string()),
    });
    fc.assert(
      fc.property(text, (given) => {
        const pieces = segments(given, Infinity);
        expect(pieces.map(({ text: piece }) => piece).join("")).toBe(given);
      }),
    );
  });

  it("make no element each in a text that is full of them", () => {
    expect(segments("\u0000".repeat(100_000), 50).length).toBeLessThanOrEqual(51);
  });

  it("are none in letters of any language, line ends and joined signs", () => {
    expect(segments("日本語 العربية\r\n\t👩‍💻")).toHaveLength(1);
  });

  it("stand by name in a line of a list, which has no break", () => {
    expect(plainLine("one\n  two\u202e")).toBe("one two⟦RLO⟧");
  });
});

describe("a long text", () => {
  it("shows its first forty lines, and counts all", () => {
    const text = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
    const { shown, lines } = extentOf(text);
    expect(lines).toBe(100);
    expect(text.slice(0, shown).split("\n")).toHaveLength(40);
  });

  it("of one line shows a few thousand characters, and parts no character", () => {
    const { shown, lines } = extentOf("😀".repeat(1_000_000), 40, 6_001);
    expect(lines).toBe(1);
    expect(shown).toBe(6_000);
  });

  it("that is short is shown whole", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), (text) => {
        expect(extentOf(text).shown).toBe(text.length);
      }),
    );
  });
});

describe("lines of a digest", () => {
  const text = ["head", "--- src/a.ts (m4)", "… 12", " twelve", "…", " twenty", "--- src/b.ts (m9)", " one", "…"].join(
    "\n",
  );
  const lines = originLines(text, [
    { line: 4, seq: 4, at: 12 },
    { line: 6, seq: 4, at: 20 },
    { line: 8, seq: 9, at: 1 },
  ]);

  it("name the message and line that each is from", () => {
    expect(lines.flatMap(({ line, origin }) => (origin ? [[line, origin.seq, origin.at]] : []))).toEqual([
      [4, 4, 12],
      [6, 4, 20],
      [8, 9, 1],
    ]);
  });

  it("open a gap to what lies between their neighbours, and never across a section", () => {
    expect(lines.flatMap(({ line, gap }) => (gap ? [{ line, ...gap }] : []))).toEqual([
      { line: 3, seq: 4, from: 1, to: 11 },
      { line: 5, seq: 4, from: 13, to: 19 },
      { line: 9, seq: 9, from: 2, to: 0 },
    ]);
  });
});
