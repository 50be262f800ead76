/**
 * Links: which statements say something newer of the same as another. One index of the terms of all statements, whatever
 * their source; two are linked by rare terms that they have in common.
 */
import { asserts, changes, corrects, enough, states } from "./saying.ts";
import type { Sayings } from "./sayings.ts";

/** A term that stands in more statements, or in a larger share of them, is not rare unless it looks like a name. */
const rareLines = 12;
const rareShare = 0.02;
const namedLines = 400;
/** A term that stands in a larger share of statements tells nothing. */
const commonShare = 0.25;
/** Terms of a statement that are compared, and of these the rare ones that are looked up. */
const mostCompared = 30;
const mostLooked = 16;
/** Share of what the terms of the shorter statement tell that two must have in common. */
const leastShare = 0.3;
/** Likewise, where the newer one only says a value. */
const sameShare = 0.6;
/** The newer statements that one never stands without. */
const mostNewer = 12;

/** The sources of statements: what users wrote, what tools brought, and what the agent said. */
export type Source = 0 | 1 | 2;
const sources = [0, 1, 2] as const;

/** The sources and the order of statements. */
export interface Origins {
  sourceOf(row: number): Source;
  /** Whether a row was said after another. */
  isLater(other: number, row: number): boolean;
}

/** A newer statement: how much it has in common, and how surely it says a new value. */
interface Link {
  readonly row: number;
  readonly weight: number;
  readonly certainty: number;
}

/** The newer statements of rows. */
export class Links {
  readonly #sayings: Sayings;
  readonly #origins: Origins;
  /** The rows that may be newer than others, oldest first; and by row, 1 for these. */
  readonly #rows: readonly number[];
  readonly #isHere: Uint8Array;
  /** In how many statements each term stands. */
  readonly #counts: Int32Array;
  /** By source and term: the begin of its places in `#posted`; behind the last, the end. */
  readonly #starts: Int32Array;
  readonly #posted: Int32Array;
  /** The statements of each source. */
  readonly #sizes: readonly number[];
  /** By term: its place among those that are compared just now, from 1. */
  readonly #bits: Uint8Array;
  readonly #stamps: Int32Array;
  #stamp = 0;
  readonly #newer = new Map<number, readonly number[]>();

  /** @param stated - the rows that state something, oldest first */
  constructor(sayings: Sayings, stated: readonly number[], origins: Origins) {
    const { termLimit } = sayings;
    const rows = changing(sayings, stated, origins);
    this.#sayings = sayings;
    this.#origins = origins;
    this.#rows = rows;
    this.#isHere = new Uint8Array(sayings.looks.length);
    this.#counts = new Int32Array(termLimit);
    this.#bits = new Uint8Array(termLimit);
    this.#starts = new Int32Array(sources.length * termLimit + 1);
    this.#stamps = new Int32Array(rows.length);
    const sizes = sources.map(() => 0);
    for (const row of rows) {
      const source = origins.sourceOf(row);
      sizes[source]!++;
      this.#isHere[row] = 1;
      for (const term of sayings.termsOf(row)) {
        this.#counts[term]!++;
        this.#starts[source * termLimit + term + 1]!++;
      }
    }
    this.#sizes = sizes;
    for (let at = 1; at < this.#starts.length; at++) this.#starts[at]! += this.#starts[at - 1]!;
    this.#posted = new Int32Array(this.#starts.at(-1) ?? 0);
    const ends = this.#starts.slice();
    for (const [place, row] of rows.entries()) {
      const source = origins.sourceOf(row);
      for (const term of sayings.termsOf(row)) this.#posted[ends[source * termLimit + term]!++] = place;
    }
  }

  /** The newest statements of what a row speaks of, which it never stands without. */
  newerOf(row: number): readonly number[] {
    let newer = this.#newer.get(row);
    if (!newer) this.#newer.set(row, (newer = this.#look(row)));
    return newer;
  }

  #look(row: number): readonly number[] {
    if ((this.#sayings.looks[row]! & states) === 0) return nothing;
    return this.#linked([...this.#sayings.termsOf(row)], this.#isHere[row]!, (other) =>
      this.#origins.isLater(other, row),
    );
  }

  /** The newest statements of what a text with these terms speaks of. */
  newerThan(terms: Iterable<string>, isLater: (row: number) => boolean): readonly number[] {
    return this.#linked(this.#known(terms), 0, isLater);
  }

  /** The terms, by number, that statements of a source have. */
  termsOf(source: Source, spellings: Iterable<string>): readonly number[] {
    return this.#known(spellings).filter((term) => this.#countOf(source, term) > 0);
  }

  /** Whether a row has one of some terms. */
  hasAny(row: number, terms: readonly number[]): boolean {
    return this.#sayings.termsOf(row).some((term) => terms.includes(term));
  }

  #known(spellings: Iterable<string>): number[] {
    return [...spellings].flatMap((spelling) => this.#sayings.term(spelling) ?? []);
  }

  #countOf(source: Source, term: number): number {
    const at = source * this.#sayings.termLimit + term;
    return this.#starts[at + 1]! - this.#starts[at]!;
  }

  /** The weight of a term for a statement's subject: the more, the fewer have it; none if no other has it. */
  #telling(term: number): number {
    const count = this.#counts[term]!;
    return count < 2 || this.#sayings.termNamed[term] === 2
      ? 0
      : Math.log((this.#rows.length + 2) / count) ** 2 * this.#sayings.termUnits[term]!;
  }

  /** Whether a term stands in so many statements that it tells nothing. What the agent says often may still be rare. */
  #isCommon(term: number): boolean {
    return this.#counts[term]! - this.#countOf(2, term) > Math.max(namedLines, commonShare * this.#rows.length);
  }

  #isRare(source: Source, term: number): boolean {
    const count = this.#countOf(source, term);
    const most = Math.max(rareLines, rareShare * this.#sizes[source]!);
    const isName = (this.#sayings.termNamed[term]! & 1) !== 0 || this.#sayings.termUnits[term] === enough;
    return count > 0 && count <= (isName ? namedLines : most);
  }

  /** @param least - statements in which a term stands that no other one has */
  #linked(given: readonly number[], least: number, isLater: (row: number) => boolean): readonly number[] {
    const counts = this.#counts;
    const { termUnits } = this.#sayings;
    const own = given
      .filter((term) => counts[term]! > least && !this.#isCommon(term))
      .sort((left, right) => counts[left]! - counts[right]!)
      .slice(0, mostCompared);
    if (own.length === 0) return nothing;
    for (const [index, term] of own.entries()) this.#bits[term] = index + 1;
    const told = own.reduce((sum, term) => (termUnits[term] === enough ? sum : sum + this.#telling(term)), 0);
    const found: Link[] = [];
    for (const source of sources) this.#find(source, own, told, isLater, found);
    for (const term of own) this.#bits[term] = 0;
    if (found.length > mostNewer)
      found.sort((left, right) => right.certainty - left.certainty || right.weight - left.weight);
    return found.slice(0, mostNewer).map(({ row }) => row);
  }

  #find(source: Source, own: readonly number[], told: number, isLater: (row: number) => boolean, found: Link[]): void {
    const { looks, terms, termsFrom, termUnits, termNamed } = this.#sayings;
    const covered: { readonly mask: number; readonly certainty: number }[] = [];
    const rare = own.filter((term) => this.#isRare(source, term)).slice(0, mostLooked);
    // Of the frequent ones the rarest finds the newest.
    const anchors = [
      ...rare,
      ...own.filter((term) => !rare.includes(term) && this.#countOf(source, term) > 0).slice(0, 1),
    ];
    for (const place of this.#placesOf(source, anchors)) {
      const row = this.#rows[place]!;
      if (!isLater(row)) continue;
      let [mask, units, weight, whole] = [0, 0, 0, 0];
      let [repeated, others] = [0, 0];
      for (let at = termsFrom[row]!; at < termsFrom[row + 1]!; at++) {
        const term = terms[at]!;
        if (this.#isCommon(term)) continue;
        const telling = this.#telling(term);
        // The words of a key that another has not are known already.
        if (termUnits[term] !== enough) whole += telling;
        const isNumber = termNamed[term] === 2;
        if (this.#bits[term] === 0) {
          if (isNumber) others++;
          continue;
        }
        if (isNumber) repeated++;
        mask |= 1 << (this.#bits[term]! - 1);
        units += termUnits[term]!;
        weight += telling;
      }
      // What says the number of another with one more revises it, whatever its words.
      const look = looks[row]! | (repeated > 0 && others > 0 ? corrects | changes : 0);
      if (units < ((look & corrects) === 0 ? enough : enough / 2)) continue;
      // A value alone is a newer one of the same only if the rest of the lines is much the same.
      const share = (look & changes) === 0 ? sameShare : leastShare;
      if (weight < share * Math.min(told, whole)) continue;
      // The newest is enough of those that say as much of the same, as surely.
      const certainty = look & (asserts | changes | corrects);
      if (covered.some((newer) => (newer.mask & mask) === mask && (newer.certainty & certainty) === certainty))
        continue;
      covered.push({ mask, certainty });
      found.push({ row, weight, certainty });
    }
  }

  /** The places of statements with any of these terms, newest first. */
  #placesOf(source: Source, anchors: readonly number[]): readonly number[] {
    const stamp = ++this.#stamp;
    const places: number[] = [];
    for (const term of anchors) {
      const at = source * this.#sayings.termLimit + term;
      const end = this.#starts[at + 1]!;
      for (let index = Math.max(this.#starts[at]!, end - namedLines); index < end; index++) {
        const place = this.#posted[index]!;
        if (this.#stamps[place] === stamp) continue;
        this.#stamps[place] = stamp;
        places.push(place);
      }
    }
    return places.sort((left, right) => right - left);
  }
}

const nothing: readonly never[] = [];

/**
 * The statements that may change others, of those in order. The agent repeats what no longer holds: of its statements, only
 * those count that correct, say a change of a value, or have a number or a name with a digit that none before has.
 */
function changing(sayings: Sayings, stated: readonly number[], origins: Origins): readonly number[] {
  const known = new Uint8Array(sayings.termLimit);
  return stated.filter((row) => {
    let isNew = false;
    for (const term of sayings.termsOf(row)) {
      if (known[term] === 0 && (sayings.termNamed[term]! & 2) !== 0 && sayings.termUnits[term] !== enough) isNew = true;
      known[term] = 1;
    }
    const looks = sayings.looks[row]!;
    const isChange = (looks & corrects) !== 0 || (looks & (asserts | changes)) === (asserts | changes);
    return origins.sourceOf(row) !== 2 || isNew || isChange;
  });
}
