/** Relevance: what hits have of a query, weighed against its best hit and its heaviest word. */
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
}
