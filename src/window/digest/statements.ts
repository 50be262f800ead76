/**
 * Statements: lines that change what earlier ones say. An earlier one never stands without the newest that speaks of the
 * same; what the user laid down for good comes before all else.
 */
import type { Work } from "../../turns.ts";
import { splitSentences } from "../../message/sentences.ts";
import { nameOf } from "../action/paths.ts";
import { linkBriefStatements } from "./brief-statements.ts";
import type { Candidate } from "./candidate.ts";
import { wordsOf } from "./facts.ts";
import type { Line, Word } from "./line.ts";
import { isRule } from "./requests.ts";

/** The lines that a choice begins with. */
export interface FirstChoices {
  /** The user's lines that change a text which stands in the window whatever is chosen, newest first. */
  readonly amendments: readonly Candidate[];
  /** The newest lines that speak of the same as a message of the user's that stands whole. */
  readonly later: readonly Candidate[];
  /** The user's rules, and short messages of the user's whole: newest messages first, rules before the rest. */
  readonly instructions: readonly (readonly Candidate[])[];
}

/** Words by which a line is known to speak of something, and words that tell what it says of it. */
const mostAnchors = 2;
const mostAspects = 16;
/** The user's sentences are few: more of their words are looked at. */
const mostAnchorsOfUser = 4;
const mostAspectsOfUser = 24;
/** Words of the user's, which are all looked at in pairs. */
const mostRare = 7;
/** A word that stands in more lines than this is no anchor, unless it looks like a name; in this share, no aspect. */
const manyLines = 12;
const manyNamed = 400;
const commonShare = 0.25;
/** The newest lines that one line is shown with: a record tells of several things, each with a newer line of its own. */
const mostNewer = 12;
/** Share of the user's lines that a rare word of theirs may stand in, and how many may always. */
const rareShare = 0.05;
const rareLines = 3;
/** Most tokens of a message of the user's that is kept whole; of a longer one, its rules. */
const shortMessage = 160;
/** Lines that are looked at in one step. */
const linesPerStep = 256;

/**
 * Finds what candidates change, and links each to the newest that speaks of the same.
 *
 * @param standing - texts that stand in the window before all candidates: the task, the system block, pins
 * @param whole - lines of the user's messages that stand whole, as candidates that nothing chooses
 */
export function* readStatements(
  candidates: readonly Candidate[],
  standing: readonly string[],
  whole: readonly Candidate[] = [],
): Work<FirstChoices> {
  const records = candidates.filter(({ passage }) => !passage.file);
  const statements = [...records, ...whole];
  yield;
  const users = records.filter(({ line }) => line.kind === "user");
  const sentences = standing.flatMap((text) => splitSentences(text)).map(wordSet);
  const lines = yield* linesByWord(statements);
  const rare = rareWords([...users.map(({ line }) => wordSet(line.text)), ...sentences]);
  yield;

  const topics = new Map<Candidate, readonly string[]>();
  const newest = new Map<string, Candidate>();
  // A later question about a setting tells nothing of its value: the newest number is looked for by itself.
  const newestValue = new Map<string, Candidate>();
  for (const [index, candidate] of statements.entries()) {
    if (index % linesPerStep === 0) yield;
    const found = topicsOf(candidate, { lines, common: statements.length * commonShare }, rare);
    if (found.length === 0) continue;
    topics.set(candidate, found);
    for (const topic of found) {
      // The agent repeats what it was told, also what no longer holds: its words make nothing older. Nor does a request
      // that was carried out and says no number.
      if (candidate.line.kind === "said" || candidate.line.kind === "answered") continue;
      const isValue = hasValue(candidate.line);
      if (candidate.done && !isValue) continue;
      for (const newestOf of isValue ? [newest, newestValue] : [newest]) {
        const known = newestOf.get(topic);
        if (!known || known.line.seq <= candidate.line.seq) newestOf.set(topic, candidate);
      }
    }
  }
  let linked = 0;
  for (const [candidate, found] of topics) {
    if (++linked % linesPerStep === 0) yield;
    const isUsers = candidate.line.kind === "user";
    const sources = isUsers ? [newestValue, newest] : [hasValue(candidate.line) ? newestValue : newest];
    const newer = found
      .flatMap((topic) => sources.map((source) => source.get(topic) ?? candidate))
      .filter((one) => isLater(one, candidate) && one.line.key !== candidate.line.key);
    candidate.newer = oftenest(newer).slice(0, mostNewer);
  }
  yield;
  yield* linkBriefStatements(statements, isLater);
  yield* linkFiles(candidates, topics);
  const fixed = new Set(sentences.flatMap((words) => pairsOf(rarest(words, rare, mostRare))));
  const amendments = users.filter((candidate) => topics.get(candidate)?.some((topic) => fixed.has(topic)));
  return {
    later: oftenest(whole.flatMap(({ newer }) => newer)),
    amendments: amendments.toSorted((left, right) => right.line.seq - left.line.seq || left.index - right.index),
    instructions: instructionsIn(users),
  };
}

/** Whether a line was said after another: a later message, or a later sentence of one that corrects itself. */
function isLater(one: Candidate, other: Candidate): boolean {
  if (one.line.seq !== other.line.seq) return one.line.seq > other.line.seq;
  if (placeOf(one) <= placeOf(other)) return false;
  return [one, other].every(({ line }) => isProse(line) && hasValue(line));
}

/** The place of a line in its message. */
function placeOf({ passage, index }: Candidate): number {
  return passage.at + index;
}

/** Whether a line is a sentence, and no row of a table or a log. */
function isProse({ text }: Line): boolean {
  return /^[^\t|{}[\]=<>]*[.!?。！？]["')\]]*$/u.test(text.trim());
}

/** Links a file's lines to what the user wrote of the same in that file: it counts, whichever is the newer. */
function* linkFiles(candidates: readonly Candidate[], topics: ReadonlyMap<Candidate, readonly string[]>): Work<void> {
  const spoken = new Map<string, Candidate>();
  const names = new Set<string>();
  for (const [candidate, found] of topics) {
    if (candidate.line.kind !== "user") continue;
    for (const topic of found) {
      const known = spoken.get(topic);
      if (!known || known.line.seq <= candidate.line.seq) spoken.set(topic, candidate);
    }
    for (const name of wordsOf(candidate.line.text)) names.add(name);
  }
  for (const [index, candidate] of candidates.entries()) {
    if (index % linesPerStep === 0) yield;
    if (!candidate.passage.file) continue;
    const named = namesOf(candidate.passage.subject).filter((name) => names.has(name));
    if (named.length === 0) continue;
    const words = (candidate.line.facts?.words ?? []).map(({ spelling }) => spelling);
    const said = named.flatMap((name) => words.flatMap((word) => spoken.get(pair(name, word)) ?? []));
    candidate.newer = oftenest(said).slice(0, mostNewer);
  }
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

/** Words as they are compared: without the points around them; of a script without spaces, every two characters. */
function wordSet(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const found of wordsOf(text)) {
    const word = found.replace(/^[./-]+|[./-]+$/g, "").toLowerCase();
    if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) {
      if (word.length >= 3) words.add(word);
      continue;
    }
    const points = [...word];
    for (let at = 0; at + 1 < points.length; at++) words.add(`${points[at]}${points[at + 1]}`);
  }
  return words;
}

/** In how many lines each word stands that is no plain number. */
function* linesByWord(statements: readonly Candidate[]): Work<ReadonlyMap<Word, number>> {
  const lines = new Map<Word, number>();
  for (const [index, { line }] of statements.entries()) {
    if (index % linesPerStep === 0) yield;
    for (const word of line.facts?.words ?? []) lines.set(word, (lines.get(word) ?? 0) + 1);
  }
  return lines;
}

/** Whether a line says a number that is no part of a name. */
function hasValue({ text }: Line): boolean {
  return /(?<![\p{L}\p{N}_./:-])\d[\d.,]*(?![\p{L}\p{N}_:/-])/u.test(text);
}

function isNumber(word: string): boolean {
  return /^[\d.,:/_-]+$/.test(word);
}

/** The words that stand in few of the user's lines, with in how many. */
function rareWords(lines: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const words of lines) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(rareLines, lines.length * rareShare);
  return new Map([...counts].filter(([word, count]) => count <= most && !isNumber(word)));
}

/** The words with the least lines, at most `most` of them. */
function rarest(words: Iterable<string>, lines: ReadonlyMap<string, number>, most: number): readonly string[] {
  return [...words]
    .filter((word) => lines.has(word))
    .toSorted((left, right) => (lines.get(left) ?? 0) - (lines.get(right) ?? 0) || (left < right ? -1 : 1))
    .slice(0, most);
}

/** The topics of a line: of a line of the user's those of each sentence, and every two of its rare words. */
function topicsOf({ line }: Candidate, words: Counted, rare: ReadonlyMap<string, number>): readonly string[] {
  const known = line.facts?.words ?? [];
  if (line.kind !== "user") return topicsAmong(known, words, 2, mostAnchors, mostAspects);
  const sentences = splitSentences(line.text).map((text) => {
    const own = new Set(wordsOf(text));
    return known.filter(({ spelling }) => own.has(spelling));
  });
  // A word of no other statement may stand in a file; it takes no place of one that other statements have.
  const topics = sentences.flatMap((own) =>
    [2, 1].flatMap((least) => topicsAmong(own, words, least, mostAnchorsOfUser, mostAspectsOfUser)),
  );
  return [...new Set([...topics, ...pairsOf(rarest(wordSet(line.text), rare, mostRare))])];
}

/** In how many lines words stand, and in how many an aspect stands at most. */
interface Counted {
  readonly lines: ReadonlyMap<Word, number>;
  readonly common: number;
}

/**
 * An anchor with an aspect, each two of some words.
 *
 * @param least - lines that a word has to stand in
 */
function topicsAmong(
  words: readonly Word[],
  { lines, common }: Counted,
  least: number,
  mostAnchors: number,
  mostAspects: number,
): readonly string[] {
  const known = words
    .map((word) => ({ word, count: lines.get(word) ?? 0 }))
    .filter(({ word, count }) => count >= least && count <= Math.max(manyNamed, common) && !isNumber(word.spelling))
    .toSorted((left, right) => left.count - right.count);
  const named = known.filter(({ word, count }) => word.worth >= 1 && count <= manyNamed).slice(0, mostAnchors);
  const rarestWords = known.filter(({ count }) => count <= manyLines).slice(0, mostAnchors);
  const aspects = known.filter(({ count }) => count <= common).slice(0, mostAspects);
  return [...new Set([...named, ...rarestWords])].flatMap(({ word: anchor }) =>
    aspects.filter(({ word }) => word !== anchor).map(({ word }) => pair(anchor.spelling, word.spelling)),
  );
}

function pair(left: string, right: string): string {
  return left < right ? `${left}\n${right}` : `${right}\n${left}`;
}

/** Every two of some words. */
function pairsOf(words: readonly string[]): string[] {
  const sorted = words.toSorted();
  return sorted.flatMap((first, at) => sorted.slice(at + 1).map((second) => pair(first, second)));
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
