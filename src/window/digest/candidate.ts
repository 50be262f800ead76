/** Candidates: the lines of passages with their worth, each beside its neighbours. */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { Facts } from "./facts.ts";
import type { Line } from "./line.ts";
import { isBracket } from "./line-table.ts";
import type { Block, LineTable } from "./line-table.ts";
import type { Passage } from "./passages.ts";

/** Options of the choice. */
export interface ChoiceOptions {
  readonly counter: TokenCounter;
  /** How recent a message is, 0 to 1. */
  readonly recency: (seq: number) => number;
  /** How much calls have to do with a subject, from 0. */
  readonly heat: (subject: string) => number;
  /** Whether a line of the user's was carried out. Default: none. */
  readonly isDone?: (line: Line) => boolean;
  /** The keys of lines that stand in the window already. */
  readonly shownLines: ReadonlySet<string>;
  /** Texts that stand in the window already: their words are nothing new. */
  readonly shownTexts: readonly string[];
  /** Texts that stand before all lines: the task, the system block, pins. Default: none. */
  readonly standing?: readonly string[];
  /** The user's messages that stand whole. Default: none. */
  readonly whole?: readonly Passage[];
  /** The line before a passage that is the first of its file or record. */
  readonly title: (passage: Passage) => string;
}

/** The weight of the user's lines that were carried out. */
const doneWeight = 0.9;

/** Rows that are looked at in one step. */
const rowsPerStep = 2_048;

/** The lines that may be chosen, by their rows in a table. */
export interface Candidates {
  readonly table: LineTable;
  /** The passages that are chosen from, in their order. */
  readonly blocks: readonly Block[];
  /** The user's messages that stand whole. */
  readonly whole: readonly Block[];
}

/** The candidates of passages, in their order. */
export function* weighing(
  passages: readonly Passage[],
  options: ChoiceOptions,
  facts: Facts,
  table: LineTable,
): Work<Candidates> {
  const blocks = yield* table.rowsOf(passages, options.title, facts);
  const whole = yield* table.rowsOf(options.whole ?? [], options.title, facts);
  table.isChosen.fill(0);
  const shown = new Uint8Array(table.keyLimit);
  for (const line of options.shownLines) {
    const key = table.key(line);
    if (key !== undefined) shown[key] = 1;
  }
  yield;
  yield* weigh(table, blocks, shown, options);
  yield* weigh(table, whole, shown, options);
  for (const { from, to } of whole) table.isShown.fill(1, from, to);
  return { table, blocks, whole };
}

function* weigh(
  table: LineTable,
  blocks: readonly Block[],
  shown: Uint8Array,
  { recency, heat, isDone: wasDone = () => false }: ChoiceOptions,
): Work<void> {
  const { keys, worths, wordsFrom, lines, weights, isNew, isShown, isAgain, isDone } = table;
  const { newest, first } = yield* seenKeys(table, blocks, shown);
  const latest = latestOf(blocks);
  const recencyOf = remembering(recency, blocks, table.seqs);
  let steps = 0;
  for (const block of blocks) {
    const { passage, from, to } = block;
    const { file, subject } = passage;
    const warmth = heat(subject);
    const begin = passage.lines[0];
    const isPrinted = begin?.kind === "result" || begin?.kind === "error";
    const dated = isPrinted && latest.get(block.command) !== begin.seq ? 0.3 : 1;
    for (let row = from; row < to; row++) {
      const key = keys[row]!;
      const shows = first[key]! - 1;
      const again = shows >= 0 && shows !== row && lines[shows] !== lines[row];
      weights[row] = worths[row]! * recencyOf(newest[key]!) * (1 + warmth) * dated;
      isShown[row] = shown[key]!;
      isAgain[row] = again && file ? 1 : 0;
      isNew[row] = again || shown[key] === 1 || wordsFrom[row] === wordsFrom[row + 1] ? 0 : 1;
    }
    for (let row = from; row < to; row++) {
      isDone[row] = begin?.kind === "user" && wasDone(lines[row]!) ? 1 : 0;
      if (isDone[row] === 1) weights[row] = doneWeight * recencyOf(newest[keys[row]!]!) * (1 + warmth) * dated;
    }
    if ((steps += to - from) < rowsPerStep) continue;
    steps = 0;
    yield;
  }
}

/** By command: the message with its newest output. */
function latestOf(blocks: readonly Block[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { passage, command } of blocks) {
    if (passage.file) continue;
    latest.set(command, Math.max(latest.get(command) ?? 0, passage.lines[0]?.seq ?? 0));
  }
  return latest;
}

/** The keys of lines during a choice, by their numbers. */
interface SeenKeys {
  /** The newest message with it. */
  readonly newest: Int32Array;
  /** The row that shows it in the digest, others need not: one of a file, or else the newest. From 1, 0 for none. */
  readonly first: Int32Array;
}

function* seenKeys(
  { keys, seqs, looks, keyLimit }: LineTable,
  blocks: readonly Block[],
  shown: Uint8Array,
): Work<SeenKeys> {
  const newest = new Int32Array(keyLimit).fill(-1);
  const first = new Int32Array(keyLimit);
  const order = blocks.toSorted(({ passage: left }, { passage: right }) => {
    return Number(right.file) - Number(left.file) || (right.lines[0]?.seq ?? 0) - (left.lines[0]?.seq ?? 0);
  });
  let steps = 0;
  for (const { from, to } of order) {
    for (let row = from; row < to; row++) {
      const key = keys[row]!;
      const seq = seqs[row]!;
      if (newest[key] === -1) {
        newest[key] = seq;
        if (shown[key] === 0 && (looks[row]! & isBracket) === 0) first[key] = row + 1;
      } else if (seq > newest[key]!) newest[key] = seq;
    }
    if ((steps += to - from) < rowsPerStep) continue;
    steps = 0;
    yield;
  }
  return { newest, first };
}

/** The recency of messages, computed once each. */
function remembering(recency: (seq: number) => number, blocks: readonly Block[], seqs: Int32Array): typeof recency {
  let [oldest, newest] = [Infinity, 0];
  for (const { from, to } of blocks) {
    for (let row = from; row < to; row++) {
      const seq = seqs[row]!;
      if (seq < oldest) oldest = seq;
      if (seq > newest) newest = seq;
    }
  }
  const known = new Float64Array(Math.max(0, newest - oldest + 1)).fill(-1);
  return (seq) => {
    const value = known[seq - oldest]!;
    return value >= 0 ? value : (known[seq - oldest] = recency(seq));
  };
}
