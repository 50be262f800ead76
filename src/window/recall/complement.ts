/** Complements: of the record around a hit, the rows that have the words which the hit lacks. */
import { recordAround } from "./rows.ts";
import type { Block, Row } from "./rows.ts";
import type { Matcher, Rarity } from "./terms.ts";

/** The weight from which a word is worth a line of its own; one such as `the` has less. */
export const tellingWeight = 2;

/** Rows that are added for words which a hit lacks. */
const mostComplements = 3;

/**
 * Rows of the same record for words that the row at a place lacks: again and again the one with most of them, the shorter
 * first.
 *
 * @param isSaid - whether the text is what someone said, and all of it one record
 */
export function complement(
  rows: readonly Row[],
  at: number,
  isSaid: boolean,
  matcher: Matcher,
  rarity: Rarity,
): readonly number[] {
  const { terms } = matcher.words;
  matcher.look((rows[at]?.text ?? "").toLowerCase());
  const missing = new Set(
    terms
      .map((_, index) => index)
      .filter((index) => matcher.levels[index]! < 2 && rarity.has(index))
      .filter((index) => terms[index]!.weight >= tellingWeight),
  );
  const record = isSaid ? { from: 0, to: rows.length - 1 } : recordAround(rows, at);
  const found: number[] = [];
  while (missing.size > 0 && found.length < mostComplements) {
    const best = bestFor(rows, record, missing, matcher, rarity);
    if (!best) break;
    found.push(best.place);
    for (const index of best.words) missing.delete(index);
  }
  return found;
}

/** The row of a record with the most of some words. */
function bestFor(
  rows: readonly Row[],
  { from, to }: Block,
  missing: ReadonlySet<number>,
  matcher: Matcher,
  rarity: Rarity,
): { readonly place: number; readonly words: readonly number[] } | undefined {
  let best: { place: number; words: readonly number[]; weight: number; length: number } | undefined;
  for (let place = from; place <= to; place++) {
    const { text = "" } = rows[place] ?? {};
    if (!matcher.look(text.toLowerCase())) continue;
    const words = [...missing].filter((index) => matcher.levels[index] === 2);
    const weight = words.reduce((sum, index) => sum + rarity.weigh(index, 2), 0);
    const isBetter = !best || weight > best.weight || (weight === best.weight && text.length < best.length);
    if (words.length > 0 && isBetter) best = { place, words, weight, length: text.length };
  }
  return best;
}
