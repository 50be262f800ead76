/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { weighing } from "./candidate.ts";
import type { Candidates, ChoiceOptions } from "./candidate.ts";
import { factsBy, wordsOf } from "./facts.ts";
import { Heap } from "./heap.ts";
import { isClosing, isSentence, LineTable } from "./line-table.ts";
import type { Line } from "./line.ts";
import type { Passage } from "./passages.ts";
import { readStatements } from "./statements.ts";
import type { FirstChoices } from "./statements.ts";

/** Most lines and tokens between two chosen lines that are shown too: a mark would cost nearly as much. */
const longestFill = 3;
const fillTokens = 16;
const gapTokens = 2;

/** Lines that are looked at in one step. */
const linesPerStep = 512;

/** Lines without room between two looks at whether what is left has room for any. */
const missesPerLook = 1_024;

/**
 * Shares of the room for the user's lines that change what stands, for what was printed later of what stands, and for
 * the user's rules and short messages.
 */
const amendmentShare = 0.5;
const laterShare = 0.1;
const instructionShare = 0.1;

/** The choices made so far: what one of them showed bears its number. */
let choices = 0;

/**
 * Chooses, for as many tokens as it is given (with what stands around the lines), passages of the lines worth most for
 * theirs, in the order of those they are from.
 */
export function lineChooser(
  passages: readonly Passage[],
  options: ChoiceOptions,
): (room: number) => readonly Passage[] {
  const choosing = atOnce(lineChoosing(passages, options, new LineTable(options.counter)));
  return (room) => atOnce(choosing(room));
}

/**
 * As {@link lineChooser}, in steps.
 *
 * @param table - the rows of an earlier choice's lines, lent to this choice alone until it was made
 */
export function* lineChoosing(
  passages: readonly Passage[],
  options: ChoiceOptions,
  table: LineTable,
): Work<(room: number) => Work<readonly Passage[]>> {
  const candidates = yield* weighing(passages, options, factsBy(options.counter), table);
  const first = yield* readStatements(candidates, options.standing ?? []);
  const shownWords = new Set<number>();
  for (const text of options.shownTexts) {
    for (const spelling of wordsOf(text)) {
      const word = table.word(spelling);
      if (word !== undefined) shownWords.add(word);
    }
    yield;
  }
  return (room) => choose(candidates, first, shownWords, room);
}

function* choose(
  candidates: Candidates,
  first: FirstChoices,
  shownWords: Iterable<number>,
  room: number,
): Work<readonly Passage[]> {
  let steps = 0;
  let misses = 0;
  const { table, blocks } = candidates;
  const { isNew, isShown, isAgain, isChosen, values } = table;
  const choice = new Choice(table, shownWords, room, first);
  for (const { from, to } of blocks) isChosen.fill(0, from, to);
  const unshown = (rows: readonly number[]): readonly number[] => rows.filter((row) => isShown[row] === 0);
  for (const row of unshown(first.amendments)) choice.take([row], room * (1 - amendmentShare));
  const leastBeside = choice.left - room * laterShare;
  for (const row of unshown(first.later)) choice.take([row], leastBeside);
  const least = choice.left - room * instructionShare;
  for (const found of first.instructions) choice.take(unshown(found), least);
  const heap = new Heap<number>();
  const offer = (row: number): void => {
    const value = choice.density(row);
    values[row] = value;
    heap.push(row, value);
  };
  for (const { from, to } of blocks) {
    for (let row = from; row < to; row++) if (isNew[row] === 1) offer(row);
    if ((steps += to - from) < linesPerStep) continue;
    steps = 0;
    yield;
  }
  for (let row = heap.pop(); row !== undefined && choice.left > 4; row = heap.pop()) {
    if (++steps % linesPerStep === 0) yield;
    if (isChosen[row] === 1) continue;
    const now = choice.density(row);
    if (now <= 0) continue;
    // Lazy greedy: this gain may be stale, because lines chosen meanwhile show some of its words. Requeue it.
    if (now < values[row]! * 0.98) {
      values[row] = now;
      heap.push(row, now);
      continue;
    }
    const group = choice.take(fills(row, table));
    // At the end hardly anything fits into what is left: it is asked for now and then whether anything does.
    if (group.length === 0 && misses++ % missesPerLook === 0 && !heap.some((one) => choice.mayFit(one))) break;
    for (const taken of group) {
      const { from, to } = table.blocks[taken]!;
      for (const beside of [taken - 1, taken + 1]) {
        if (beside < from || beside >= to || isChosen[beside] === 1) continue;
        if (isNew[beside] === 1 || isAgain[beside] === 1) offer(beside);
      }
    }
  }
  return chosenOf(candidates);
}

const nothing: readonly number[] = [];

/** One choice while it is made: what it has room for, and the words and titles it shows. */
class Choice {
  readonly #number = ++choices;
  #left: number;
  readonly #table: LineTable;
  readonly #first: FirstChoices;

  constructor(table: LineTable, shownWords: Iterable<number>, room: number, first: FirstChoices) {
    this.#table = table;
    this.#first = first;
    this.#left = room;
    const { wordShown } = this.#table;
    for (const word of shownWords) wordShown[word] = this.#number;
  }

  /** Tokens that are left. */
  get left(): number {
    return this.#left;
  }

  /** The value of a candidate for each of its tokens. */
  density(row: number): number {
    const { weights, isNew, isAgain, isChosen, tokens, looks, blocks } = this.#table;
    const { words, wordsFrom, wordWorths, wordShown, titleShown, titleTokens } = this.#table;
    const number = this.#number;
    let fresh = 0;
    if (isNew[row] === 1) {
      const end = wordsFrom[row + 1]!;
      for (let at = wordsFrom[row]!; at < end; at++) {
        const word = words[at]!;
        if (wordShown[word] !== number) fresh += wordWorths[word]!;
      }
    }
    const { from, to, title, passage } = blocks[row]!;
    let beside = 0;
    if ((looks[row]! & isSentence) === 0 || passage.file) {
      if (row > from && isChosen[row - 1] === 1) beside++;
      if (row + 1 < to && isChosen[row + 1] === 1) beside++;
    }
    const titling = titleShown[title] === number ? 0 : 0.25 * titleTokens[title]!;
    const cost = tokens[row]! + 0.75 * gapTokens * (2 - beside) + titling;
    const base = (isAgain[row] === 1 ? 0 : 0.2) + 0.02 * Math.min(tokens[row]!, 40);
    return (weights[row]! * (base + fresh + 0.4 * beside) * (1 + 0.3 * beside)) / cost;
  }

  /** Whether there may be room for a candidate, which never comes without its title. */
  mayFit(row: number): boolean {
    const { tokens, blocks, titleShown, titleTokens, isChosen } = this.#table;
    const { title } = blocks[row]!;
    const titling = titleShown[title] === this.#number ? 0 : titleTokens[title]!;
    return isChosen[row] === 0 && tokens[row]! + titling <= this.#left;
  }

  /**
   * Takes candidates with the newest lines that speak of the same and with the beginnings of their messages, all or none,
   * and answers with those it took.
   *
   * @param least - tokens that stay for others
   */
  take(wanted: readonly number[], least = 0): readonly number[] {
    const { isChosen, isNew, tokens, blocks } = this.#table;
    const { titleShown, titleTokens, words, wordsFrom, wordShown } = this.#table;
    const number = this.#number;
    const group = wanted.filter((row) => isChosen[row] === 0);
    if (tokensOf(group, tokens) > this.#left - least) return nothing;
    const within = new Set(group);
    for (const row of group) {
      for (const one of this.#with(row)) {
        if (within.has(one)) continue;
        within.add(one);
        group.push(one);
      }
    }
    const [begin] = group;
    if (begin === undefined) return nothing;
    const titles = new Set<number>();
    for (const row of group) {
      const { title } = blocks[row]!;
      if (titleShown[title] !== number) titles.add(title);
    }
    const { from, to } = blocks[begin]!;
    const isBeside = (begin > from && isChosen[begin - 1] === 1) || (begin + 1 < to && isChosen[begin + 1] === 1);
    let cost = (isBeside || group.length > 1 ? 0 : gapTokens) + tokensOf(group, tokens);
    for (const title of titles) cost += titleTokens[title]!;
    if (cost > this.#left - least) return nothing;
    this.#left -= cost;
    for (const title of titles) titleShown[title] = number;
    for (const row of group) {
      isChosen[row] = 1;
      if (isNew[row] === 0) continue;
      for (let at = wordsFrom[row]!; at < wordsFrom[row + 1]!; at++) wordShown[words[at]!] = number;
    }
    return group;
  }

  /** The lines that a candidate never stands without, beside those that stand. */
  #with(row: number): readonly number[] {
    const { isChosen, isShown } = this.#table;
    const block = this.#table.blocks[row]!;
    const newer = this.#first.newerOf(row);
    const hasHead = block.hasHead && row > block.from;
    if (newer.length === 0 && !hasHead) return nothing;
    const rows = hasHead ? [...newer, block.from] : newer;
    return rows.filter((one) => isChosen[one] === 0 && isShown[one] === 0);
  }
}

function tokensOf(rows: readonly number[], tokens: Int32Array): number {
  let sum = 0;
  for (const row of rows) sum += tokens[row]!;
  return sum;
}

/** A candidate with the lines that would be a short gap between it and chosen ones, and a bracket that closes it. */
function fills(row: number, { tokens, looks, blocks, isChosen }: LineTable): readonly number[] {
  const { from, to } = blocks[row]!;
  const group = [row];
  for (const step of [-1, 1]) {
    let cell = row + step;
    let count = 0;
    let sum = 0;
    while (cell >= from && cell < to && isChosen[cell] === 0 && count <= longestFill && sum <= fillTokens) {
      sum += tokens[cell]!;
      count++;
      cell += step;
    }
    if (cell < from || cell >= to || isChosen[cell] === 0 || count > longestFill || sum > fillTokens) continue;
    for (let gap = row + step; gap !== cell; gap += step) group.push(gap);
  }
  const next = row + 1;
  if (next < to && isChosen[next] === 0 && (looks[next]! & isClosing) !== 0 && !group.includes(next)) group.push(next);
  return group;
}

function chosenOf({ table, blocks }: Candidates): readonly Passage[] {
  const { isChosen } = table;
  const chosen: Passage[] = [];
  for (const { passage, from, to } of blocks) {
    let lines: Line[] = [];
    for (let row = from; row < to; row++) {
      if (isChosen[row] === 0) continue;
      if (row === from || isChosen[row - 1] === 0) {
        lines = [];
        chosen.push({ ...passage, at: passage.at === 0 ? 0 : passage.at + row - from, lines });
      }
      lines.push(table.lines[row]!);
    }
  }
  return chosen;
}
