/** Relevance: what hits and texts have of a query, weighed against its best hit and its heaviest word. */
import { isNumeral } from "../digest/saying.ts";
import { tellingWeight } from "./complement.ts";
import type { HitDocument, RankedHit } from "./hits.ts";
import { Matcher } from "./words.ts";
import type { Rarity, RecallWords } from "./words.ts";

/** The share of the best hit's weight that a hit needs, with the words near it and by its own; likewise of the heaviest word's. */
export const telling = 0.5;
const ownCutOff = 0.2;

/** The share that a hit needs without the query's heaviest word, and without any of its names: it may be about others. */
const restCutOff = 0.75;
const otherCutOff = 0.9;

/** Weighs by the words of a query. */
export class Relevance {
  readonly #matcher: Matcher;
  readonly #rarity: Rarity;
  /** The ids of the query, each with the pattern of those that are made alike. */
  #ids: readonly { readonly word: string; readonly shape: RegExp }[] | undefined;

  constructor(words: RecallWords, rarity: Rarity) {
    this.#matcher = new Matcher(words);
    this.#rarity = rarity;
  }

  /** The weight of the best hit; a question that is still to be answered has all words, and tells nothing. */
  best(ranked: readonly RankedHit[], asked: number | undefined): number {
    const others = ranked.filter(({ hit }) => hit.document.seq !== asked);
    return (others.length > 0 ? others : ranked).reduce((most, { together }) => Math.max(most, together), 0);
  }

  /** Whether a hit is good enough to be shown. */
  isRelevant(hit: RankedHit, best: number, heaviest: number): boolean {
    const { exact, own, together, levels, near, isOther } = hit;
    if (exact) return true;
    const isSubject = levels.some((level, index) => {
      return (level === 2 || near[index] === 2) && this.#rarity.weigh(index, 2) >= heaviest;
    });
    const share = isOther ? otherCutOff : isSubject ? telling : restCutOff;
    return together >= share * best && own >= ownCutOff * best;
  }

  /** The weight of the heaviest word that any line has. */
  heaviest(): number {
    return this.#matcher.words.terms.reduce(
      (most, _, index) => Math.max(most, this.#rarity.has(index) ? this.#rarity.weigh(index, 2) : 0),
      0,
    );
  }

  /** Whether a head has a telling word of the query. */
  isNamed({ label }: HitDocument): boolean {
    const { levels, words } = this.#matcher;
    const heaviest = this.heaviest();
    this.#matcher.look(label.toLowerCase());
    return words.terms.some((_, index) => levels[index] === 2 && this.#rarity.weigh(index, 2) >= telling * heaviest);
  }

  /** The words of the query that a text has and that tell something; no number, which may be the old value. */
  wordsIn(text: string): readonly number[] {
    const { levels, words } = this.#matcher;
    this.#matcher.look(text.toLowerCase());
    return words.terms.flatMap(({ word, weight }, index) => {
      return levels[index]! > 0 && weight >= tellingWeight && !isNumeral(word) ? [index] : [];
    });
  }

  /** How a text has the words of the query. */
  levelsIn(text: string): Uint8Array {
    this.#matcher.look(text.toLowerCase());
    return this.#matcher.levels.slice();
  }

  /** Whether the query has names, and a text with these levels has none of them. */
  isOther(levels: Uint8Array): boolean {
    const names = this.#rarity.names();
    return names.length > 0 && names.every((index) => levels[index] !== 2);
  }

  /** Whether a text has an id of another thing: made as one of the query's, of letters and digits, which it has not. */
  isOfAnother(text: string): boolean {
    const lower = text.toLowerCase();
    this.#ids ??= this.#matcher.words.terms
      .filter(({ word, isName }) => isName && /\d/.test(word))
      .map(({ word }) => ({ word, shape: shapeOf(word) }));
    return this.#ids.some(({ word }) => !lower.includes(word)) && this.#ids.some(({ shape }) => shape.test(lower));
  }
}

/** The pattern of ids that are made as one is. */
function shapeOf(id: string): RegExp {
  const parts = id.split(/(\d+|[a-z]+)/).map((part) => {
    return /^\d/.test(part)
      ? String.raw`\d+`
      : /^[a-z]/.test(part)
        ? "[a-z]+"
        : part.replaceAll(/[^\w]/g, String.raw`\$&`);
  });
  return new RegExp(`(?<![a-z0-9])${parts.join("")}(?![a-z0-9])`);
}
