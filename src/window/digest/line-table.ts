/**
 * Lines in numbers, a row each. A table lives from one choice to the next: what stands in a stretch that is as it was is
 * not examined again.
 */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { Facts } from "./facts.ts";
import type { Line, LineKind } from "./line.ts";
import type { Passage } from "./passages.ts";

/** A line of a record as statements are read from it. */
export interface Candidate {
  readonly line: Line;
  /** Its row in the table. */
  readonly row: number;
  readonly index: number;
  readonly block: Block;
  readonly tokens: number;
  /** Whether it is a line of the user's that was carried out. */
  done: boolean;
}

/** The rows of a passage. */
export interface Block {
  readonly from: number;
  /** The row behind its last. */
  readonly to: number;
  /** Whether the first row is the beginning of a message, where that says what a line of the user's is about. */
  readonly hasHead: boolean;
  /** The lines of a record; none of a file's. */
  readonly candidates: readonly Candidate[];
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
/** Rows of stretches that are gone, beside as many as the last choice had: then the table begins anew. */
const mostIdle = 8_192;

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
  /** By word. */
  wordWorths = new Float64Array(256);
  wordShown = new Int32Array(256);
  /** By title: its tokens, and the last choice that showed it. */
  readonly titleTokens: number[] = [];
  readonly titleShown: number[] = [];
  readonly #counter: TokenCounter;
  readonly #wordNumbers = new Map<string, number>();
  readonly #keyNumbers = new Map<string, number>();
  readonly #titleNumbers = new Map<string, number>();
  readonly #known = new Map<readonly Line[], Block>();
  /** The choices that were made of it, and the rows that the last one had. */
  #choice = 0;
  #used = 0;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** How many keys its lines have. */
  get keyCount(): number {
    return this.#keyNumbers.size;
  }

  /** The table for the next choice with a counter: another one where this holds much that is gone. */
  next(counter: TokenCounter): LineTable {
    const isIdle = this.lines.length > 2 * this.#used + mostIdle;
    if (isIdle || counter !== this.#counter) return new LineTable(counter);
    this.#choice++;
    this.#used = 0;
    return this;
  }

  /** The number of a key; undefined where no line has it. */
  key(key: string): number | undefined {
    return this.#keyNumbers.get(key);
  }

  /** The number of a word; undefined where no line has it. */
  word(spelling: string): number | undefined {
    return this.#wordNumbers.get(spelling);
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
      if (!file || !block) {
        // The words of records are those of one generation, by which statements are compared.
        for (const line of lines) {
          facts.ofLine(line);
          if (++steps % linesPerStep === 0) yield;
        }
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
    const candidates: Candidate[] = [];
    const block: Block = {
      from,
      to: from + lines.length,
      hasHead: first?.kind === "user" && this.#isHead(first, facts),
      candidates,
      passage,
      title: -1,
      command: "",
      choice: -1,
    };
    for (const [index, line] of lines.entries()) {
      this.#addRow(line, facts);
      this.blocks.push(block);
      const row = from + index;
      if (!file) candidates.push({ line, row, index, block, tokens: this.tokens[row] ?? 0, done: false });
    }
    return block;
  }

  /** Whether a message's first line names something, in few words. */
  #isHead(line: Line, facts: Facts): boolean {
    const { tokens, words } = facts.ofLine(line);
    return tokens < longestHead && words.some(({ worth }) => worth >= 1);
  }

  #addRow(line: Line, facts: Facts): void {
    const row = this.lines.push(line) - 1;
    const { tokens, words, failing } = facts.ofLine(line);
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
    }
    this.keys[row] = numberOf(this.#keyNumbers, line.key);
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
      const word = numberOf(this.#wordNumbers, spelling);
      if (word >= this.wordWorths.length) {
        this.wordWorths = longer(this.wordWorths);
        this.wordShown = longer(this.wordShown);
      }
      this.wordWorths[word] = worth;
      this.words[end++] = word;
    }
    this.wordsFrom[row + 1] = end;
  }

  #title(text: string, facts: Facts): number {
    const title = numberOf(this.#titleNumbers, text);
    if (title === this.titleTokens.length) {
      this.titleTokens.push(facts.of(text).tokens + 1);
      this.titleShown.push(0);
    }
    return title;
  }
}

function numberOf(numbers: Map<string, number>, text: string): number {
  let number = numbers.get(text);
  if (number === undefined) numbers.set(text, (number = numbers.size));
  return number;
}

/** A copy with twice the room, and one more. */
function longer<T extends Int32Array | Float64Array | Uint8Array>(numbers: T): T {
  const grown = new (numbers.constructor as new (length: number) => T)(2 * numbers.length + 1);
  grown.set(numbers);
  return grown;
}

/** The call in a label, without the note on how its output was cut. */
function commandOf(label: string): string {
  return label.replace(/\s+(?:2>&1|\|).*$/, "");
}
