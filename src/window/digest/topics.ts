/** Topics: two words of a line, by which it is known to speak of the same as another. */
import { splitSentences } from "../../message/sentences.ts";
import { wordsOf } from "./facts.ts";
import type { Line, Word } from "./line.ts";

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
/** Share of the user's lines that a rare word of theirs may stand in, and how many may always. */
const rareShare = 0.05;
const rareLines = 3;

/** In how many lines words stand, and how many lines there are. */
export interface Counted {
  readonly size: number;
  count(word: Word): number;
}

/** The words of a line that make its topics: each anchor with each aspect. */
export interface Telling {
  readonly anchors: readonly Word[];
  readonly aspects: readonly Word[];
}

/** The anchors and aspects of a record's line. */
export function tellingOf(words: readonly Word[], lines: Counted): Telling {
  return tellingAmong(words, lines, 2, mostAnchors, mostAspects);
}

/** The topics of a line of the user's: those of each sentence, and every two of its rare words. */
export function topicsOfUser(line: Line, lines: Counted, rare: ReadonlyMap<string, number>): readonly string[] {
  const known = line.facts?.words ?? [];
  const sentences = splitSentences(line.text).map((text) => {
    const own = new Set(wordsOf(text));
    return known.filter(({ spelling }) => own.has(spelling));
  });
  // A word of no other statement may stand in a file; it takes no place of one that other statements have.
  const topics = sentences.flatMap((own) =>
    [2, 1].flatMap((least) => {
      const { anchors, aspects } = tellingAmong(own, lines, least, mostAnchorsOfUser, mostAspectsOfUser);
      return anchors.flatMap((anchor) =>
        aspects.filter((word) => word !== anchor).map((word) => pair(anchor.spelling, word.spelling)),
      );
    }),
  );
  return [...new Set([...topics, ...pairsOf(rarest(wordSet(line.text), rare))])];
}

/** @param least - lines that a word has to stand in */
function tellingAmong(
  words: readonly Word[],
  lines: Counted,
  least: number,
  mostAnchors: number,
  mostAspects: number,
): Telling {
  const common = lines.size * commonShare;
  const known = words
    .map((word) => ({ word, count: lines.count(word) }))
    .filter(({ word, count }) => count >= least && count <= Math.max(manyNamed, common) && !isNumber(word.spelling))
    .toSorted((left, right) => left.count - right.count);
  const named = known.filter(({ word, count }) => word.worth >= 1 && count <= manyNamed).slice(0, mostAnchors);
  const rarestWords = known.filter(({ count }) => count <= manyLines).slice(0, mostAnchors);
  const aspects = known.filter(({ count }) => count <= common).slice(0, mostAspects);
  return {
    anchors: [...new Set([...named, ...rarestWords])].map(({ word }) => word),
    aspects: aspects.map(({ word }) => word),
  };
}

function isNumber(word: string): boolean {
  return /^[\d.,:/_-]+$/.test(word);
}

/** Words as they are compared: without the points around them; of a script without spaces, every two characters. */
export function wordSet(text: string): ReadonlySet<string> {
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

/** The words that stand in few of the user's lines, with in how many. */
export function rareWords(lines: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const words of lines) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(rareLines, lines.length * rareShare);
  return new Map([...counts].filter(([word, count]) => count <= most && !isNumber(word)));
}

/** The words with the least lines. */
export function rarest(words: Iterable<string>, lines: ReadonlyMap<string, number>): readonly string[] {
  return [...words]
    .filter((word) => lines.has(word))
    .toSorted((left, right) => (lines.get(left) ?? 0) - (lines.get(right) ?? 0) || (left < right ? -1 : 1))
    .slice(0, mostRare);
}

/** A topic: two words, whichever comes first. */
export function pair(left: string, right: string): string {
  return left < right ? `${left}\n${right}` : `${right}\n${left}`;
}

/** Every two of some words. */
export function pairsOf(words: readonly string[]): string[] {
  const sorted = words.toSorted();
  return sorted.flatMap((first, at) => sorted.slice(at + 1).map((second) => pair(first, second)));
}
