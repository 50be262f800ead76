/**
 * Lines in numbers, a row each. A table lives from one choice to the next: what stands in a stretch that is as it was is
 * not examined again.
 */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { Facts } from "./facts.ts";
import type { Line, LineFacts, LineKind } from "./line.ts";
import { Numbers } from "./numbers.ts";
import type { Passage } from "./passages.ts";
import { longer, moveLists } from "./columns.ts";
import { isDocument, sayingOf } from "./saying.ts";
import type { Saying } from "./saying.ts";
import { Sayings } from "./sayings.ts";

/** The rows of a passage. */
export interface Block {
  from: number;
  /** The row behind its last. */
  to: number;
  /** Whether the first row is the beginning of a message, where that says what a line of the user's is about. */
  readonly hasHead: boolean;
  passage: Passage;
  /** The number of the line before it. */
  title: number;
  /** The call in its label, without the note on how its output was cut. */
  command: string;
  /** The last choice that had it. */
  choice: number;
}

const weights: Readonly<Record<LineKind, number>> = {
  user: 3,
  error: 3,
  written: 1.1,
  read: 1,
  result: 0.9,
  answered: 1.5,
  said: 0.35,
};

/** The look of a sentence of prose. */
export const isSentence = 1;
/** The look of a line that may stand in every passage. */
export const isBracket = 2;
/** The look of a line that closes what stands before it. */
export const isClosing = 4;
const bracketLength = 3;
const closing = /^[\])};,]+$/;

/** Lines that are examined in one step. */
const linesPerStep = 128;
/** Most tokens of a message's beginning that stands with each of its lines. */
const longestHead = 40;
/** Rows of stretches that are gone, beside a share of those that the last choice had: then they leave the table. */
const mostIdle = 4_096;
const idleShare = 0.25;
/** Rows that are moved in one step. */
const rowsPerStep = 2_048;

/** The rows of all lines that a choice is made from, with their words and keys by number. */
export class LineTable {
  /** By row. */
  readonly lines: Line[] = [];
  readonly blocks: Block[] = [];
  keys = new Int32Array(64);
  seqs = new Int32Array(64);
  tokens = new Int32Array(64);
  /** The looks of its text: `isSentence`, `isBracket` and `isClosing` together. */
  looks = new Uint8Array(64);
  /** The worth of a line of its kind. */
  worths = new Float64Array(64);
  /** The place of its first word; behind its last are those of the next row. */
  wordsFrom = new Int32Array(65);
  /** The words of all rows. */
  words = new Int32Array(512);
  /**
   * By row, for the choice that is made: the value of a line without the novelty of its words and without its neighbours,
   * and that for each of its tokens.
   */
  weights = new Float64Array(64);
  values = new Float64Array(64);
  /** Likewise, 1 for a line whose words count, as it stands nowhere else. */
  isNew = new Uint8Array(64);
  /** Likewise, 1 for a line that stands in the window outside of the digest. */
  isShown = new Uint8Array(64);
  /** Likewise, 1 for a file's line that stands elsewhere in the digest: it is shown only beside a chosen one. */
  isAgain = new Uint8Array(64);
  isChosen = new Uint8Array(64);
  /** Likewise, 1 for a line of the user's that was carried out. */
  isDone = new Uint8Array(64);
  /** The sayings of the rows. */
  readonly sayings = new Sayings();
  /** By word. */
  wordWorths = new Float64Array(256);
  wordShown = new Int32Array(256);
  /** By title: its tokens, and the last choice that showed it. */
  readonly titleTokens: number[] = [];
  readonly titleShown: number[] = [];
  readonly #counter: TokenCounter;
  readonly #words = new Numbers();
  readonly #keys = new Numbers();
  readonly #titles = new Numbers();
  readonly #known = new Map<readonly Line[], Block>();
  /** The choices that were made of it, and the rows that the last one had. */
  #choice = 0;
  #used = 0;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** Above the numbers of all keys. */
  get keyLimit(): number {
    return this.#keys.limit;
  }

  /** The number of a key; undefined where no line has it. */
  key(key: string): number | undefined {
    return this.#keys.known(key);
  }

  /** The number of a word; undefined where no line has it. */
  word(spelling: string): number | undefined {
    return this.#words.known(spelling);
  }

  /** The table for the next choice with a counter: without what is gone, where it holds much of that. */
  *next(counter: TokenCounter): Work<LineTable> {
    if (counter !== this.#counter) return new LineTable(counter);
    if (this.lines.length > (1 + idleShare) * this.#used + mostIdle) yield* this.#shrinking();
    this.#choice++;
    this.#used = 0;
    return this;
  }

  /** Takes out what the last choice did not have. */
  *#shrinking(): Work<void> {
    for (const [lines, { choice }] of this.#known) if (choice !== this.#choice) this.#known.delete(lines);
    yield;
    const titles = new Set<number>();
    let end = 0;
    for (let row = 0, steps = 0; row < this.lines.length;) {
      const block = this.blocks[row]!;
      row = block.to;
      if (block.choice !== this.#choice) continue;
      titles.add(block.title);
      this.#move(block, end);
      end = block.to;
      if ((steps += block.to - block.from) < rowsPerStep) continue;
      steps = 0;
      yield;
    }
    this.lines.length = end;
    this.blocks.length = end;
    yield* this.#titles.keeping(Int32Array.from(titles));
    yield* this.#keys.keeping(this.keys.subarray(0, end));
    yield* this.#words.keeping(this.words.subarray(0, this.wordsFrom[end]!));
    yield* this.sayings.keeping(end);
  }

  /** Moves a block's rows to others before them. */
  #move(block: Block, to: number): void {
    const { from, to: end } = block;
    const back = from - to;
    if (back === 0) return;
    for (const column of [this.keys, this.seqs, this.tokens, this.looks, this.worths]) column.copyWithin(to, from, end);
    const { lines, blocks } = this;
    for (let row = from; row < end; row++) {
      lines[row - back] = lines[row]!;
      blocks[row - back] = block;
    }
    moveLists(this.words, this.wordsFrom, from, end, to);
    this.sayings.move(from, end, to);
    block.from -= back;
    block.to -= back;
  }

  /**
   * The rows of passages, in their order.
   *
   * @param titleOf - the line before a passage that is the first of its file or record
   */
  *rowsOf(passages: readonly Passage[], titleOf: (passage: Passage) => string, facts: Facts): Work<readonly Block[]> {
    const blocks: Block[] = [];
    let steps = 0;
    for (const passage of passages) {
      const { file, subject, label, lines } = passage;
      let block = this.#known.get(lines);
      for (const line of block ? [] : lines) {
        facts.ofLine(line);
        if (++steps % linesPerStep === 0) yield;
      }
      if (!block || block.choice === this.#choice) this.#known.set(lines, (block = this.#add(passage, facts)));
      const before = block.passage;
      if (block.title < 0 || before.subject !== subject || before.label !== label || before.file !== file) {
        block.title = this.#title(titleOf(passage), facts);
        block.command = file ? "" : commandOf(label);
      }
      block.passage = passage;
      block.choice = this.#choice;
      this.#used += lines.length;
      blocks.push(block);
      if (++steps % linesPerStep === 0) yield;
    }
    facts.expect(this.#used);
    return blocks;
  }

  #add(passage: Passage, facts: Facts): Block {
    const { file, lines } = passage;
    const from = this.lines.length;
    const [first] = lines;
    const block: Block = {
      from,
      to: from + lines.length,
      hasHead: first?.kind === "user" && this.#isHead(first, facts),
      passage,
      title: -1,
      command: "",
      choice: -1,
    };
    const isCode = file && !isDocument(passage.subject);
    for (const line of lines) {
      this.#addRow(line, facts.ofLine(line), sayingOf(line.text, line.kind, isCode));
      this.blocks.push(block);
    }
    return block;
  }

  /** Whether a message's first line names something, in few words. */
  #isHead(line: Line, facts: Facts): boolean {
    const { tokens, words } = facts.ofLine(line);
    return tokens < longestHead && words.some(({ worth }) => worth >= 1);
  }

  #addRow(line: Line, { tokens, words, failing }: LineFacts, saying: Saying): void {
    const row = this.lines.push(line) - 1;
    if (row >= this.keys.length) {
      this.keys = longer(this.keys);
      this.seqs = longer(this.seqs);
      this.tokens = longer(this.tokens);
      this.looks = longer(this.looks);
      this.worths = longer(this.worths);
      this.wordsFrom = longer(this.wordsFrom);
      this.weights = longer(this.weights);
      this.values = longer(this.values);
      this.isNew = longer(this.isNew);
      this.isShown = longer(this.isShown);
      this.isAgain = longer(this.isAgain);
      this.isChosen = longer(this.isChosen);
      this.isDone = longer(this.isDone);
    }
    this.keys[row] = this.#keys.of(line.key);
    this.seqs[row] = line.seq;
    this.tokens[row] = tokens + 1;
    this.looks[row] =
      (line.isSentence ? isSentence : 0) +
      (line.key.length <= bracketLength ? isBracket : 0) +
      (closing.test(line.key) ? isClosing : 0);
    this.worths[row] = weights[line.kind === "result" && failing ? "error" : line.kind];
    let end = this.wordsFrom[row] ?? 0;
    while (end + words.length > this.words.length) this.words = longer(this.words);
    for (const { spelling, worth } of words) {
      const word = this.#words.of(spelling);
      if (word >= this.wordWorths.length) {
        this.wordWorths = longer(this.wordWorths);
        this.wordShown = longer(this.wordShown);
      }
      this.wordWorths[word] = worth;
      this.words[end++] = word;
    }
    this.wordsFrom[row + 1] = end;
    this.sayings.add(row, saying);
  }

  #title(text: string, facts: Facts): number {
    let title = this.#titles.known(text);
    if (title === undefined) {
      title = this.#titles.of(text);
      this.titleTokens[title] = facts.of(text).tokens + 1;
      this.titleShown[title] = 0;
    }
    return title;
  }
}

/** The call in a label, without the note on how its output was cut. */
function commandOf(label: string): string {
  return label.replace(/\s+(?:2>&1|\|).*$/, "");
}
