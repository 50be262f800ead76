/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { weighing } from "./candidate.ts";
import type { Candidate, ChoiceOptions } from "./candidate.ts";
import { factsBy, wordsOf } from "./facts.ts";
import type { Facts } from "./facts.ts";
import { Heap } from "./heap.ts";
import type { Line, Word } from "./line.ts";
import type { Passage } from "./passages.ts";
import { readStatements } from "./statements.ts";
import type { FirstChoices } from "./statements.ts";

/** Most lines and tokens between two chosen lines that are shown too: a mark would cost nearly as much. */
const longestFill = 3;
const fillTokens = 16;
const gapTokens = 2;

/** Lines that are looked at in one step. */
const linesPerStep = 256;

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
  const facts = factsBy(options.counter);
  facts.age();
  const choosing = atOnce(lineChoosing(passages, options, facts));
  return (room) => atOnce(choosing(room));
}

/**
 * As {@link lineChooser}, in steps.
 *
 * @param facts - lent to this choice alone until it was made
 */
export function* lineChoosing(
  passages: readonly Passage[],
  options: ChoiceOptions,
  facts: Facts,
): Work<(room: number) => Work<readonly Passage[]>> {
  const candidates = yield* weighing(passages, options, facts);
  const whole = yield* weighing(options.whole ?? [], options, facts);
  const first = yield* readStatements(candidates, options.standing ?? [], whole, facts);
  const shownWords = new Set<Word>();
  for (const text of options.shownTexts) {
    for (const word of wordsOf(text)) shownWords.add(facts.word(word));
    yield;
  }
  return (room) => choose(candidates, first, shownWords, room);
}

function* choose(
  candidates: readonly Candidate[],
  first: FirstChoices,
  shownWords: Iterable<Word>,
  room: number,
): Work<readonly Passage[]> {
  let steps = 0;
  const choice = new Choice(shownWords, room, first.newerOf);
  for (const candidate of candidates) candidate.chosen = false;
  for (const candidate of first.amendments) if (!candidate.shown) choice.take([candidate], room * (1 - amendmentShare));
  const leastBeside = choice.left - room * laterShare;
  for (const candidate of first.later) if (!candidate.shown) choice.take([candidate], leastBeside);
  const least = choice.left - room * instructionShare;
  for (const lines of first.instructions)
    choice.take(
      lines.filter(({ shown }) => !shown),
      least,
    );
  const heap = new Heap<Candidate>();
  const offer = (candidate: Candidate): void => {
    candidate.value = choice.density(candidate);
    heap.push(candidate, candidate.value);
  };
  for (const candidate of candidates) {
    if (candidate.words.length > 0) offer(candidate);
    if (++steps % linesPerStep === 0) yield;
  }
  for (let candidate = heap.pop(); candidate && choice.left > 4; candidate = heap.pop()) {
    if (++steps % linesPerStep === 0) yield;
    if (candidate.chosen) continue;
    const now = choice.density(candidate);
    if (now <= 0) continue;
    // Lazy greedy: this gain may be stale, because lines chosen meanwhile show some of its words. Requeue it.
    if (now < candidate.value * 0.98) {
      candidate.value = now;
      heap.push(candidate, now);
      continue;
    }
    for (const { before, after } of choice.take(fills(candidate))) {
      for (const neighbour of [before, after]) {
        if (neighbour && !neighbour.chosen && (neighbour.words.length > 0 || neighbour.again)) offer(neighbour);
      }
    }
  }
  return chosenOf(candidates);
}

/** One choice while it is made: what it has room for, and the words and titles it shows. */
class Choice {
  readonly #number = ++choices;
  #left: number;
  readonly #newerOf: FirstChoices["newerOf"];

  constructor(shownWords: Iterable<Word>, room: number, newerOf: FirstChoices["newerOf"]) {
    this.#newerOf = newerOf;
    this.#left = room;
    for (const word of shownWords) word.shownIn = this.#number;
  }

  /** Tokens that are left. */
  get left(): number {
    return this.#left;
  }

  /** The value of a candidate for each of its tokens. */
  density({ tokens, words, weight, base, title, before, after, passage, line }: Candidate): number {
    let fresh = 0;
    for (const word of words) if (word.shownIn !== this.#number) fresh += word.worth;
    const isAlone = line.isSentence && !passage.file;
    const beside = isAlone ? 0 : (before?.chosen === true ? 1 : 0) + (after?.chosen === true ? 1 : 0);
    const cost = tokens + 0.75 * gapTokens * (2 - beside) + (title.shownIn === this.#number ? 0 : 0.25 * title.tokens);
    return (weight * (base + fresh + 0.4 * beside) * (1 + 0.3 * beside)) / cost;
  }

  /**
   * Takes candidates with the newest lines that speak of the same and with the beginnings of their messages, all or none,
   * and answers with those it took.
   *
   * @param least - tokens that stay for others
   */
  take(wanted: readonly Candidate[], least = 0): readonly Candidate[] {
    const group = wanted.filter(({ chosen }) => !chosen);
    if (tokensOf(group) > this.#left - least) return [];
    const within = new Set(group);
    for (const candidate of group) {
      const newer = this.#newerOf(candidate);
      for (const one of candidate.head ? [...newer, candidate.head] : newer)
        if (!one.chosen && !one.shown && !within.has(one)) {
          within.add(one);
          group.push(one);
        }
    }
    if (group.length === 0) return [];
    const titles = new Set(group.map(({ title }) => title).filter(({ shownIn }) => shownIn !== this.#number));
    const [{ before, after }] = group as [Candidate];
    const joins = before?.chosen === true || after?.chosen === true || group.length > 1;
    let cost = (joins ? 0 : gapTokens) + tokensOf(group);
    for (const { tokens } of titles) cost += tokens;
    if (cost > this.#left - least) return [];
    this.#left -= cost;
    for (const title of titles) title.shownIn = this.#number;
    for (const one of group) {
      one.chosen = true;
      for (const word of one.words) word.shownIn = this.#number;
    }
    return group;
  }
}

function tokensOf(candidates: readonly Candidate[]): number {
  let sum = 0;
  for (const { tokens } of candidates) sum += tokens;
  return sum;
}

/** A candidate with the lines that would be a short gap between it and chosen ones, and a bracket that closes it. */
function fills(candidate: Candidate): readonly Candidate[] {
  const group = [candidate];
  for (const forward of [false, true]) {
    let cell = beside(candidate, forward);
    let count = 0;
    let tokens = 0;
    while (cell && !cell.chosen && count <= longestFill && tokens <= fillTokens) {
      tokens += cell.tokens;
      count++;
      cell = beside(cell, forward);
    }
    if (!cell?.chosen || count > longestFill || tokens > fillTokens) continue;
    for (let gap = beside(candidate, forward); gap && gap !== cell; gap = beside(gap, forward)) group.push(gap);
  }
  const next = candidate.after;
  if (next && !next.chosen && /^[\])};,]+$/.test(next.line.key) && !group.includes(next)) group.push(next);
  return group;
}

function beside({ before, after }: Candidate, forward: boolean): Candidate | undefined {
  return forward ? after : before;
}

function chosenOf(candidates: readonly Candidate[]): readonly Passage[] {
  const chosen: Passage[] = [];
  let lines: Line[] = [];
  for (const { line, passage, index, before, chosen: taken } of candidates) {
    if (!taken) continue;
    if (before?.chosen !== true) {
      lines = [];
      chosen.push({ ...passage, at: passage.at === 0 ? 0 : passage.at + index, lines });
    }
    lines.push(line);
  }
  return chosen;
}
