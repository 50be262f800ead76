/**
 * The index of all sessions' messages: which message holds which term, and how often. `windrow search` and memories use the
 * same one. It grows at its end, is built again from the sessions at any time, and holds hashes and numbers, no text.
 *
 * A folder of 256 files of postings ({@link Postings}), one of facts ({@link Facts}) and `sessions.jsonl` ({@link Table}),
 * which is written last: a posting of a message that it does not name counts for nothing. Without a folder, or while
 * another process writes it, what is added stays in memory.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { atOnce } from "../turns.ts";
import type { Work } from "../turns.ts";
import { Facts } from "./facts.ts";
import { isRefusal, lockFolder, readTable, replaceTable, tableFile, writeLines } from "./folder.ts";
import type { FolderLock, ReadTable } from "./folder.ts";
import { Postings } from "./postings.ts";
import type { Posted } from "./postings.ts";
import { best, scored } from "./rank.ts";
import type { Field, RankedMessage } from "./rank.ts";
import { covered, Table } from "./table.ts";
import type { IndexedEntry, IndexedSession } from "./table.ts";
import { countedTerms } from "./terms.ts";
import { forgetVectors } from "./vectors.ts";

/** A message on its way into the index. */
export interface NewIndexed {
  readonly seq: number;
  readonly text: string;
  /** Milliseconds since 1970. Default 0. */
  readonly time?: number;
  /** Whether it is what a user said. Default false. */
  readonly isUser?: boolean;
  /** Terms beside those of the text, which no text has ({@link markOf}). */
  readonly marks?: Iterable<string>;
}

/** Postings held in memory before they are written: 16 MB of numbers. */
const heldPostings = 2_000_000;

/** Terms of a query that are looked up to find messages with all of them; the others are looked for in those. */
const mostWords = 64;

/** Lines of the table that make it worth a new one: more than so many, and so many times as many as needed. */
const manyLines = 2_000;
const linesTimes = 4;

/** The share of numbers without a message at which the index is begun anew, and the least number for it. */
const holesShare = 0.5;
const leastHoles = 10_000;

/** A term that no text holds: a tool's name, a field. */
export function markOf(kind: string, value: string): string {
  return `\0${kind}:${value}`;
}

/** An open index. One process writes it at a time; for the others, what they add stays in memory. */
export class SearchIndex {
  readonly #folder: string | undefined;
  readonly #postings: Postings;
  readonly #facts: Facts;
  #table = new Table();
  /** How the file of the table was when it was read; absent where there is none. */
  #read: ReadTable | undefined;
  #lock: FolderLock | undefined;
  /** Whether memory has what the folder lacks, and is not to get. */
  #overlaid = false;

  /** @param folder - made where it is not there, for its owner only; one that cannot be written is read. Default: memory */
  constructor(folder?: string) {
    this.#folder = folder;
    this.#postings = new Postings(folder);
    this.#facts = new Facts(folder === undefined ? undefined : join(folder, "facts"));
  }

  /** Whether this process may write the folder just now. */
  get writable(): boolean {
    return this.#lock !== undefined;
  }

  /** One more than the largest number of a message. */
  get next(): number {
    return this.#table.next;
  }

  /** Postings that are in memory alone. */
  get held(): number {
    return this.#postings.held;
  }

  /** The number of messages. */
  get size(): number {
    let sum = 0;
    for (const { stretches } of this.#table.entries()) for (const { count } of stretches) sum += count;
    return sum;
  }

  /**
   * Takes the lock where no other process has it, and reads what was added since.
   *
   * @returns whether this process may write
   */
  open(): boolean {
    if (this.#folder === undefined) return false;
    this.#lock ??= lockFolder(this.#folder);
    try {
      this.#refresh(this.#folder);
    } catch (error) {
      // Half of what was read would hide the other half.
      this.#drop();
      this.#letGo(error);
    }
    return this.writable;
  }

  /** Writes what was added and lets others write. */
  close(): void {
    if (!this.#lock) return;
    try {
      this.flush();
    } finally {
      this.#lock.release();
      this.#lock = undefined;
    }
  }

  /** Every session it knows. */
  entries(): Iterable<IndexedEntry> {
    return this.#table.entries();
  }

  /** One session. */
  entry(sessionId: string): IndexedEntry | undefined {
    return this.#table.entry(sessionId);
  }

  /** The last message of a session that is known, by `seq`; 0 for none. */
  covered(sessionId: string): number {
    return covered(this.#table.entry(sessionId));
  }

  /** Tells what a session is; needed before {@link add}, and again when it is put to rest or finished. */
  describe(sessionId: string, session: IndexedSession): void {
    this.#table.describe(sessionId, session);
    this.#overlaid ||= !this.writable;
  }

  /** Adds the message behind those that are {@link covered}. Written by {@link flush}, or before where there are many. */
  add(sessionId: string, { seq, text, time = 0, isUser = false, marks = [] }: NewIndexed): void {
    const number = this.#table.add(sessionId, seq);
    const { counts, length } = countedTerms(text);
    for (const [term, count] of counts) this.#postings.add(term, number, count);
    for (const mark of marks) this.#postings.add(mark, number, 1);
    this.#facts.set(number, { length, time: Math.floor(time / 1_000), size: text.length, isUser });
    this.#overlaid ||= !this.writable;
    if (this.writable && this.#postings.held >= heldPostings) this.flush();
  }

  /** Writes what was added. */
  flush(): void {
    const folder = this.#folder;
    if (folder === undefined || !this.writable) return;
    const lines = this.#table.take();
    if (lines.length === 0) return;
    try {
      this.#write(folder, lines);
    } catch (error) {
      this.#letGo(error);
    }
  }

  /** The disk is full, or taken away: what was added stays in memory, and is read again from the sessions later. */
  #letGo(error: unknown): void {
    this.#overlaid = true;
    if (!isRefusal(error)) throw error;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #write(folder: string, lines: readonly string[]): void {
    const { next } = this.#table;
    // A process that dies in between has used these numbers: postings of theirs may be there.
    this.#read = writeLines(folder, [JSON.stringify({ reserved: next })], this.#read);
    this.#postings.write();
    this.#facts.flush();
    this.#read = writeLines(folder, [...lines, this.#claim()], this.#read);
    this.#postings.written(next);
    const { lines: count, leastLines } = this.#table;
    if (count > manyLines && count > linesTimes * leastLines) {
      this.#read = replaceTable(folder, [...this.#table.all(), this.#claim()]);
      this.#table.lines = leastLines;
    }
  }

  /**
   * The messages of a session that may hold all of the terms, by `seq`, oldest first: hashes can be alike. Each call looks
   * the terms up once, for all sessions.
   */
  holding(terms: ReadonlySet<string>): (entry: IndexedEntry) => readonly number[] {
    const { next } = this.#table;
    const marks = new Uint8Array(next);
    const lists = this.#postings.find([...terms].slice(0, mostWords)).map(({ numbers }) => numbers);
    for (const [place, numbers] of lists.entries()) {
      for (const number of numbers) if (number < next && marks[number] === place) marks[number] = place + 1;
    }
    return ({ stretches }) => {
      const seqs: number[] = [];
      for (const { number, from, count } of stretches) {
        for (let one = 0; one < count; one++) if (marks[number + one] === lists.length) seqs.push(from + one);
      }
      return seqs;
    };
  }

  /** The messages that answer some terms best, the best first. */
  *rank(terms: ReadonlySet<string>, field: Field): Work<readonly RankedMessage[]> {
    return yield* best(field, yield* this.scores(terms, field.entries));
  }

  /** The score of each message for some terms, by number. */
  *scores(terms: Iterable<string>, entries: readonly IndexedEntry[]): Work<Float64Array> {
    const { next } = this.#table;
    const facts = this.#facts;
    const postings = this.#postings.find([...terms]);
    yield;
    return yield* scored({ next, length: (number) => facts.length(number) }, { entries }, postings);
  }

  /** The messages that hold each of some terms. */
  find(terms: readonly string[]): readonly Posted[] {
    return this.#postings.find(terms);
  }

  /** {@link rank} without a turn for the event loop. */
  rankNow(terms: ReadonlySet<string>, field: Field): readonly RankedMessage[] {
    return atOnce(this.rank(terms, field));
  }

  /** Messages that have a mark, by number: 1 where it stands. */
  marked(mark: string): Uint8Array {
    const marked = new Uint8Array(this.#table.next);
    for (const { numbers } of this.#postings.find([mark])) for (const number of numbers) marked[number] = 1;
    return marked;
  }

  /** Characters of a message. */
  charactersOf(number: number): number {
    return this.#facts.size(number);
  }

  /** Terms of a message. */
  lengthOf(number: number): number {
    return this.#facts.length(number);
  }

  /** Whether a user said a message. */
  isUser(number: number): boolean {
    return this.#facts.isUser(number);
  }

  /** When a message was written, in seconds since 1970. */
  timeOf(number: number): number {
    return this.#facts.time(number);
  }

  /**
   * Takes sessions out, as if they had never been there: every file that named them is written anew. Also what a process
   * that died had begun to write or to take out.
   *
   * @returns the files that were
   */
  forget(sessionIds: ReadonlySet<string>): readonly string[] {
    const folder = this.#folder;
    if (folder === undefined || !this.writable) {
      for (const id of sessionIds) this.#table.forget(id);
      return [];
    }
    this.flush();
    const gone = [...sessionIds].flatMap((id) => this.#table.forget(id));
    const changed: string[] = [];
    // The table goes first: a reader finds no posting that it cannot name.
    if (gone.length > 0) {
      this.#read = replaceTable(folder, this.#table.all());
      changed.push(join(folder, tableFile));
    }
    const { next } = this.#table;
    const known = new Uint8Array(next);
    for (const { stretches } of this.#table.entries()) {
      for (const { number, count } of stretches) known.fill(1, number, number + count);
    }
    changed.push(...this.#postings.keep((number) => known[number] === 1));
    for (const { number, count } of gone) this.#facts.wipe(number, count);
    changed.push(...forgetVectors(folder, sessionIds));
    this.#read = writeLines(folder, [this.#claim()], this.#read);
    const holes = next - this.size;
    if (holes >= leastHoles && holes > holesShare * next) this.#begin(folder);
    return changed;
  }

  /** The line that says how many bytes of postings there are: fewer were lost in a power cut. */
  #claim(): string {
    return JSON.stringify({ postings: this.#postings.bytes() });
  }

  #refresh(folder: string): void {
    const before = this.#read;
    const read = readTable(folder, before);
    const isSame = read?.made === before?.made && read?.size === before?.size;
    const mustWrite = this.writable && (this.#overlaid || !read);
    if (isSame && !mustWrite) return;
    const again = !before || read?.made !== before.made || this.#overlaid;
    const whole = again ? readTable(folder, undefined) : read;
    if (again) this.#drop();
    for (const line of whole?.lines ?? []) this.#table.read(line);
    this.#read = whole;
    const { next, end, postingBytes } = this.#table;
    const hasFacts =
      whole?.isDamaged !== true && this.#facts.read(next) >= end && !(end > 0 && this.#facts.isBlank(end - 1));
    if (whole && hasFacts && (!again || this.#hasPostings(next, postingBytes))) {
      this.#postings.written(next);
      return;
    }
    this.#drop();
    this.#table.next = next;
    if (this.writable) this.#begin(folder);
    else this.#read = whole;
  }

  /** Whether the files have all postings that the table speaks of, and none that it ought to speak of. */
  #hasPostings(next: number, bytes: number): boolean {
    const found = this.#postings.bytes();
    if (found < bytes || this.#postings.isBlank) return false;
    // More of them are of a process that died, with numbers that it had reserved; or the table lost its end in a power
    // cut, and would give their numbers away again. A reader finds none of them.
    return found === bytes || !this.writable || this.#postings.largest() < next;
  }

  #drop(): void {
    this.#table = new Table();
    this.#postings.drop();
    this.#facts.drop();
    this.#read = undefined;
    this.#overlaid = false;
  }

  /** Begins an empty index in the place of what the folder has. Its numbers go on: readers of the old one find none twice. */
  #begin(folder: string): void {
    const { next } = this.#table;
    this.#drop();
    this.#table.next = next;
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (/\.postings(?:\.new)?$|^facts$|^stretches\.jsonl$/.test(name)) rmSync(join(folder, name));
    }
    this.#read = replaceTable(folder, this.#table.all());
  }
}
