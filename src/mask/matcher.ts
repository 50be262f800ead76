/**
 * Finds many keywords in one pass over a text, whatever their number (Aho and Corasick, 1975). Case does not matter. The
 * automaton is the exact part, and a step of it needs the one before; a sieve of three characters at every second place
 * needs none, and skips the stretches in which no keyword can begin.
 */
import { codesOf, giveBack, shortText } from "./codes.ts";
import type { Codes } from "./codes.ts";

/** Called for every keyword in a text, in the order of their ends. Returning `true` stops the search. */
export type OnKeyword = (keyword: number, start: number) => boolean | undefined;

/**
 * Pairs of codes by their last five bits, which are the same for a letter in either case. Other characters share a place
 * with letters, which lets more through and misses nothing.
 */
const sieveSize = 32 * 32;

function place(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

const anyCode = Array.from({ length: 32 }, (_, code) => code);

/** The code of a keyword's character; every code where it has none. */
function sieveCodes(keyword: string, at: number): readonly number[] {
  return at >= 0 && at < keyword.length ? [keyword.charCodeAt(at)] : anyCode;
}

/** The mark of a state that three characters or more led to. */
const deep = 6;

/** Letters as often as texts have them, the most frequent first. */
const frequent = " etaoinsrhldcumfpgwybvkxjqz";

/** How often a character stands in a text, roughly; one that counts as any always. */
function frequencyOf(character: string | undefined): number {
  if (character === undefined) return 1;
  const place = frequent.indexOf(character);
  return place < 0 ? 0.01 : 0.12 / (1 + place / 4);
}

/** The place in a keyword from which three characters, and those behind the first of them, are the rarest. */
function rarestStart(keyword: string): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let start = -1; start <= Math.min(keyword.length - 2, farthest); start += 1) {
    const [before, one, two, behind] = [0, 1, 2, 3].map((step) => frequencyOf(keyword[start + step]));
    const frequency = one! * two! * (before! + behind!);
    if (frequency < least) [best, least] = [start, frequency];
  }
  return best;
}

/** Characters of a long text that are looked at before the next, unless a keyword is longer. */
const pieceCharacters = 8 * 1024;

/** The last place of a keyword that is looked at for its rarest. */
const farthest = 8;

/** Searches texts for a fixed set of keywords. */
export class Matcher {
  readonly #keywords: readonly string[];
  /** The class of each code of a character; 0 for characters in no keyword. */
  readonly #classes = new Uint8Array(256);
  readonly #longest: number;
  readonly #width: number;
  /** The next state, by state and class. A state is the index of its row. */
  readonly #next: Uint32Array;
  /** Keywords that end in a state; undefined for most. */
  readonly #ends: readonly (readonly number[] | undefined)[];
  /** By state: twice the characters that led to it, three at most; and 1 where a keyword ends in it. */
  readonly #marks: Uint8Array;
  /** By two characters: a bit for each third with which they may be in a keyword. */
  readonly #sieve = new Int32Array(sieveSize);
  /** As the sieve, one character earlier, and one later: for what came through it. */
  readonly #before = new Int32Array(sieveSize);
  readonly #behind = new Int32Array(sieveSize);
  /** How far behind a keyword's begin its three characters stand at most. */
  readonly #reach: number;

  /** @param keywords - printable ASCII, not empty */
  constructor(keywords: readonly string[]) {
    this.#keywords = keywords.map((keyword) => keyword.toLowerCase());
    this.#longest = Math.max(0, ...keywords.map(({ length }) => length));
    let classes = 1;
    for (const keyword of this.#keywords) {
      for (const character of keyword) {
        const code = character.charCodeAt(0);
        if (this.#classes[code] !== 0) continue;
        this.#classes[code] = classes;
        this.#classes[character.toUpperCase().charCodeAt(0)] = classes;
        classes += 1;
      }
    }
    this.#width = classes;
    const states = 1 + this.#keywords.reduce((sum, keyword) => sum + keyword.length, 0);
    this.#next = new Uint32Array(states * classes);
    this.#marks = new Uint8Array(states * classes);
    this.#ends = this.#build(states);
    for (const [state, ends] of this.#ends.entries()) if (ends !== undefined) this.#marks[state * classes]! |= 1;
    this.#reach = this.#fillSieve();
  }

  /** Reports every keyword in a text. */
  scan(text: string, found: OnKeyword): void {
    if (text.length < shortText) {
      this.#walk(text, found);
      return;
    }
    const codes = codesOf(text);
    try {
      if (codes.exact) this.#search(codes, found);
      else this.#walk(text, found);
    } finally {
      giveBack(codes);
    }
  }

  /** Whether any keyword stands in a text. */
  test(text: string): boolean {
    if (text.length <= pieceCharacters) return this.#isIn(text);
    // Most long texts have one near their begin. Pieces overlap, so that no keyword is cut in two.
    for (let start = 0; start < text.length; start += pieceCharacters) {
      if (this.#isIn(text.slice(start, start + pieceCharacters + this.#longest))) return true;
    }
    return false;
  }

  #isIn(text: string): boolean {
    let any = false;
    if (text.length < shortText) {
      this.#walk(text, () => (any = true));
      return any;
    }
    const codes = codesOf(text);
    this.#search(codes, () => (any = true));
    giveBack(codes);
    return any;
  }

  /** As {@link scan}, by the automaton alone. */
  #walk(text: string, found: OnKeyword): void {
    const [next, classes, marks] = [this.#next, this.#classes, this.#marks];
    const { length } = text;
    let state = 0;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      state = code < 128 ? next[state + classes[code]!]! : 0;
      if ((marks[state]! & 1) === 0) continue;
      for (const keyword of this.#ends[state / this.#width]!) {
        if (found(keyword, index + 1 - this.#keywords[keyword]!.length) === true) return;
      }
    }
  }

  /** As {@link scan}, of bytes; the places are those of bytes. */
  #search({ bytes: codes, length }: Codes, found: OnKeyword): void {
    const [next, classes, marks] = [this.#next, this.#classes, this.#marks];
    let index = 0;
    // All that ends up to here was reported.
    let done = 0;
    for (let hit = this.#sift(codes, 0, length); hit < length;) {
      let state = 0;
      let mark = 0;
      // A hit is done with where only the beginnings of keywords are left that the sieve can look at anew.
      for (index = Math.max(index, hit - this.#reach); index < length && (index < hit + 3 || mark >= deep);) {
        state = next[state + classes[codes[index]!]!]!;
        index += 1;
        mark = marks[state]!;
        if ((mark & 1) === 0 || index <= done) continue;
        for (const keyword of this.#ends[state / this.#width]!) {
          if (found(keyword, index - this.#keywords[keyword]!.length) === true) return;
        }
      }
      done = index;
      index -= mark >> 1;
      hit = done < length ? this.#sift(codes, index, length) : length;
    }
  }

  /** The first place from `from` on whose three characters may be in a keyword; `length` where there is none. */
  #sift(codes: Uint8Array, from: number, length: number): number {
    const sieve = this.#sieve;
    let first = codes[from]!;
    for (let index = from; index < length; index += 2) {
      const second = codes[index + 1]!;
      const third = codes[index + 2]!;
      if ((sieve[place(first, second)]! & (1 << third)) !== 0 && this.#fits(codes, index)) return index;
      first = third;
    }
    return length;
  }

  /** Whether the characters around three that came through the sieve may be those of a keyword too. */
  #fits(codes: Uint8Array, index: number): boolean {
    const [first, second, third, behind] = [codes[index]!, codes[index + 1]!, codes[index + 2]!, codes[index + 3]!];
    const before = index === 0 ? 0 : codes[index - 1]!;
    if ((this.#before[place(before, first)]! & (1 << second)) === 0) return false;
    return (this.#behind[place(second, third)]! & (1 << behind)) !== 0;
  }

  /**
   * Lets three characters of each keyword through the sieve, and the three behind the first of them: one of the two
   * stands at a place that is looked at. Before a keyword's begin and behind its end any character counts.
   *
   * @returns the reach
   */
  #fillSieve(): number {
    let reach = 0;
    for (const keyword of this.#keywords) {
      const from = rarestStart(keyword);
      for (const start of [from, from + 1]) {
        this.#letThrough(this.#before, keyword, start - 1);
        this.#letThrough(this.#sieve, keyword, start);
        this.#letThrough(this.#behind, keyword, start + 1);
      }
      reach = Math.max(reach, from + 1);
    }
    return reach;
  }

  #letThrough(sieve: Int32Array, keyword: string, at: number): void {
    const [one, two, three] = [0, 1, 2].map((step) => sieveCodes(keyword, at + step));
    const bits = three!.reduce((sum, third) => sum | (1 << third), 0);
    for (const first of one!) for (const second of two!) sieve[place(first, second)]! |= bits;
  }

  #build(states: number): readonly (readonly number[] | undefined)[] {
    const [next, width] = [this.#next, this.#width];
    const ends: (number[] | undefined)[] = Array.from({ length: states });
    let count = 1;
    for (const [index, keyword] of this.#keywords.entries()) {
      let state = 0;
      for (const character of keyword) {
        const edge = state + this.#classes[character.charCodeAt(0)]!;
        if (next[edge] === 0) {
          next[edge] = width * count++;
          this.#marks[next[edge]] = Math.min(this.#marks[state]! + 2, deep);
        }
        state = next[edge]!;
      }
      (ends[state / width] ??= []).push(index);
    }
    // Breadth first: a state without an edge goes where its longest proper suffix goes.
    const fallback = new Uint32Array(count);
    const queue = [0];
    for (const state of queue) {
      for (let character = 1; character < width; character++) {
        const target = next[state + character]!;
        const other = state === 0 ? 0 : next[fallback[state / width]! + character]!;
        if (target === 0) next[state + character] = other;
        else {
          fallback[target / width] = other;
          const inherited = ends[other / width];
          if (inherited) ends[target / width] = [...(ends[target / width] ?? []), ...inherited];
          queue.push(target);
        }
      }
    }
    return ends;
  }
}
