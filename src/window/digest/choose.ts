/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { atOnce } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { factsBy, wordsOf } from "./facts.ts";
import type { Facts } from "./facts.ts";
import { Heap } from "./heap.ts";
import type { Line, LineKind, Word } from "./line.ts";
import type { Passage } from "./passages.ts";

/** Options of the choice. */
export interface ChoiceOptions {
  readonly counter: TokenCounter;
  /** How recent a message is, 0 to 1. */
  readonly recency: (seq: number) => number;
  /** How much calls have to do with a subject, from 0. */
  readonly heat: (subject: string) => number;
  /** The keys of lines that stand in the window already. */
  readonly shownLines: ReadonlySet<string>;
  /** Texts that stand in the window already: their words are nothing new. */
  readonly shownTexts: readonly string[];
  /** The line before a passage that is the first of its file or record. */
  readonly title: (passage: Passage) => string;
}

const weights: Readonly<Record<LineKind, number>> = {
  user: 3,
  error: 2,
  written: 1.1,
  read: 1,
  result: 0.9,
  said: 0.35,
};

/** Most lines and tokens between two chosen lines that are shown too: a mark would cost nearly as much. */
const longestFill = 3;
const fillTokens = 16;
const gapTokens = 2;

/** A title, which stands once however many passages it has. */
interface Title {
  readonly tokens: number;
  /** The last choice that showed it. */
  shownIn: number;
}

interface Candidate {
  readonly line: Line;
  readonly passage: Passage;
  readonly title: Title;
  readonly index: number;
  /** The candidates beside it in its passage. */
  before: Candidate | undefined;
  after: Candidate | undefined;
  readonly tokens: number;
  readonly words: readonly Word[];
  /** It stands elsewhere in the digest: shown only beside a chosen line, for a passage to be whole. */
  readonly again: boolean;
  /** The value of the line without the novelty of its words and without its neighbours. */
  readonly weight: number;
  /** The value of the line whatever stands beside it. */
  readonly base: number;
  value: number;
  chosen: boolean;
}

/** Lines that are looked at in one step. */
const linesPerStep = 256;

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
  const { recency, heat, shownTexts } = options;
  const seen = yield* seenLines(passages, options.shownLines);
  const latest = latestOf(passages);
  const titles = new Map<string, Title>();
  const titleOf = (passage: Passage): Title => {
    const text = options.title(passage);
    let title = titles.get(text);
    if (!title) titles.set(text, (title = { tokens: facts.of(text).tokens + 1, shownIn: 0 }));
    return title;
  };
  const candidates: Candidate[] = [];
  for (const passage of passages) {
    const title = titleOf(passage);
    const heated = 1 + heat(passage.subject);
    const [first] = passage.lines;
    const printed = first?.kind === "result" || first?.kind === "error";
    const dated = printed && latest.get(commandOf(passage.label)) !== first.seq ? 0.3 : 1;
    let before: Candidate | undefined;
    for (const [index, line] of passage.lines.entries()) {
      const { tokens, words, failing } = facts.ofLine(line);
      const key = seen.get(line.key);
      const again = key?.first !== undefined && key.first !== line;
      const candidate: Candidate = {
        line,
        passage,
        title,
        index,
        before,
        after: undefined,
        tokens: tokens + 1,
        words: again || key?.shown === true ? [] : words,
        again: again && passage.file,
        weight:
          weights[line.kind === "result" && failing ? "error" : line.kind] *
          recency(key?.newest ?? line.seq) *
          heated *
          dated,
        base: (again && passage.file ? 0 : 0.2) + 0.02 * Math.min(tokens + 1, 40),
        value: 0,
        chosen: false,
      };
      if (before) before.after = candidate;
      before = candidate;
      candidates.push(candidate);
      if (candidates.length % linesPerStep === 0) yield;
    }
  }
  const shownWords = new Set<Word>();
  for (const text of shownTexts) {
    for (const word of wordsOf(text)) shownWords.add(facts.word(word));
    yield;
  }
  return (room) => choose(candidates, shownWords, room);
}

function* choose(candidates: readonly Candidate[], shownWords: Iterable<Word>, room: number): Work<readonly Passage[]> {
  let steps = 0;
  const choice = ++choices;
  for (const word of shownWords) word.shownIn = choice;
  const density = (candidate: Candidate): number => {
    const { tokens, words, weight, base, title, before, after } = candidate;
    let fresh = 0;
    for (const word of words) if (word.shownIn !== choice) fresh += word.worth;
    const beside = (before?.chosen === true ? 1 : 0) + (after?.chosen === true ? 1 : 0);
    const cost = tokens + 0.75 * gapTokens * (2 - beside) + (title.shownIn === choice ? 0 : 0.25 * title.tokens);
    return (weight * (base + fresh + 0.4 * beside) * (1 + 0.3 * beside)) / cost;
  };
  const heap = new Heap<Candidate>();
  const offer = (candidate: Candidate): void => {
    candidate.value = density(candidate);
    heap.push(candidate, candidate.value);
  };
  for (const candidate of candidates) candidate.chosen = false;
  for (const candidate of candidates) {
    if (candidate.words.length > 0) offer(candidate);
    if (++steps % linesPerStep === 0) yield;
  }
  let left = room;
  for (let candidate = heap.pop(); candidate && left > 4; candidate = heap.pop()) {
    if (++steps % linesPerStep === 0) yield;
    if (candidate.chosen) continue;
    const now = density(candidate);
    // Lazy greedy: this gain may be stale, because lines chosen meanwhile show some of its words. Requeue it.
    if (now < candidate.value * 0.98) {
      candidate.value = now;
      heap.push(candidate, now);
      continue;
    }
    const group = fills(candidate);
    const joins = candidate.before?.chosen === true || candidate.after?.chosen === true || group.length > 1;
    let cost = (joins ? 0 : gapTokens) + (candidate.title.shownIn === choice ? 0 : candidate.title.tokens);
    for (const { tokens } of group) cost += tokens;
    if (cost > left) continue;
    left -= cost;
    candidate.title.shownIn = choice;
    for (const one of group) {
      one.chosen = true;
      for (const word of one.words) word.shownIn = choice;
    }
    for (const { before, after } of group) {
      for (const neighbour of [before, after]) {
        if (neighbour && !neighbour.chosen && (neighbour.words.length > 0 || neighbour.again)) offer(neighbour);
      }
    }
  }
  return chosenOf(candidates);
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

/** The call in a label, without the note on how its output was cut. */
function commandOf(label: string): string {
  return label.replace(/\s+(?:2>&1|\|).*$/, "");
}

/** By command: the message with its newest output. */
function latestOf(passages: readonly Passage[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { file, label, lines } of passages) {
    const command = commandOf(label);
    if (!file) latest.set(command, Math.max(latest.get(command) ?? 0, lines[0]?.seq ?? 0));
  }
  return latest;
}

/** The state of a line's key during the choice. */
interface SeenLine {
  /** The newest message with it. */
  newest: number;
  /** Whether it stands in the window outside of the digest. */
  readonly shown: boolean;
  /** The line that shows it in the digest, others need not: one of a file, or else the newest. */
  first: Line | undefined;
}

/** The keys of all lines. */
function* seenLines(passages: readonly Passage[], shown: ReadonlySet<string>): Work<ReadonlyMap<string, SeenLine>> {
  const seen = new Map<string, SeenLine>();
  const order = passages.toSorted((left, right) => {
    return Number(right.file) - Number(left.file) || (right.lines[0]?.seq ?? 0) - (left.lines[0]?.seq ?? 0);
  });
  let steps = 0;
  for (const { lines } of order) {
    for (const line of lines) {
      if (++steps % linesPerStep === 0) yield;
      const known = seen.get(line.key);
      if (!known) {
        const elsewhere = shown.has(line.key);
        // Brackets and the like may stand in every passage.
        const first = elsewhere || line.key.length <= 3 ? undefined : line;
        seen.set(line.key, { newest: line.seq, shown: elsewhere, first });
      } else if (line.seq > known.newest) known.newest = line.seq;
    }
  }
  return seen;
}
