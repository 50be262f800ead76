/**
 * Statements: lines that change what earlier ones say. An earlier one never stands without the newest that speaks of the
 * same; what the user laid down for good comes before all else.
 */
import type { Work } from "../../turns.ts";
import { splitSentences } from "../../message/sentences.ts";
import { nameOf } from "../action/paths.ts";
import { briefStatements } from "./brief-statements.ts";
import type { Candidates } from "./candidate.ts";
import type { Candidate } from "./line-table.ts";
import { hasValue } from "./facts.ts";
import type { Facts } from "./facts.ts";
import type { Line } from "./line.ts";
import { isRule } from "./requests.ts";
import { rareWords, Topics, wordSet, wordsSaid } from "./topics.ts";
import type { Topic } from "./topics.ts";
import { WordLines } from "./word-lines.ts";

/** The lines that a choice begins with. */
export interface FirstChoices {
  /** The user's lines that change a text which stands in the window whatever is chosen, newest first. */
  readonly amendments: readonly Candidate[];
  /** The newest lines that speak of the same as a message of the user's that stands whole. */
  readonly later: readonly Candidate[];
  /** The user's rules, and short messages of the user's whole: newest messages first, rules before the rest. */
  readonly instructions: readonly (readonly Candidate[])[];
  /** The newest lines that speak of the same as one of a record, which never stands without them. Looked for when asked. */
  readonly newerOf: (candidate: Candidate) => readonly Candidate[];
  /** The user's newest lines that speak of the same as a file's line. */
  readonly newerOfFile: (subject: string, line: Line) => readonly Candidate[];
}

/** The newest lines that one line is shown with: a record tells of several things, each with a newer line of its own. */
const mostNewer = 12;
/** Most tokens of a message of the user's that is kept whole; of a longer one, its rules. */
const shortMessage = 160;
/** Lines that are looked at in one step. */
const linesPerStep = 256;

/**
 * Finds what candidates change, and the newest lines that speak of the same as each.
 *
 * @param standing - texts that stand in the window before all candidates: the task, the system block, pins
 */
export function* readStatements(
  { blocks, whole: standingBlocks }: Pick<Candidates, "blocks" | "whole">,
  standing: readonly string[],
  facts: Facts,
): Work<FirstChoices> {
  const records = blocks.flatMap((block) => block.candidates);
  const whole = standingBlocks.flatMap((block) => block.candidates);
  const statements = [...records, ...whole];
  yield;
  const users = records.filter(({ line }) => line.kind === "user");
  const sentences = standing.flatMap((text) => splitSentences(text)).map(wordSet);
  const lines = yield* WordLines.of(statements, facts);
  const rare = rareWords([...users.map(({ line }) => wordsSaid(line)), ...sentences]);
  yield;

  const all = new Topics(lines, rare);
  const topics = new Map<Candidate, readonly Topic[]>();
  const said = new Said(lines, all);
  for (const [index, candidate] of [...users, ...whole].entries()) {
    if (index % linesPerStep === 0) yield;
    const found = all.of(candidate.line);
    if (found.length === 0) continue;
    topics.set(candidate, found);
    said.add(candidate, found);
  }
  const newerBrief = yield* briefStatements(statements, isLater);
  const known = new Map<Candidate, readonly Candidate[]>();
  const newerOf = (candidate: Candidate): readonly Candidate[] => {
    let newer = known.get(candidate);
    if (newer) return newer;
    newer = newerBrief(candidate, said.newerThan(candidate, topics.get(candidate) ?? []));
    known.set(candidate, newer);
    return newer;
  };
  yield;
  const fixed = new Set(sentences.flatMap((words) => [...all.standing(words)]));
  const amendments = users.filter((candidate) => topics.get(candidate)?.some((topic) => fixed.has(topic)));
  return {
    later: oftenest(whole.flatMap(newerOf)),
    amendments: amendments.toSorted((left, right) => right.line.seq - left.line.seq || left.index - right.index),
    instructions: instructionsIn(users),
    newerOf,
    newerOfFile: fileLinks(topics, all),
  };
}

/** The newest lines that speak of a topic: the user's are known by it, those of records are looked for. */
class Said {
  readonly #lines: WordLines;
  readonly #topics: Topics;

  constructor(lines: WordLines, topics: Topics) {
    this.#lines = lines;
    this.#topics = topics;
  }

  /** Takes a line of the user's, in the order of statements. */
  add(candidate: Candidate, topics: readonly Topic[]): void {
    const { seq } = candidate.line;
    for (const topic of topics) if (isNewer(seq, topic.spoken)) topic.spoken = candidate;
    const isValue = hasValue(candidate.line);
    // A request that was carried out and says no number makes nothing older.
    if (candidate.done && !isValue) return;
    for (const topic of topics) {
      if (isNewer(seq, topic.newest)) topic.newest = candidate;
      // A later question about a setting tells nothing of its value: the newest number is looked for by itself.
      if (isValue && isNewer(seq, topic.newestValue)) topic.newestValue = candidate;
    }
  }

  /** The newest lines that were said after a candidate, for each of its topics; `topics` are those of a user's line. */
  newerThan(candidate: Candidate, topics: readonly Topic[]): readonly Candidate[] {
    const { line } = candidate;
    const newer: Candidate[] = [];
    const note = (one: Candidate | undefined): void => {
      if (one && isLater(one, candidate) && one.line.key !== line.key) newer.push(one);
    };
    if (line.kind === "user") {
      for (const topic of topics) {
        const { words } = topic;
        for (const isValue of [true, false])
          note(newestOf(topic, isValue, words && this.#lines.newest(...words, isValue)));
      }
    } else {
      const isValue = hasValue(line);
      for (const [anchor, aspect] of this.#lines.topicsOf(line)) {
        const record = this.#lines.newest(anchor, aspect, isValue);
        note(newestOf(this.#topics.find(anchor, aspect), isValue, record));
      }
    }
    return oftenest(newer).slice(0, mostNewer);
  }
}

/** Whether a line is as new as a known one, or newer. */
function isNewer(seq: number, known: Candidate | undefined): boolean {
  return !known || known.line.seq <= seq;
}

/** The newer of a record's line and of the user's; of one message, the one that stands later among statements. */
function newestOf(topic: Topic | undefined, isValue: boolean, record: Candidate | undefined): Candidate | undefined {
  const users = isValue ? topic?.newestValue : topic?.newest;
  if (!users || !record) return users ?? record;
  return users.line.seq > record.line.seq ? users : record;
}

/** Whether a line was said after another: a later message, or a later sentence of one that corrects itself. */
function isLater(one: Candidate, other: Candidate): boolean {
  if (one.line.seq !== other.line.seq) return one.line.seq > other.line.seq;
  if (placeOf(one) <= placeOf(other)) return false;
  return [one, other].every(({ line }) => isProse(line) && hasValue(line));
}

/** The place of a line in its message. */
function placeOf({ block, index }: Candidate): number {
  return block.passage.at + index;
}

/** Whether a line is a sentence, and no row of a table or a log. */
function isProse({ text }: Line): boolean {
  return /^[^\t|{}[\]=<>]*[.!?。！？]["')\]]*$/u.test(text.trim());
}

/** Finds what the user wrote of the same as a file's line in that file: it counts, whichever is the newer. */
function fileLinks(spoken: ReadonlyMap<Candidate, unknown>, topics: Topics): FirstChoices["newerOfFile"] {
  const names = new Set<string>();
  for (const { line } of spoken.keys()) for (const { spelling } of line.facts?.words ?? []) names.add(spelling);
  const namedOf = new Map<string, readonly string[]>();
  return (subject, line) => {
    let named = namedOf.get(subject);
    if (!named) namedOf.set(subject, (named = namesOf(subject).filter((name) => names.has(name))));
    if (named.length === 0) return named as readonly never[];
    const words = line.facts?.words ?? [];
    const said = named.flatMap((name) => words.flatMap((word) => topics.find(name, word)?.spoken ?? []));
    return oftenest(said).slice(0, mostNewer);
  };
}

/** The names of a file: its path, its last part, and that without its ending. */
function namesOf(path: string): readonly string[] {
  const name = nameOf(path);
  return [...new Set([path, name, name.replace(/\.\w+$/, "")])];
}

/** Candidates, those first that are named most often; of equals the first. */
function oftenest(named: readonly Candidate[]): readonly Candidate[] {
  const counts = new Map<Candidate, number>();
  for (const one of named) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts].toSorted(([, left], [, right]) => right - left).map(([one]) => one);
}

/** The user's messages, newest first: the rules of all, then those short enough to stand whole. */
function instructionsIn(users: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const messages = new Map<number, Candidate[]>();
  for (const candidate of users) {
    if (candidate.line.key === "") continue;
    if (candidate.done) continue;
    const known = messages.get(candidate.line.seq);
    if (known) known.push(candidate);
    else messages.set(candidate.line.seq, [candidate]);
  }
  const newest = [...messages].toSorted(([left], [right]) => right - left).map(([, lines]) => lines);
  const whole = newest.filter((lines) => lines.reduce((sum, { tokens }) => sum + tokens, 0) <= shortMessage);
  return [...newest.map((lines) => lines.filter(({ line }) => isRule(line.text))), ...whole];
}
