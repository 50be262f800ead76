/** The terms of a text for search: words in any script, pairs and single characters of Japanese and Chinese. */
import { termsOf } from "../window/recall/terms.ts";

/** Colours of a terminal, which would stand in the middle of words. */
const colours = /\u001b\[[0-9;]*m/g;
const mayHaveCharacters = /[\u2e80-\uffff]/;
const characters = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu;

/** The terms of a text, with how often each stands there. */
export interface CountedTerms {
  readonly counts: ReadonlyMap<string, number>;
  /** The length by which a message is ranked: its terms, without the single characters of longer stretches. */
  readonly length: number;
}

/** The terms of a text, counted: those it is ranked by, and every single character of Japanese and Chinese. */
export function countedTerms(text: string): CountedTerms {
  const plain = text.includes("\u001b") ? text.replaceAll(colours, "") : text;
  const terms = termsOf(plain);
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  if (!mayHaveCharacters.test(plain)) return { counts, length: terms.length };
  const singles = new Map<string, number>();
  for (const [character] of plain.normalize("NFKC").matchAll(characters)) {
    singles.set(character, (singles.get(character) ?? 0) + 1);
  }
  for (const [character, count] of singles) counts.set(character, count);
  return { counts, length: terms.length };
}

/** The distinct terms of a text. */
export function searchTerms(text: string): ReadonlySet<string> {
  return new Set(countedTerms(text).counts.keys());
}

/** A query: what a message must hold. */
export interface SearchQuery {
  /** All of these, in any order. */
  readonly terms: ReadonlySet<string>;
  /** Texts between quotation marks: each must occur too, whatever its case and white space. */
  readonly phrases: readonly string[];
}

/** Reads a query as people type it: words, and phrases in quotation marks. */
export function parseQuery(text: string): SearchQuery {
  const phrases = [...text.matchAll(/"([^"]+)"/g)]
    .map(([, phrase = ""]) => comparable(phrase))
    .filter((one) => one !== "");
  // Pairs of what was typed are enough: a single character asks for itself only.
  return { terms: new Set(termsOf(text)), phrases };
}

/** Whether a text answers a query. */
export function answers(text: string, { terms, phrases }: SearchQuery): boolean {
  const letters = text.replaceAll(colours, "").normalize("NFKC").toLowerCase();
  // A term is a part of its word, but for the `y` of `queries`: most texts are told apart without their terms.
  for (const term of terms) if (!letters.includes(term.replace(/(?<=...)y$/, ""))) return false;
  const known = searchTerms(text);
  for (const term of terms) if (!known.has(term)) return false;
  if (phrases.length === 0) return true;
  const whole = comparable(text);
  return phrases.every((phrase) => whole.includes(phrase));
}

/** The place in a text where the answer to a query begins: its first phrase or word, or 0. */
export function placeOf(text: string, query: string): number {
  const lower = text.toLowerCase();
  const wanted = query
    .toLowerCase()
    .split(/["\s]+/)
    .filter((word) => word !== "")
    .toSorted((left, right) => right.length - left.length);
  for (const word of wanted) {
    const place = lower.indexOf(word);
    if (place >= 0) return place;
  }
  return 0;
}

function comparable(text: string): string {
  return text.replaceAll(colours, "").normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}
