/** Where the rules of a mask are asked: at every keyword in a text, and nowhere else. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { MaskRule } from "windrow/store";
import { maskText, mayHoldSecret, secretRules } from "../kit/inside/mask.ts";

/** Rules that find nothing and note where they were asked. */
function noted(keywords: readonly string[]): { readonly rules: readonly MaskRule[]; readonly asked: string[] } {
  const asked: string[] = [];
  const rules = keywords.map((keyword): MaskRule => {
    const find = (_text: string, at: number): undefined => void asked.push(`${keyword} ${at}`);
    return { kind: keyword, placeholder: "[X]", keywords: [keyword], find };
  });
  return { rules, asked };
}

/** ASCII letters alone are folded: a Kelvin sign is no k. */
const folded = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

function placesOf(keywords: readonly string[], text: string): readonly string[] {
  const lower = folded(text);
  return keywords.flatMap((keyword) => {
    const places: string[] = [];
    const sought = folded(keyword);
    for (let at = lower.indexOf(sought); at >= 0; at = lower.indexOf(sought, at + 1)) places.push(`${keyword} ${at}`);
    return places;
  });
}

const known = [...new Set(secretRules.flatMap(({ keywords }) => keywords.map(folded)))];
const short = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "b", "-", "_", " ", "|", "7") });
const long = fc.string({ minLength: 5, maxLength: 40, unit: fc.constantFrom("a", "b", "e", "k", "=", "~") });
const keywordSets = fc.uniqueArray(fc.oneof(short, long, fc.constantFrom(...known)), { minLength: 1, maxLength: 30 });

function textsOf(keywords: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(...keywords),
    fc.constantFrom(...keywords).map((keyword) => keyword.toUpperCase()),
    fc.constantFrom(...keywords).map((keyword) => keyword.slice(0, -1)),
    fc.constantFrom(...keywords).map((keyword) => keyword.slice(1)),
    fc.string({ unit: "binary-ascii", maxLength: 12 }),
    fc.constantFrom("…", "é", "\u{1f511}", "\u212a", "\ud83d", " ".repeat(60)),
  );
  return fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
}

const cases = keywordSets.chain((keywords) => fc.tuple(fc.constant(keywords), textsOf(keywords)));

test("the rules are asked at every keyword, in any case and any neighbourhood", () => {
  fc.assert(
    fc.property(cases, ([keywords, text]) => {
      const { rules, asked } = noted(keywords);
      maskText({ rules }, text);
      expect(asked.toSorted()).toEqual([...placesOf(keywords, text)].toSorted());
    }),
    { numRuns: 2_000 },
  );
});

test("a text may hold a secret where, and only where, a keyword stands in it", () => {
  fc.assert(
    fc.property(cases, ([keywords, text]) => {
      const { rules } = noted(keywords);
      expect(mayHoldSecret({ rules }, text.replaceAll("\u001b", ""))).toBe(
        placesOf(keywords, text.replaceAll("\u001b", "")).length > 0,
      );
    }),
    { numRuns: 2_000 },
  );
});

test("a keyword anywhere in a long text is seen, also where the text is looked at in pieces", () => {
  const keyword = "needle-in-hay";
  const { rules } = noted([keyword]);
  for (const filler of ["x", "é"]) {
    for (const length of [8_170, 8_180, 8_192, 16_384, 300_000]) {
      for (const shift of [0, 1, 5, 12, 13, 14]) {
        const before = filler.repeat(length - shift);
        expect(mayHoldSecret({ rules }, `${before}${keyword}${filler}`)).toBe(true);
        expect(mayHoldSecret({ rules }, `${before}${keyword.slice(1)}${filler}`)).toBe(false);
      }
    }
  }
});
