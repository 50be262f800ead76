/** What a line's text says of itself. Lines come back at every epoch; each text is looked at once, as far as memory goes. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { errorWords } from "../excerpt.ts";

/** A line's text in numbers. */
export interface LineFacts {
  readonly tokens: number;
  /** Each word that can be looked back for, once. */
  readonly words: readonly string[];
  /** What each of them is worth where it is new. */
  readonly worths: readonly number[];
  /** Whether it tells of a failure. */
  readonly failing: boolean;
}

/** Texts that are remembered for a counter: a few megabytes. */
const mostTexts = 20_000;

const known = new WeakMap<TokenCounter, Map<string, LineFacts>>();

/** The facts of a line's text. */
export function factsOf(text: string, counter: TokenCounter): LineFacts {
  let facts = known.get(counter);
  if (!facts) known.set(counter, (facts = new Map()));
  const found = facts.get(text);
  if (found) return found;
  if (facts.size >= mostTexts) facts.clear();
  const words = [...new Set(wordsOf(text))];
  const fresh = { tokens: counter.count(text), words, worths: words.map(worthOf), failing: errorWords.test(text) };
  facts.set(text, fresh);
  return fresh;
}

/** The words of a text that can be looked back for. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_$.@/-]{3,}/gu) ?? [];
}

/** Paths, names and numbers have to be given exactly; a word of prose can be said otherwise. */
function worthOf(word: string): number {
  if (word.includes("/")) return 2;
  return /[_\d]|\p{Ll}\p{Lu}|\w[.-]\w/u.test(word) ? 1 : 0.3;
}
