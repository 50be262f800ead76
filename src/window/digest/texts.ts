/** Texts: the tokens and words of each, and whether it reports a failure. Each text of a log is examined once. */
import { detached } from "../../message/detached.ts";
import { quoteLine } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { errorWords } from "../stub/cut.ts";

/** A word that can be looked back for. */
export interface Word {
  /** The value of a line where it is new. */
  readonly worth: number;
  /** The last choice that shows it. */
  shownBy: number;
}

/** A line's text in numbers. */
export interface TextFacts {
  readonly tokens: number;
  /** Each word that can be looked back for, once. */
  readonly words: readonly Word[];
  /** Whether it reports a failure. */
  readonly isFailing: boolean;
}

/** The texts of one log, by one counter. */
export class Texts {
  readonly #counter: TokenCounter;
  readonly #facts = new Map<string, TextFacts>();
  readonly #words = new Map<string, Word>();

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** The facts of a line, which has them from then on: a line belongs to one log. */
  of(line: { readonly text: string; facts: TextFacts | undefined }): TextFacts {
    return (line.facts ??= this.#factsOf(line.text));
  }

  /** The tokens of a quoted text. */
  tokens(text: string): number {
    return this.#factsOf(text).tokens;
  }

  /** The words of a text that any line has. */
  known(text: string): readonly Word[] {
    return wordsOf(text).flatMap((spelling) => this.#words.get(spelling) ?? []);
  }

  #factsOf(text: string): TextFacts {
    let facts = this.#facts.get(text);
    if (facts) return facts;
    const words = new Set(wordsOf(text).map((spelling) => this.#wordOf(spelling)));
    facts = { tokens: this.#counter.count(quoteLine(text)), words: [...words], isFailing: errorWords.test(text) };
    this.#facts.set(detached(text), facts);
    return facts;
  }

  #wordOf(spelling: string): Word {
    let word = this.#words.get(spelling);
    if (!word) this.#words.set(detached(spelling), (word = { worth: worthOf(spelling), shownBy: 0 }));
    return word;
  }
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
