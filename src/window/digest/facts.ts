/**
 * Facts of lines: the names, words and errors in a line's text. Lines come back at every epoch; each text is examined
 * once while memory lasts.
 */
import { detached } from "../../message/detached.ts";
import { quoteLine } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { errorWords } from "../stub/cut.ts";
import type { Line, LineFacts, Word } from "./line.ts";

/** Texts that are remembered twice over for a counter: a few megabytes. A choice of more lines has room for its own. */
const mostTexts = 10_000;
/** Texts that are remembered for each line of the last choice: a later one may ask for nearly the same. */
const textsPerLine = 1.5;

/** Texts and words of one stretch of time. */
class Generation {
  readonly facts = new Map<string, LineFacts>();
  readonly words = new Map<string, Word>();
}

/** The facts of texts. What was not asked for while many others were is forgotten. */
export class Facts {
  readonly #counter: TokenCounter;
  #newer = new Generation();
  #older = this.#newer;
  /** Lines of the choice since {@link Facts.age}. */
  #expected = 0;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** Forgets what is old. */
  age(): void {
    const most = Math.max(mostTexts, textsPerLine * this.#expected);
    this.#expected = 0;
    if (this.#newer.facts.size < most) return;
    this.#older = this.#newer;
    this.#newer = new Generation();
  }

  /** Notes how many lines a choice has, whether it asks for their facts or has them already. */
  expect(lines: number): void {
    this.#expected = Math.max(this.#expected, lines);
  }

  /** The facts of a line's text. */
  of(text: string): LineFacts {
    const newer = this.#newer;
    let facts = newer.facts.get(text);
    if (facts) return facts;
    facts = this.#older.facts.get(text);
    if (facts) for (const word of facts.words) newer.words.set(word.spelling, word);
    else facts = this.#look(text);
    newer.facts.set(detached(text), facts);
    return facts;
  }

  /** The facts of a line. */
  ofLine(line: Line): LineFacts {
    if (line.facts?.counter === this.#counter) return line.facts;
    return (line.facts = this.of(line.text));
  }

  /** A word by its spelling. */
  word(given: string): Word {
    let word = this.#newer.words.get(given);
    if (!word) {
      word = this.#older.words.get(given);
      if (!word) {
        const spelling = detached(given);
        word = { spelling, worth: worthOf(spelling) };
      }
      this.#newer.words.set(word.spelling, word);
    }
    return word;
  }

  #look(text: string): LineFacts {
    const words = new Set(wordsOf(text).map((spelling) => this.word(spelling)));
    return {
      tokens: this.#counter.count(quoteLine(text)),
      words: [...words],
      failing: errorWords.test(text),
      counter: this.#counter,
    };
  }
}

const known = new WeakMap<TokenCounter, Facts>();

/** The facts of texts by a counter, for the next choice. */
export function factsBy(counter: TokenCounter): Facts {
  let facts = known.get(counter);
  if (!facts) known.set(counter, (facts = new Facts(counter)));
  facts.age();
  return facts;
}

/** The words of a text that can be looked back for; a point that ends a sentence is no part of one. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_$.@/-]{2,}[\p{L}\p{N}_$@/]/gu) ?? [];
}

/** Paths, names and numbers have to be given exactly; a word of prose can be said otherwise. */
export function worthOf(word: string): number {
  if (word.includes("/")) return 2;
  return /[_\d]|\p{Ll}\p{Lu}|\w[.-]\w/u.test(word) ? 1 : 0.3;
}
