/** Rows: the lines that a choice is made from, with their worth, each beside its neighbours. */
import type { LineKind } from "./line-kind.ts";
import type { Line, Passage } from "./line.ts";
import { asserts, changes } from "./saying.ts";
import type { Statement, Statements } from "./statements.ts";
import type { TextFacts, Texts } from "./texts.ts";

/** What was stated, for a choice that shows no line without what was said later of the same. */
export interface Stated {
  readonly statements: Statements;
  /** What stands in the window before all candidates: the task, the system block, pins. */
  readonly standing: readonly Statement[];
}

/** Options of the choice. */
export interface ChoiceOptions {
  readonly texts: Texts;
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
  /** The user's messages that stand whole. Default: none. */
  readonly whole?: readonly Passage[];
  /** Default: lines stand for themselves. */
  readonly stated?: Stated;
  /** The line before a passage that is the first of its file or record. */
  readonly title: (passage: Passage) => string;
}

/** The line before a passage. */
export interface Title {
  readonly tokens: number;
  /** The last choice that shows it. */
  shownBy: number;
}

/** A passage with its place among the rows. */
export interface Block {
  readonly passage: Passage;
  readonly from: number;
  /** The row behind its last. */
  readonly to: number;
  readonly title: Title;
  /** Whether the first row is the beginning of a message, where that says what a line of the user's is about. */
  readonly hasHead: boolean;
}

/** A line that may be chosen. */
export interface Row {
  readonly line: Line;
  readonly facts: TextFacts;
  readonly block: Block;
  readonly at: number;
  /** With its newline. */
  readonly tokens: number;
  /** Its value without the novelty of its words and without its neighbours. */
  readonly weight: number;
  /** Whether its words count, as it stands nowhere else. */
  readonly isNew: boolean;
  /** Whether it stands in the window outside of the digest. */
  readonly isShown: boolean;
  /** Whether it is a file's line that stands elsewhere in the digest: it is shown only beside a chosen one. */
  readonly isAgain: boolean;
  /** Whether it is a line of the user's that was carried out. */
  readonly isDone: boolean;
  isChosen: boolean;
  /** The newest rows that speak of the same; undefined until they are asked for. */
  newer: readonly Row[] | undefined;
  /** Its value for each of its tokens when it was last looked at. */
  value: number;
}

/** The rows of all passages, and of the user's messages that stand whole. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly blocks: readonly Block[];
  readonly whole: readonly Row[];
  /** The newest row that says something; undefined where none does. */
  readonly rowOf: (statement: Statement) => Row | undefined;
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

/** Characters of a line that may stand in every passage. */
const bracketLength = 3;
/** Most tokens of a message's beginning that stands with each of its lines. */
const longestHead = 40;

/** The rows of passages, in their order. */
export function rowsOf(passages: readonly Passage[], options: ChoiceOptions): Rows {
  const { shownLines, whole = [], texts, title, recency, heat } = options;
  const titles = new Map<string, Title>();
  const titleOf = (passage: Passage): Title => {
    const text = title(passage);
    let known = titles.get(text);
    if (!known) titles.set(text, (known = { tokens: texts.tokens(text) + 1, shownBy: 0 }));
    return known;
  };
  const seen = seenKeys(passages, shownLines);
  const blocks: Block[] = [];
  const rows: Row[] = [];
  const add = (passage: Passage, stands: boolean): void => {
    const { file, subject, lines } = passage;
    const from = rows.length;
    const hasHead = lines[0]?.kind === "user" && isHead(lines[0], texts);
    const block = { passage, from, to: from + lines.length, title: titleOf(passage), hasHead };
    blocks.push(block);
    const factor = 1 + heat(subject);
    for (const line of lines) {
      const facts = texts.of(line);
      const { kind, key, seq } = line;
      const isShown = stands || shownLines.has(key);
      const { shownAs = line, newest = seq } = seen.get(key) ?? {};
      const isElsewhere = shownAs !== line;
      const isDone = kind === "user" && (options.isDone?.(line) ?? false);
      const worth = isDone ? doneWeight : weights[kind === "result" && facts.isFailing ? "error" : kind];
      rows.push({
        line,
        facts,
        block,
        at: rows.length,
        tokens: facts.tokens + 1,
        weight: worth * factor * recency(newest),
        isNew: !isElsewhere && !isShown && facts.words.length > 0,
        isShown,
        isAgain: isElsewhere && file,
        isDone,
        isChosen: false,
        newer: undefined,
        value: 0,
      });
    }
  };
  for (const passage of passages) add(passage, false);
  const [end, count] = [rows.length, blocks.length];
  for (const passage of whole) add(passage, true);
  const newest = new Map<Statement, Row>();
  for (const row of rows) {
    const { said, seq } = row.line;
    // Of requests that were carried out, a line that says no value changes nothing.
    if (!said || (row.isDone && (said.looks & (asserts | changes)) === 0)) continue;
    if ((newest.get(said)?.line.seq ?? 0) <= seq) newest.set(said, row);
  }
  return {
    rows: rows.slice(0, end),
    blocks: blocks.slice(0, count),
    whole: rows.slice(end),
    rowOf: (statement) => newest.get(statement),
  };
}

/** Whether a message's first line names something, in few words. */
function isHead(line: Line, texts: Texts): boolean {
  const { tokens, words } = texts.of(line);
  return tokens < longestHead && words.some(({ worth }) => worth >= 1);
}

/** What is known of all lines with one key. */
interface Seen {
  /** The newest message with such a line. */
  newest: number;
  /** The line that shows it in the digest: one of a file, or else the newest. Undefined where each may. */
  readonly shownAs: Line | undefined;
}

function seenKeys(passages: readonly Passage[], shownLines: ReadonlySet<string>): ReadonlyMap<string, Seen> {
  const known = new Map<string, Seen>();
  const order = passages.toSorted((left, right) => {
    return Number(right.file) - Number(left.file) || (right.lines[0]?.seq ?? 0) - (left.lines[0]?.seq ?? 0);
  });
  for (const { lines } of order) {
    for (const line of lines) {
      const { key, seq } = line;
      const seen = known.get(key);
      if (seen) seen.newest = Math.max(seen.newest, seq);
      else
        known.set(key, { newest: seq, shownAs: key.length > bracketLength && !shownLines.has(key) ? line : undefined });
    }
  }
  return known;
}
