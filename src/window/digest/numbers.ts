/** Numbers: texts by number, so that what is known of them stands in arrays. */

import type { Work } from "../../turns.ts";

/** Texts that are looked at in one step. */
const textsPerStep = 4_096;

/** Gives each text a number. That of a text which is gone goes to another one. */
export class Numbers {
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];

  /** Above all numbers. */
  get limit(): number {
    return this.#numbers.size + this.#free.length;
  }

  /** The number of a text; undefined where it has none. */
  known(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  /** The number of a text, which has one from here on. */
  of(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) this.#numbers.set(text, (number = this.#free.pop() ?? this.#numbers.size));
    return number;
  }

  /** Forgets the texts whose numbers are not among these. */
  *keeping(numbers: Int32Array): Work<void> {
    const kept = new Uint8Array(this.limit);
    for (let at = 0; at < numbers.length; at++) kept[numbers[at]!] = 1;
    yield;
    let steps = 0;
    for (const [text, number] of this.#numbers) {
      if (++steps % textsPerStep === 0) yield;
      if (kept[number] === 1) continue;
      this.#numbers.delete(text);
      this.#free.push(number);
    }
  }
}
