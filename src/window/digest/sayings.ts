/** Sayings in columns: the terms and looks of statements, a row each. */
import type { Work } from "../../turns.ts";
import { longer, moveLists } from "./columns.ts";
import { Numbers } from "./numbers.ts";
import { corrects, enough, isDated, isNamed, isNumeral, states, unitsOf } from "./saying.ts";
import type { Saying } from "./saying.ts";

/** The sayings of rows, with their terms by number. */
export class Sayings {
  looks = new Uint8Array(64);
  /** The place of a row's first term; behind its last are those of the next row. */
  termsFrom = new Int32Array(65);
  /** The terms of all rows. */
  terms = new Int32Array(512);
  /** By term: what it tells; and 1 for a name, 2 for a number, 3 for a name with a digit. */
  termUnits = new Uint8Array(256);
  termNamed = new Uint8Array(256);
  readonly #terms = new Numbers();

  /** Above the numbers of all terms. */
  get termLimit(): number {
    return this.#terms.limit;
  }

  /** The number of a term; undefined where no row has it. */
  term(spelling: string): number | undefined {
    return this.#terms.known(spelling);
  }

  /** The terms of a row. */
  termsOf(row: number): Int32Array {
    return this.terms.subarray(this.termsFrom[row], this.termsFrom[row + 1]);
  }

  /**
   * Whether a row that stands later in the same text changes another. The lines of a file all hold, but for those of a log;
   * rows of a table with other keys speak of other things.
   */
  renews(other: number, row: number, isFile: boolean): boolean {
    const looks = this.looks[other]!;
    if ((looks & corrects) !== 0) return true;
    const [later, before] = [this.#keyOf(other), this.#keyOf(row)];
    const isOther = later !== undefined && before !== undefined && later !== before;
    return !isOther && (looks & this.looks[row]! & (isFile ? isDated : states)) !== 0;
  }

  #keyOf(row: number): number | undefined {
    return this.termsOf(row).findLast((term) => this.termUnits[term] === enough);
  }

  /** Sets a row, which is behind all others. */
  add(row: number, { looks, terms }: Saying): void {
    if (row >= this.looks.length) {
      this.looks = longer(this.looks);
      this.termsFrom = longer(this.termsFrom);
    }
    this.looks[row] = looks;
    let end = this.termsFrom[row] ?? 0;
    while (end + terms.length > this.terms.length) this.terms = longer(this.terms);
    for (const spelling of terms) {
      let term = this.#terms.known(spelling);
      if (term === undefined) {
        term = this.#terms.of(spelling);
        if (term >= this.termUnits.length) {
          this.termUnits = longer(this.termUnits);
          this.termNamed = longer(this.termNamed);
        }
        this.termUnits[term] = unitsOf(spelling);
        this.termNamed[term] = isNumeral(spelling) ? 2 : !isNamed(spelling) ? 0 : /\d/.test(spelling) ? 3 : 1;
      }
      this.terms[end++] = term;
    }
    this.termsFrom[row + 1] = end;
  }

  /** Moves rows to others before them. */
  move(from: number, end: number, to: number): void {
    this.looks.copyWithin(to, from, end);
    moveLists(this.terms, this.termsFrom, from, end, to);
  }

  /** Forgets the rows from one on, and terms that no other has. */
  *keeping(end: number): Work<void> {
    yield* this.#terms.keeping(this.terms.subarray(0, this.termsFrom[end]!));
  }
}
