/**
 * Links: which lines say something newer of the same as another. One index of the terms of all lines, whatever their
 * source; two lines are linked by rare terms that they have in common.
 */
import type { Work } from "../../turns.ts";
import type { LineTable, Block } from "./line-table.ts";
import { isSentence } from "./line-table.ts";
import { asserts, changes, corrects, enough, states, termsOf } from "./saying.ts";

/** A term that stands in more statements, or in a larger share of them, is not rare unless it looks like a name. */
const rareLines = 12;
const rareShare = 0.02;
const namedLines = 400;
/** A term that stands in a larger share of statements tells nothing. */
const commonShare = 0.25;
/** Terms of a line that are compared, and of these the rare ones that are looked up. */
const mostCompared = 30;
const mostLooked = 16;
/** Share of what the terms of the shorter line tell that two lines must have in common. */
const leastShare = 0.3;
/** Likewise, where the newer line only says a value. */
const sameShare = 0.6;
/** The newer lines that one line never stands without. */
const mostNewer = 12;

/** Rows that are looked at in one step. */
const rowsPerStep = 2_048;

/** The sources of newer lines: what users wrote, what tools brought, and what the agent corrects of itself. */
const sources = 3;

function sourceOf(table: LineTable, row: number): number {
  const kind = table.lines[row]!.kind;
  if (kind === "user") return 0;
  return kind === "said" || kind === "answered" ? 2 : 1;
}

/** A newer line: how much it has in common, and whether it says a value or that it corrects one. */
interface Link {
  readonly row: number;
  readonly weight: number;
  readonly certainty: number;
}

/** The newer lines of a choice's rows. */
export class Links {
  readonly #table: LineTable;
  /** The rows that may be newer than others, oldest first, and the place of each row among them, from 1. */
  readonly #rows: Int32Array;
  readonly #places: Int32Array;
  /** In how many statements each term stands. */
  readonly #counts: Int32Array;
  /** By source and term: the begin of its places in `#posted`; behind the last, the end. */
  readonly #starts: Int32Array;
  readonly #posted: Int32Array;
  readonly #sizes = new Int32Array(sources);
  readonly #size: number;
  /** By term: its place among those that are compared just now, from 1. */
  readonly #bits: Uint8Array;
  readonly #stamps: Int32Array;
  #stamp = 0;
  readonly #newer = new Map<number, readonly number[]>();

  private constructor(table: LineTable, rows: Int32Array) {
    this.#table = table;
    this.#rows = rows;
    this.#size = rows.length;
    this.#places = new Int32Array(table.lines.length);
    this.#counts = new Int32Array(table.termLimit);
    this.#bits = new Uint8Array(table.termLimit);
    this.#starts = new Int32Array(sources * table.termLimit + 1);
    this.#stamps = new Int32Array(rows.length);
    const { terms, termsFrom, termLimit } = table;
    for (const [place, row] of rows.entries()) {
      const source = sourceOf(table, row);
      this.#sizes[source]!++;
      this.#places[row] = place + 1;
      for (let at = termsFrom[row]!; at < termsFrom[row + 1]!; at++) {
        this.#counts[terms[at]!]!++;
        this.#starts[source * termLimit + terms[at]! + 1]!++;
      }
    }
    for (let at = 1; at < this.#starts.length; at++) this.#starts[at]! += this.#starts[at - 1]!;
    this.#posted = new Int32Array(this.#starts.at(-1) ?? 0);
    const ends = this.#starts.slice();
    for (const [place, row] of rows.entries()) {
      const source = sourceOf(table, row);
      for (let at = termsFrom[row]!; at < termsFrom[row + 1]!; at++)
        this.#posted[ends[source * termLimit + terms[at]!]!++] = place;
    }
  }

  /** The links among the rows of blocks. */
  static *among(table: LineTable, blocks: readonly Block[]): Work<Links> {
    const { looks, seqs, isDone } = table;
    const rows: number[] = [];
    let steps = 0;
    for (const { from, to } of blocks) {
      for (let row = from; row < to; row++) {
        const look = looks[row]!;
        if ((look & states) === 0) continue;
        // The agent repeats what no longer holds; of what tools printed, and of requests that were carried out, a line
        // that says no value changes nothing.
        const source = sourceOf(table, row);
        const needed = source === 2 ? corrects : source === 1 || isDone[row] === 1 ? asserts : states;
        if ((look & needed) !== 0) rows.push(row);
      }
      if ((steps += to - from) < rowsPerStep) continue;
      steps = 0;
      yield;
    }
    rows.sort((left, right) => seqs[left]! - seqs[right]! || left - right);
    yield;
    return new Links(table, Int32Array.from(rows));
  }

  /** The newest lines of what a row speaks of, which it never stands without. */
  newerOf(row: number): readonly number[] {
    let newer = this.#newer.get(row);
    if (!newer) this.#newer.set(row, (newer = this.#look(row)));
    return newer;
  }

  /** The newest lines of what a text speaks of that stands before all lines. */
  newerThan(text: string): readonly number[] {
    return this.#linked(this.#known(termsOf(text)), 0, () => true);
  }

  #known(spellings: Iterable<string>): number[] {
    return [...spellings].flatMap((spelling) => this.#table.term(spelling) ?? []);
  }

  #look(row: number): readonly number[] {
    const { terms, termsFrom, looks, lines, blocks } = this.#table;
    const { passage } = blocks[row]!;
    const own = terms.subarray(termsFrom[row], termsFrom[row + 1]);
    const newer =
      (looks[row]! & states) === 0
        ? nothing
        : this.#linked([...own], this.#places[row] === 0 ? 0 : 1, (other) => this.#isLater(other, row));
    if (!passage.file) return newer;
    // What the user wrote of a file counts, whichever is the newer.
    const names = this.#known(namesOf(passage.subject)).filter((term) => this.#countOf(0, term) > 0);
    if (names.length === 0) return newer;
    const said = this.#known(termsOf(lines[row]!.text));
    const ofUser = this.#linked([...names, ...said], 0, (other) => {
      return sourceOf(this.#table, other) === 0 && this.#shares(other, names) && this.#shares(other, said);
    });
    return [...new Set([...newer, ...ofUser])];
  }

  #shares(row: number, sought: readonly number[]): boolean {
    const { terms, termsFrom } = this.#table;
    return terms.subarray(termsFrom[row], termsFrom[row + 1]).some((term) => sought.includes(term));
  }

  /** Whether a row was said after another: in a later message, or by a correction later in the same. */
  #isLater(other: number, row: number): boolean {
    const { seqs, looks, lines, blocks } = this.#table;
    if (lines[other]!.key === lines[row]!.key) return false;
    const both = looks[other]! & looks[row]!;
    const isCorrection = (looks[other]! & corrects) !== 0 && (both & isSentence) !== 0;
    const [before, after] = [blocks[row]!.passage, blocks[other]!.passage];
    // The lines of a file all stand in it as it is.
    if (before.file && after.file && before.subject === after.subject) return isCorrection && other > row;
    if (seqs[other] !== seqs[row]) return seqs[other]! > seqs[row]!;
    return other > row && (isCorrection || (both & (isSentence + asserts)) === isSentence + asserts);
  }

  #countOf(source: number, term: number): number {
    const at = source * this.#table.termLimit + term;
    return this.#starts[at + 1]! - this.#starts[at]!;
  }

  /** The weight of a term for a line's subject: the more, the fewer statements have it; none if no other has it. */
  #telling(term: number): number {
    const count = this.#counts[term]!;
    return count < 2 || this.#table.termNamed[term] === 2
      ? 0
      : Math.log((this.#size + 2) / count) ** 2 * this.#table.termUnits[term]!;
  }

  #isRare(source: number, term: number): boolean {
    const count = this.#countOf(source, term);
    const most = Math.max(rareLines, rareShare * this.#sizes[source]!);
    return count > 0 && count <= (this.#table.termNamed[term] === 1 ? namedLines : most);
  }

  /** @param least - statements in which a term stands that no other line has */
  #linked(given: readonly number[], least: number, isLater: (row: number) => boolean): readonly number[] {
    const counts = this.#counts;
    const most = Math.max(namedLines, commonShare * this.#size);
    const own = given
      .filter((term) => counts[term]! > least && counts[term]! <= most)
      .sort((left, right) => counts[left]! - counts[right]!)
      .slice(0, mostCompared);
    if (own.length === 0) return nothing;
    for (const [index, term] of own.entries()) this.#bits[term] = index + 1;
    const told = own.reduce((sum, term) => sum + this.#telling(term), 0);
    const found: Link[] = [];
    for (let source = 0; source < sources; source++) this.#find(source, own, told, isLater, found);
    for (const term of own) this.#bits[term] = 0;
    if (found.length > mostNewer)
      found.sort((left, right) => right.certainty - left.certainty || right.weight - left.weight);
    return found.slice(0, mostNewer).map(({ row }) => row);
  }

  #find(source: number, own: readonly number[], told: number, isLater: (row: number) => boolean, found: Link[]): void {
    const { terms, termsFrom, termUnits, looks } = this.#table;
    const most = Math.max(namedLines, commonShare * this.#size);
    const covered: { readonly mask: number; readonly says: boolean }[] = [];
    for (const place of this.#placesOf(
      source,
      own.filter((term) => this.#isRare(source, term)),
    )) {
      const row = this.#rows[place]!;
      if (!isLater(row)) continue;
      let [mask, units, weight, whole] = [0, 0, 0, 0];
      for (let at = termsFrom[row]!; at < termsFrom[row + 1]!; at++) {
        const term = terms[at]!;
        if (this.#counts[term]! > most) continue;
        const telling = this.#telling(term);
        whole += telling;
        if (this.#bits[term] === 0) continue;
        mask |= 1 << (this.#bits[term]! - 1);
        units += termUnits[term]!;
        weight += telling;
      }
      const look = looks[row]!;
      if (units < ((look & corrects) === 0 ? enough : enough / 2)) continue;
      // A value that a tool printed is a newer one of the same only if the rest of the lines is much the same.
      const share = source === 1 && (look & changes) === 0 ? sameShare : leastShare;
      if (weight < share * Math.min(told, whole)) continue;
      // The newest is enough of those that say as much of the same.
      const says = (look & asserts) !== 0;
      if (covered.some((newer) => (newer.mask & mask) === mask && (newer.says || !says))) continue;
      covered.push({ mask, says });
      found.push({ row, weight, certainty: look & (asserts | corrects) });
    }
  }

  /** The places of statements with any of these terms, newest first. */
  #placesOf(source: number, rare: readonly number[]): readonly number[] {
    const stamp = ++this.#stamp;
    const places: number[] = [];
    for (const term of rare.slice(0, mostLooked)) {
      const at = source * this.#table.termLimit + term;
      for (let index = this.#starts[at]!; index < this.#starts[at + 1]!; index++) {
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

/** The names of a file: its path, its last part, and that without its ending. */
function namesOf(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return [...new Set([path.toLowerCase(), name, name.replace(/\.\w+$/, "")])];
}
