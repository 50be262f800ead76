/** Seeded chance and made-up words: the same seed gives the same job, and no word of one is in a model's memory. */

const onsets = [
  "b",
  "br",
  "c",
  "cl",
  "d",
  "f",
  "fl",
  "g",
  "gr",
  "h",
  "k",
  "l",
  "m",
  "n",
  "p",
  "r",
  "s",
  "st",
  "t",
  "v",
];
const vowels = ["a", "e", "i", "o", "u", "ai", "ou", "ea"];
const codas = ["", "", "n", "r", "l", "s", "th", "m", "ck"];

/** Chance that begins with a seed. */
export class Dice {
  #state: number;
  readonly #words = new Set<string>();

  /** @param name - what the dice are for: dice of one seed with two names roll differently */
  constructor(name: string, seed: number) {
    this.#state = [...`${name} ${seed}`].reduce(
      (hash, sign) => Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 0x01000193),
      7,
    );
  }

  /** An integer from 0 to below `end` (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  /** An integer in a range, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** One of some values. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** The values in another order. */
  shuffled<T>(values: readonly T[]): T[] {
    const left = [...values];
    return values.map(() => left.splice(this.below(left.length), 1)[0] as T);
  }

  /** A word that these dice have not given before. */
  word(): string {
    for (;;) {
      const syllables = this.between(2, 3);
      const word = Array.from(
        { length: syllables },
        (_, at) => this.pick(onsets) + this.pick(vowels) + (at === syllables - 1 ? this.pick(codas) : ""),
      ).join("");
      if (this.#words.has(word)) continue;
      this.#words.add(word);
      return word;
    }
  }

  /** A word with a capital. */
  name(): string {
    const word = this.word();
    return `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}`;
  }

  /** A number of these digits that does not begin with 0. */
  digits(count: number): number {
    return this.between(10 ** (count - 1), 10 ** count - 1);
  }

  /** Sentences that say nothing a job asks about. */
  prose(sentences: number): string {
    return Array.from({ length: sentences }, () => this.#sentence()).join(" ");
  }

  #sentence(): string {
    const sentence = this.pick(templates).replaceAll(/[ANVP]/g, (slot) => {
      if (slot === "A") return this.pick(adjectives);
      if (slot === "N") return this.pick(nouns);
      if (slot === "V") return this.pick(verbs);
      return this.#filler;
    });
    return `${sentence[0]?.toUpperCase() ?? ""}${sentence.slice(1)}.`;
  }

  /** A name that may come again. */
  get #filler(): string {
    const word = this.pick(onsets) + this.pick(vowels) + this.pick(onsets) + this.pick(vowels) + this.pick(codas);
    return `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}`;
  }
}

const adjectives = [
  "grey",
  "late",
  "narrow",
  "old",
  "quiet",
  "second",
  "short",
  "small",
  "upper",
  "usual",
  "warm",
  "wet",
];
const nouns = [
  "bridge",
  "cellar",
  "corner",
  "door",
  "engine",
  "garden",
  "harbour",
  "ladder",
  "lamp",
  "market",
  "parcel",
];
const verbs = ["closed", "counted", "left alone", "mended", "moved", "painted", "opened", "seen", "sold", "weighed"];
const templates = [
  "the A N by the N was V again, and nobody in P could say why",
  "P told me that every A N has to be V before the evening",
  "in the week before, the N of P was V twice without a word about it",
  "i had thought that a N is a N, but this A one was V and then V once more",
  "the people at P say that it is a matter of the A N, not of the N",
  "as far as P remembers, no N was ever V while the A N stood there",
  "there was some talk about the N, the N and the A N of P, which I leave aside",
  "between the N and the A N one finds what P had V and forgotten",
];
