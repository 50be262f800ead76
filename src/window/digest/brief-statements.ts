/**
 * Brief statements: lines that words do not link, such as `port: 8080` and sentences without spaces. A line of the user's
 * is linked to the newest that says the same key or the same characters, and a result to the user's.
 */
import type { Work } from "../../turns.ts";
import type { Candidate } from "./line-table.ts";
import type { Line } from "./line.ts";

/** The newest brief statements that one line is shown with. */
const mostNewer = 2;
/** Characters of a line that are looked at, and pairs of characters that two lines have in common at least. */
const longestLooked = 300;
const leastPairs = 4;
/** Share of the user's lines that a pair of characters may stand in, and how many may always. */
const rareShare = 0.05;
const rareLines = 3;
/** Lines that are looked at in one step. */
const linesPerStep = 256;

const keyed = /^[\s"'`*-]*([\p{L}\p{N}_.-]{2,40})["'`*]*\s*[:=：＝]\s*\S.{0,40}$/u;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{2,}/gu;

/** The key of a line that has one and a short value; undefined for other lines. */
function keyOfStatement(text: string): string | undefined {
  const key = text.length <= 100 ? keyed.exec(text)?.[1]?.normalize("NFKC").toLowerCase() : undefined;
  return key !== undefined && /\p{L}/u.test(key) ? key : undefined;
}

/** Every two characters beside each other, in scripts whose words stand without spaces or are short. */
function pairsIn(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (const [run] of text.slice(0, longestLooked).matchAll(unspaced)) {
    const points = [...run];
    for (let at = 0; at + 1 < points.length; at++) pairs.add(`${points[at]}${points[at + 1]}`);
  }
  return pairs;
}

/** Whether a line has a key, or a number beside pairs of characters: nothing else is linked. */
function isBrief({ text, facts }: Line): boolean {
  if (!facts) return looksBrief(text);
  return (facts.isBrief ??= looksBrief(text));
}

function looksBrief(text: string): boolean {
  return keyOfStatement(text) !== undefined || (/\p{Nd}/u.test(text) && pairsIn(text).size > 0);
}

/** Adds to the newest lines that words link to a candidate the newest brief statements of the same. */
type NewerBrief = (candidate: Candidate, newer: readonly Candidate[]) => readonly Candidate[];

/** Finds the newest brief statements of what a candidate speaks of. */
export function* briefStatements(records: readonly Candidate[], isLater: IsLater): Work<NewerBrief> {
  const users = records.filter(({ line }) => line.kind === "user");
  const counts = new Map<string, number>();
  const keys = new Set<string>();
  for (const { line } of users) {
    for (const pair of pairsIn(line.text)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
    const key = keyOfStatement(line.text);
    if (key !== undefined) keys.add(key);
  }
  if (counts.size === 0 && keys.size === 0) return (_, newer) => newer;
  const most = Math.max(rareLines, users.length * rareShare);
  const topics = new Map<Candidate, readonly string[]>();
  const newest = new Map<string, Candidate>();
  const newestOfUser = new Map<string, Candidate>();
  for (const [index, candidate] of records.entries()) {
    if (index % linesPerStep === 0) yield;
    const { line, done } = candidate;
    if (line.kind === "said" || line.kind === "answered" || done || !isBrief(line)) continue;
    const key = keyOfStatement(line.text);
    // A sentence amends another by a number that it says; the key of a line says what its value is of.
    const pairs = /\p{Nd}/u.test(line.text) ? [...pairsIn(line.text)] : [];
    const found = pairs.filter((pair) => (counts.get(pair) ?? Infinity) <= most);
    if (key !== undefined && keys.has(key)) found.push(`${key} `);
    if (found.length === 0) continue;
    topics.set(candidate, found);
    for (const newestOf of line.kind === "user" ? [newest, newestOfUser] : [newest])
      for (const topic of found) {
        const known = newestOf.get(topic);
        if (!known || known.line.seq <= line.seq) newestOf.set(topic, candidate);
      }
  }
  return (candidate, known) => {
    const found = topics.get(candidate);
    if (!found) return known;
    const source = candidate.line.kind === "user" ? newest : newestOfUser;
    const shared = new Map<Candidate, number>();
    for (const topic of found) {
      const one = source.get(topic);
      if (!one || !isLater(one, candidate) || one.line.key === candidate.line.key) continue;
      shared.set(one, (shared.get(one) ?? 0) + (topic.endsWith(" ") ? leastPairs : 1));
    }
    const newer = [...shared].filter(([one, count]) => count >= leastPairs && !known.includes(one));
    const first = newer.toSorted(([, left], [, right]) => right - left).slice(0, mostNewer);
    return [...known, ...first.map(([one]) => one)];
  };
}

/** Whether one candidate was said after another. */
type IsLater = (one: Candidate, other: Candidate) => boolean;
