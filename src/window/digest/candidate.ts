/** Candidates: the lines of passages with their worth, each beside its neighbours. */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { Facts } from "./facts.ts";
import type { Line, LineKind, Word } from "./line.ts";
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

const weights: Readonly<Record<LineKind, number>> = {
  user: 3,
  error: 3,
  written: 1.1,
  read: 1,
  result: 0.9,
  answered: 1.5,
  said: 0.35,
};

/** The weight of the user's lines that were carried out. */
const doneWeight = 0.9;

/** A title, which stands once however many passages it has. */
export interface Title {
  readonly tokens: number;
  /** The last choice that showed it. */
  shownIn: number;
}

/** A line that may be chosen. */
export interface Candidate {
  readonly line: Line;
  readonly passage: Passage;
  readonly title: Title;
  readonly index: number;
  /** The candidates beside it in its passage. */
  before: Candidate | undefined;
  after: Candidate | undefined;
  readonly tokens: number;
  /** Whether it is a line of the user's that was carried out. */
  readonly done: boolean;
  readonly words: readonly Word[];
  /** It stands in the window outside of the digest. */
  readonly shown: boolean;
  /** It stands elsewhere in the digest: shown only beside a chosen line, for a passage to be whole. */
  readonly again: boolean;
  /** The value of the line without the novelty of its words and without its neighbours. */
  readonly weight: number;
  /** The value of the line whatever stands beside it. */
  readonly base: number;
  /** The beginning of its message, where that says what a line of the user's is about: it stands with the candidate. */
  head: Candidate | undefined;
  value: number;
  chosen: boolean;
}

/** Lines that are looked at in one step. */
const linesPerStep = 256;

/** The candidates of passages, in their order. */
export function* weighing(
  passages: readonly Passage[],
  options: ChoiceOptions,
  facts: Facts,
): Work<readonly Candidate[]> {
  const { recency, heat } = options;
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
    const warmth = heat(passage.subject);
    const [first] = passage.lines;
    const printed = first?.kind === "result" || first?.kind === "error";
    const dated = printed && latest.get(commandOf(passage.label)) !== first.seq ? 0.3 : 1;
    let before: Candidate | undefined;
    let head: Candidate | undefined;
    for (const [index, line] of passage.lines.entries()) {
      const { tokens, words, failing } = facts.ofLine(line);
      const key = seen.get(line.key);
      const done = options.isDone?.(line) ?? false;
      const again = key?.first !== undefined && key.first !== line;
      const candidate: Candidate = {
        line,
        passage,
        title,
        index,
        before,
        after: undefined,
        tokens: tokens + 1,
        done,
        words: again || key?.shown === true ? [] : words,
        shown: key?.shown === true,
        again: again && passage.file,
        weight:
          (done ? doneWeight : weights[line.kind === "result" && failing ? "error" : line.kind]) *
          recency(key?.newest ?? line.seq) *
          (1 + warmth) *
          dated,
        base: (again && passage.file ? 0 : 0.2) + 0.02 * Math.min(tokens + 1, 40),
        value: 0,
        head,
        chosen: false,
      };
      if (index === 0 && line.kind === "user" && isHead(candidate)) head = candidate;
      if (before) before.after = candidate;
      before = candidate;
      candidates.push(candidate);
      if (candidates.length % linesPerStep === 0) yield;
    }
  }
  return candidates;
}

/** Most tokens of a message's beginning that stands with each of its lines. */
const longestHead = 40;

/** Whether a message's first line names something, in few words. */
function isHead({ tokens, line }: Candidate): boolean {
  return tokens <= longestHead && (line.facts?.words.some(({ worth }) => worth >= 1) ?? false);
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
