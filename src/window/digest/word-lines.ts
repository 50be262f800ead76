/** Word lines: the lines of records in which words stand, and the newest of those that speak of a topic. */
import type { Work } from "../../turns.ts";
import type { Candidate } from "./line-table.ts";
import { hasValue } from "./facts.ts";
import type { Facts } from "./facts.ts";
import type { Line, LineFacts, Word } from "./line.ts";
import { tellingOf } from "./topics.ts";
import type { CountedWords, Telling } from "./topics.ts";

/** Lines that are looked at in one step. */
const linesPerStep = 256;

/** The tables made so far: a word that one of them numbered bears its number. */
let tables = 0;

/** The words of statements: in how many each stands, and in which records. */
export class WordLines implements CountedWords {
  readonly size: number;
  readonly #facts: Facts;
  readonly #table = ++tables;
  /** By the number of a word: how many statements have it, and the records whose words make an earlier line older. */
  readonly #counts: number[] = [];
  readonly #records: Candidate[][] = [];
  readonly #tellings = new Map<LineFacts, Telling>();
  readonly #newest = new Map<number, Candidate | undefined>();
  readonly #newestValue = new Map<number, Candidate | undefined>();

  private constructor(size: number, facts: Facts) {
    this.size = size;
    this.#facts = facts;
  }

  /**
   * The words of statements, whose records stand in the order of their messages.
   *
   * @param facts - those that the statements' lines were examined with
   */
  static *of(statements: readonly Candidate[], facts: Facts): Work<WordLines> {
    const lines = new WordLines(statements.length, facts);
    for (const [index, candidate] of statements.entries()) {
      if (index % linesPerStep === 0) yield;
      lines.#add(candidate);
    }
    return lines;
  }

  #add(candidate: Candidate): void {
    const { kind, facts } = candidate.line;
    // The agent repeats what it was told, also what no longer holds: its words make nothing older.
    const isSource = kind !== "user" && kind !== "said" && kind !== "answered";
    for (const word of facts?.words ?? []) {
      if (word.table !== this.#table) {
        word.table = this.#table;
        word.number = this.#counts.push(0) - 1;
        this.#records.push([]);
      }
      this.#counts[word.number]!++;
      if (isSource) this.#records[word.number]!.push(candidate);
    }
  }

  count(word: Word): number {
    return word.table === this.#table ? (this.#counts[word.number] ?? 0) : 0;
  }

  /** The topics of a record's line, as an anchor and an aspect each. */
  topicsOf({ facts }: Line): readonly (readonly [Word, Word])[] {
    if (!facts) return [];
    const { anchors, aspects } = this.#telling(facts);
    return anchors.flatMap((anchor) =>
      aspects.filter((word) => word !== anchor).map((word) => [anchor, word] as const),
    );
  }

  get wordCount(): number {
    return this.#counts.length;
  }

  numbered(word: string | Word): Word | undefined {
    if (typeof word !== "string" && word.table === this.#table) return word;
    const found = this.#facts.known(typeof word === "string" ? word : word.spelling);
    return found?.table === this.#table ? found : undefined;
  }

  /**
   * The newest line of a record that speaks of a topic, of one message the last.
   *
   * @param isValue - whether it has to say a number
   */
  newest(one: Word, other: Word, isValue: boolean): Candidate | undefined {
    const [left, right] = [this.#recordsOf(one), this.#recordsOf(other)];
    if (left.length === 0 || right.length === 0) return undefined;
    const known = isValue ? this.#newestValue : this.#newest;
    const key = Math.min(one.number, other.number) * this.#counts.length + Math.max(one.number, other.number);
    if (known.has(key)) return known.get(key);
    const [fewer, sought] = left.length < right.length ? [left, other] : [right, one];
    const found = fewer.findLast(
      ({ line }) =>
        line.facts?.words.includes(sought) === true &&
        this.#speaksOf(line.facts, one, other) &&
        (!isValue || hasValue(line)),
    );
    known.set(key, found);
    return found;
  }

  #recordsOf(word: Word): readonly Candidate[] {
    return word.table === this.#table ? (this.#records[word.number] ?? []) : [];
  }

  #speaksOf(facts: LineFacts, one: Word, other: Word): boolean {
    const { anchors, aspects } = this.#telling(facts);
    return (anchors.includes(one) && aspects.includes(other)) || (anchors.includes(other) && aspects.includes(one));
  }

  #telling(facts: LineFacts): Telling {
    let telling = this.#tellings.get(facts);
    if (!telling) this.#tellings.set(facts, (telling = tellingOf(facts.words, this)));
    return telling;
  }
}
