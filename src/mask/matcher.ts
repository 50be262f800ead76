/**
 * Finds many keywords in one pass over a text, whatever their number (Aho and Corasick, 1975). Case does not matter.
 */

/** Called for every keyword in a text, in the order of their ends. Returning `true` stops the search. */
export type OnKeyword = (keyword: number, start: number) => boolean | undefined;

/** Searches texts for a fixed set of keywords. */
export class Matcher {
  readonly #keywords: readonly string[];
  /** The class of each of the first 128 characters; 0 for characters in no keyword. */
  readonly #classes = new Uint8Array(128);
  readonly #width: number;
  /** The next state, by state and class. A state is the index of its row. */
  readonly #next: Uint32Array;
  /** Keywords that end in a state; undefined for most. */
  readonly #ends: readonly (readonly number[] | undefined)[];
  /** By state: whether a keyword ends in it. */
  readonly #isEnd: Uint8Array;

  /** @param keywords - printable ASCII, not empty */
  constructor(keywords: readonly string[]) {
    this.#keywords = keywords.map((keyword) => keyword.toLowerCase());
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
    this.#ends = this.#build(states);
    this.#isEnd = new Uint8Array(states * classes);
    for (const [state, ends] of this.#ends.entries()) if (ends !== undefined) this.#isEnd[state * classes] = 1;
  }

  /** Reports every keyword in a text. */
  scan(text: string, found: OnKeyword): void {
    const [next, classes, isEnd] = [this.#next, this.#classes, this.#isEnd];
    const { length } = text;
    let state = 0;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      state = code < 128 ? next[state + classes[code]!]! : 0;
      if (state === 0 || isEnd[state] === 0) continue;
      for (const keyword of this.#ends[state / this.#width]!) {
        if (found(keyword, index + 1 - this.#keywords[keyword]!.length) === true) return;
      }
    }
  }

  /** Whether any keyword stands in a text. */
  test(text: string): boolean {
    let any = false;
    this.scan(text, () => (any = true));
    return any;
  }

  #build(states: number): readonly (readonly number[] | undefined)[] {
    const [next, width] = [this.#next, this.#width];
    const ends: (number[] | undefined)[] = Array.from({ length: states });
    let count = 1;
    for (const [index, keyword] of this.#keywords.entries()) {
      let state = 0;
      for (const character of keyword) {
        const edge = state + this.#classes[character.charCodeAt(0)]!;
        if (next[edge] === 0) next[edge] = width * count++;
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
