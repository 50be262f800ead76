/** The choice of lines: greedy by value per token, so that what later calls look back for stays, and in passages. */
import type { TokenCounter } from "../../tokens/counter.ts";
import { factsOf } from "./facts.ts";
import { Heap } from "./heap.ts";
import { keyOf } from "./line.ts";
import type { Line, LineKind } from "./line.ts";
import type { Passage } from "./passages.ts";

/** What the choice is made under. */
export interface ChoiceOptions {
  readonly counter: TokenCounter;
  /** How recent a message is, 0 to 1. */
  readonly recency: (seq: number) => number;
  /** How much calls have to do with a subject, from 0. */
  readonly heat: (subject: string) => number;
  /** Lines, as `keyOf` gives them, and words that stand in the window already. */
  readonly shownLines: ReadonlySet<string>;
  readonly shownWords: ReadonlySet<string>;
  /** What has to stand before a passage that is the first of its file or record. */
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

interface Candidate {
  readonly line: Line;
  readonly row: Row;
  readonly index: number;
  readonly tokens: number;
  readonly words: readonly string[];
  readonly worths: readonly number[];
  /** It stands elsewhere in the digest: shown only beside a chosen line, for a passage to be whole. */
  readonly again: boolean;
  /** What it is worth beside others, without its words' novelty and its neighbours. */
  readonly weight: number;
  value: number;
  chosen: boolean;
}

interface Row {
  readonly passage: Passage;
  readonly title: string;
  readonly cells: Candidate[];
}

/**
 * Chooses, for as many tokens as it is given (with what stands around the lines), passages of the lines worth most for
 * theirs, in the order of those they are from.
 */
export function lineChooser(
  passages: readonly Passage[],
  options: ChoiceOptions,
): (room: number) => readonly Passage[] {
  const { counter, recency, heat, title } = options;
  const newest = newestOf(passages);
  const repeated = repeatedLines(passages, options.shownLines);
  const latest = latestOf(passages);
  const titles = new Map<string, number>();
  const rows = passages.map((passage): Row => {
    const row: Row = { passage, title: title(passage), cells: [] };
    if (!titles.has(row.title)) titles.set(row.title, counter.count(row.title) + 1);
    const [first] = passage.lines;
    const printed = first?.kind === "result" || first?.kind === "error";
    const outdated = printed && latest.get(commandOf(passage.label)) !== first.seq;
    for (const [index, line] of passage.lines.entries()) {
      const facts = factsOf(line.text, counter);
      const failure = line.kind === "result" && facts.failing;
      const weight = weights[failure ? "error" : line.kind];
      const age = recency(newest.get(keyOf(line.text)) ?? line.seq);
      row.cells.push({
        line,
        row,
        index,
        tokens: facts.tokens + 1,
        words: repeated.has(line) ? [] : facts.words,
        worths: facts.worths,
        again: passage.file && repeated.get(line) === "again",
        weight: weight * age * (1 + heat(passage.subject)) * (outdated ? 0.3 : 1),
        value: 0,
        chosen: false,
      });
    }
    return row;
  });
  return (room) => choose(rows, titles, options.shownWords, room);
}

function choose(
  rows: readonly Row[],
  titles: ReadonlyMap<string, number>,
  shownWords: ReadonlySet<string>,
  room: number,
): readonly Passage[] {
  const shown = new Set(shownWords);
  const opened = new Set<string>();
  for (const { cells } of rows) for (const cell of cells) cell.chosen = false;
  const neighbours = ({ row, index }: Candidate): number =>
    (row.cells[index - 1]?.chosen ? 1 : 0) + (row.cells[index + 1]?.chosen ? 1 : 0);
  const heading = ({ row }: Candidate): number => (opened.has(row.title) ? 0 : (titles.get(row.title) ?? 0));
  const density = (candidate: Candidate): number => {
    const { tokens, words, worths, weight } = candidate;
    const fresh = words.reduce((sum, word, place) => (shown.has(word) ? sum : sum + (worths[place] ?? 0)), 0);
    const beside = neighbours(candidate);
    const information = (candidate.again ? 0 : 0.2) + 0.02 * Math.min(tokens, 40) + fresh + 0.4 * beside;
    const cost = tokens + 0.75 * gapTokens * (2 - beside) + 0.25 * heading(candidate);
    return (weight * information * (1 + 0.3 * beside)) / cost;
  };
  const heap = new Heap<Candidate>();
  const offer = (candidate: Candidate): void => {
    candidate.value = density(candidate);
    heap.push(candidate, candidate.value);
  };
  for (const { cells } of rows) for (const cell of cells) if (cell.words.length > 0) offer(cell);
  let left = room;
  for (let candidate = heap.pop(); candidate && left > 4; candidate = heap.pop()) {
    if (candidate.chosen) continue;
    const now = density(candidate);
    // Others that were chosen meanwhile may have shown what this one would have: then it waits its turn again.
    if (now < candidate.value * 0.98) {
      candidate.value = now;
      heap.push(candidate, now);
      continue;
    }
    const group = fills(candidate);
    const marks = gapTokens * (1 - (neighbours(candidate) > 0 || group.length > 1 ? 1 : 0)) + heading(candidate);
    const cost = group.reduce((sum, { tokens }) => sum + tokens, 0) + marks;
    if (cost > left) continue;
    left -= cost;
    opened.add(candidate.row.title);
    for (const one of group) {
      one.chosen = true;
      for (const word of one.words) shown.add(word);
    }
    for (const one of group) {
      for (const place of [one.index - 1, one.index + 1]) {
        const neighbour = one.row.cells[place];
        if (neighbour && !neighbour.chosen && (neighbour.words.length > 0 || neighbour.again)) offer(neighbour);
      }
    }
  }
  return rows.flatMap(({ passage, cells }) => chosenOf(passage, cells));
}

/** A candidate with the lines that would be a short gap between it and chosen ones, and a bracket that closes it. */
function fills(candidate: Candidate): readonly Candidate[] {
  const { cells } = candidate.row;
  const group = [candidate];
  for (const step of [-1, 1]) {
    const between: Candidate[] = [];
    let tokens = 0;
    for (let place = candidate.index + step; between.length <= longestFill && tokens <= fillTokens; place += step) {
      const cell = cells[place];
      if (!cell) break;
      if (cell.chosen) {
        group.push(...between);
        break;
      }
      between.push(cell);
      tokens += cell.tokens;
    }
  }
  const next = cells[candidate.index + 1];
  if (next && !next.chosen && !group.includes(next) && /^[\])};,]+$/.test(keyOf(next.line.text))) group.push(next);
  return group;
}

function chosenOf(passage: Passage, cells: readonly Candidate[]): readonly Passage[] {
  const chosen: { at: number; lines: Line[] }[] = [];
  let open: { at: number; lines: Line[] } | undefined;
  for (const { line, index, chosen: taken } of cells) {
    if (!taken) open = undefined;
    else if (open) open.lines.push(line);
    else chosen.push((open = { at: passage.at === 0 ? 0 : passage.at + index, lines: [line] }));
  }
  return chosen.map((part) => ({ ...passage, ...part }));
}

/** What a label says of the call, without how its output was cut. */
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

/** When each line was seen last. */
function newestOf(passages: readonly Passage[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { lines } of passages) {
    for (const { text, seq } of lines) {
      const key = keyOf(text);
      if (seq > (newest.get(key) ?? 0)) newest.set(key, seq);
    }
  }
  return newest;
}

/** Lines that stand elsewhere in the window, or in a file or newer in the digest. */
function repeatedLines(passages: readonly Passage[], shown: ReadonlySet<string>): ReadonlyMap<Line, "shown" | "again"> {
  const repeated = new Map<Line, "shown" | "again">();
  const seen = new Set(shown);
  const order = passages.toSorted((left, right) => {
    return Number(right.file) - Number(left.file) || (right.lines[0]?.seq ?? 0) - (left.lines[0]?.seq ?? 0);
  });
  for (const { lines } of order) {
    for (const line of lines) {
      const key = keyOf(line.text);
      // Brackets and the like may stand in every passage.
      if (shown.has(key)) repeated.set(line, "shown");
      else if (seen.has(key)) repeated.set(line, "again");
      else if (key.length > 3) seen.add(key);
    }
  }
  return repeated;
}
