/** Made-up words and numbers from a seed. */

const heads = "b br d dr f fl g gr h k kl l m n p pr qu r s sk st t tr v w z".split(" ");
const cores = "a e i o u ai ea io oo au".split(" ");
const tails = "n r l s t m nd rk lt st x v sh ".split(" ");

/** Chance for one job; every word that it makes is new. */
export class Luck {
  #state: number;
  readonly #used = new Set<string>();

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** A number from 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number of a range, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  of<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)] as Item;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** A new word in small letters. */
  word(syllables = 2): string {
    for (;;) {
      let word = "";
      for (let at = 0; at < syllables; at++)
        word += this.of(heads) + this.of(cores) + (at === syllables - 1 ? this.of(tails) : "");
      if (word.length < 4 || this.#used.has(word)) continue;
      this.#used.add(word);
      return word;
    }
  }

  /** A new name. */
  name(syllables = 2): string {
    const word = this.word(syllables);
    return word.charAt(0).toUpperCase() + word.slice(1);
  }

  /** A new code, such as `KD7-4092`. */
  code(): string {
    for (;;) {
      const letters = [0, 1].map(() => String.fromCharCode(65 + this.between(0, 25))).join("");
      const code = `${letters}${this.between(2, 9)}-${this.between(1000, 9999)}`;
      if (this.#used.has(code)) continue;
      this.#used.add(code);
      return code;
    }
  }

  /** A number of a range that is none of those. */
  another(low: number, high: number, not: readonly (string | number)[]): number {
    for (;;) {
      const number = this.between(low, high);
      if (!not.map(String).includes(String(number))) return number;
    }
  }

  shuffled<Item>(items: readonly Item[]): readonly Item[] {
    return items
      .map((item) => [this.next(), item] as const)
      .sort(([one], [other]) => one - other)
      .map(([, item]) => item);
  }
}

/** Sentences that say nothing of a job's facts. */
const chatter: readonly ((luck: Luck) => string)[] = [
  (luck) => `${luck.name()} asked again whether the ${luck.word()} could wait, and we said that nobody would mind.`,
  (luck) => `Most of what ${luck.name()} wrote last week has been settled, apart from the ${luck.word()} question.`,
  (luck) => `The people at ${luck.name()} send their regards and hope that the ${luck.word()} arrived in one piece.`,
  (luck) => `There was some talk of a ${luck.word()}, which came to nothing in the end.`,
  (luck) => `It rained in ${luck.name()} for days, so the ${luck.word()} was put off once more.`,
  (luck) => `Whoever kept the ${luck.word()} before ${luck.name()} left few notes behind.`,
  (luck) => `For the avoidance of doubt, ${luck.name()} has no part in the ${luck.word()} any longer.`,
  (luck) => `A copy went to ${luck.name()}, who files such things under ${luck.word()}.`,
];

/** So many sentences of chatter, as one paragraph. */
export function paragraph(luck: Luck, sentences: number): string {
  return Array.from({ length: sentences }, () => luck.of(chatter)(luck)).join(" ");
}
