/** Topics: two words of a line, by which it is known to speak of the same as another. */
import { splitSentences } from "../../message/sentences.ts";
import { wordsOf } from "./facts.ts";
import type { Candidate } from "./line-table.ts";
import type { Line, LineFacts, Word } from "./line.ts";

/** Words by which a line is known to speak of something, and words that tell what it says of it. */
const mostAnchors = 2;
const mostAspects = 16;
/** The user's sentences are few: more of their words are looked at. */
const mostAnchorsOfUser = 4;
const mostAspectsOfUser = 24;
/** Words of the user's, which are all looked at in pairs. */
const mostRare = 7;
/** A word that stands in more lines than this is no anchor, unless it looks like a name; in this share, no aspect. */
const manyLines = 12;
const manyNamed = 400;
const commonShare = 0.25;
/** Share of the user's lines that a rare word of theirs may stand in, and how many may always. */
const rareShare = 0.05;
const rareLines = 3;

/** In how many lines words stand, and how many lines there are. */
export interface Counted {
  readonly size: number;
  count(word: Word): number;
}

/** The words of a line that make its topics: each anchor with each aspect. */
export interface Telling {
  readonly anchors: readonly Word[];
  readonly aspects: readonly Word[];
}

/** The anchors and aspects of a record's line. */
export function tellingOf(words: readonly Word[], lines: Counted): Telling {
  return tellingAmong(countedOf(words, lines), lines, 2, mostAnchors, mostAspects);
}

/** A topic of the user's: two words, whichever comes first. */
export interface Topic {
  /** The two words; undefined where one of them stands in no statement. */
  readonly words: readonly [Word, Word] | undefined;
  /** The newest line of the user's that speaks of it, and the newest of those that count, and that say a number. */
  spoken: Candidate | undefined;
  newest: Candidate | undefined;
  newestValue: Candidate | undefined;
}

/** The topics of the user's lines in one choice. */
export class Topics {
  readonly #lines: CountedWords;
  readonly #rare: ReadonlyMap<string, number>;
  readonly #topics = new Map<number, Topic>();
  /** By the number of a word: that in the keys of topics, from 1. */
  readonly #numbers: Int32Array;
  /** Likewise of words that stand in no statement as they are compared. */
  readonly #others = new Map<string, number>();
  readonly #most: number;
  #count = 0;

  /** @param rare - the words that stand in few of the user's lines */
  constructor(lines: CountedWords, rare: ReadonlyMap<string, number>) {
    this.#lines = lines;
    this.#rare = rare;
    this.#numbers = new Int32Array(lines.wordCount);
    this.#most = lines.wordCount + rare.size + 1;
  }

  /** The topics of a line of the user's: those of each sentence, and every two of its rare words. */
  of(line: Line): readonly Topic[] {
    const { sentences, words } = saidOf(line);
    const topics = new Set<Topic>();
    // A word of no other statement may stand in a file; it takes no place of one that other statements have.
    for (const own of sentences) {
      const counted = countedOf(own, this.#lines);
      for (const least of [2, 1]) {
        const { anchors, aspects } = tellingAmong(counted, this.#lines, least, mostAnchorsOfUser, mostAspectsOfUser);
        for (const anchor of anchors)
          for (const aspect of aspects) if (aspect !== anchor) topics.add(this.#topicOf(anchor, aspect));
      }
    }
    const few = rarest(words, this.#rare).toSorted();
    const numbered = few.map((spelling) => this.#lines.numbered(spelling) ?? spelling);
    for (const [at, one] of numbered.entries())
      for (const other of numbered.slice(at + 1)) topics.add(this.#topicOf(one, other));
    return [...topics];
  }

  /** The topic of two words by their spelling; undefined where no line of the user's has it. */
  find(one: string | Word, other: string | Word): Topic | undefined {
    const [left, right] = [this.#known(one), this.#known(other)];
    return left > 0 && right > 0 ? this.#topics.get(this.#key(left, right)) : undefined;
  }

  /** The topics of a standing text's words that the user's lines have, too. */
  *standing(words: Iterable<string>): Generator<Topic> {
    const found = rarest(words, this.#rare);
    for (const [at, one] of found.entries()) {
      for (const other of found.slice(at + 1)) {
        const topic = this.find(one, other);
        if (topic) yield topic;
      }
    }
  }

  #topicOf(one: string | Word, other: string | Word): Topic {
    const key = this.#key(this.#number(one), this.#number(other));
    let topic = this.#topics.get(key);
    if (!topic) {
      const words = typeof one === "string" || typeof other === "string" ? undefined : ([one, other] as const);
      topic = { words, spoken: undefined, newest: undefined, newestValue: undefined };
      this.#topics.set(key, topic);
    }
    return topic;
  }

  #key(one: number, other: number): number {
    return one < other ? one * this.#most + other : other * this.#most + one;
  }

  #number(word: string | Word): number {
    let number = this.#known(word);
    if (number > 0) return number;
    number = ++this.#count;
    if (typeof word === "string") this.#others.set(word, number);
    else this.#numbers[word.number] = number;
    return number;
  }

  /** The number of a word, or of that with its spelling among statements; 0 for none. */
  #known(word: string | Word): number {
    const numbered = this.#lines.numbered(word);
    if (numbered) return this.#numbers[numbered.number] ?? 0;
    return this.#others.get(typeof word === "string" ? word : word.spelling) ?? 0;
  }
}

/** Words that are known by their spelling and number. */
export interface CountedWords extends Counted {
  /** How many words have a number. */
  readonly wordCount: number;
  /** The word with a number that has this spelling. */
  numbered(word: string | Word): Word | undefined;
}

/** Words that a line of the user's says. */
interface Said {
  /** The words of each sentence. */
  readonly sentences: readonly (readonly Word[])[];
  /** All words, as they are compared. */
  readonly words: ReadonlySet<string>;
}

const knownSaid = new WeakMap<LineFacts, Said>();

function saidOf({ text, facts }: Line): Said {
  let said = facts && knownSaid.get(facts);
  if (said) return said;
  const sentences = splitSentences(text).map((sentence) => {
    const own = new Set(wordsOf(sentence));
    return (facts?.words ?? []).filter(({ spelling }) => own.has(spelling));
  });
  said = { sentences, words: wordSet(text) };
  if (facts) knownSaid.set(facts, said);
  return said;
}

/** The words of a line of the user's, as they are compared. */
export function wordsSaid(line: Line): ReadonlySet<string> {
  return saidOf(line).words;
}

/** A word with the number of lines that it stands in. */
interface CountedWord {
  readonly word: Word;
  readonly count: number;
}

/** The words that may make topics, the rarest first. */
function countedOf(words: readonly Word[], lines: Counted): readonly CountedWord[] {
  const most = Math.max(manyNamed, lines.size * commonShare);
  const counted: CountedWord[] = [];
  for (const word of words) {
    const count = lines.count(word);
    if (count >= 1 && count <= most && !isNumber(word.spelling)) counted.push({ word, count });
  }
  return counted.sort((left, right) => left.count - right.count);
}

/** @param least - lines that a word has to stand in */
function tellingAmong(
  counted: readonly CountedWord[],
  lines: Counted,
  least: number,
  mostAnchors: number,
  mostAspects: number,
): Telling {
  const common = lines.size * commonShare;
  const known = counted.filter(({ count }) => count >= least);
  const named = known.filter(({ word, count }) => word.worth >= 1 && count <= manyNamed).slice(0, mostAnchors);
  const rarestWords = known.filter(({ count }) => count <= manyLines).slice(0, mostAnchors);
  const aspects = known.filter(({ count }) => count <= common).slice(0, mostAspects);
  return {
    anchors: [...new Set([...named, ...rarestWords])].map(({ word }) => word),
    aspects: aspects.map(({ word }) => word),
  };
}

function isNumber(word: string): boolean {
  return /^[\d.,:/_-]+$/.test(word);
}

/** Words as they are compared: without the points around them; of a script without spaces, every two characters. */
export function wordSet(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const found of wordsOf(text)) {
    const word = found.replace(/^[./-]+|[./-]+$/g, "").toLowerCase();
    if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) {
      if (word.length >= 3) words.add(word);
      continue;
    }
    const points = [...word];
    for (let at = 0; at + 1 < points.length; at++) words.add(`${points[at]}${points[at + 1]}`);
  }
  return words;
}

/** The words that stand in few of the user's lines, with in how many. */
export function rareWords(lines: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const words of lines) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(rareLines, lines.length * rareShare);
  return new Map([...counts].filter(([word, count]) => count <= most && !isNumber(word)));
}

/** The words with the least lines. */
function rarest(words: Iterable<string>, lines: ReadonlyMap<string, number>): readonly string[] {
  return [...words]
    .filter((word) => lines.has(word))
    .toSorted((left, right) => (lines.get(left) ?? 0) - (lines.get(right) ?? 0) || (left < right ? -1 : 1))
    .slice(0, mostRare);
}
