/**
 * The search of recall: reads each message once, line by line, and keeps a bounded number of best passages with their
 * neighbours. Time is linear in the text; memory does not grow with it.
 */
import { quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import { BestPassages } from "./best.ts";
import type { Passage, PassageDocument } from "./best.ts";
import { longestLine, shownLine } from "./text.ts";
import type { RecallDocument, ShownLines } from "./text.ts";
import { knownScore, lineScore } from "./words.ts";
import type { TextMask } from "../window.ts";
import type { RecallWords } from "./words.ts";

/** Characters searched in one step; a longer line takes several steps. */
const stepLength = 64 * 1024;

/** Lines on each side that a passage shows. */
const neighbours = 3;

/** Passages looked up in one step. */
const passagesPerStep = 32;

/** A line in the texts of its message. */
interface Place {
  /** Which of the texts. */
  readonly text: number;
  readonly start: number;
  readonly end: number;
}

/** Collects the best passages of messages that are handed to it one by one. */
export class RecallSearch {
  readonly #words: RecallWords;
  readonly #best: BestPassages;
  readonly #mask: TextMask;

  /**
   * @param most - passages that are kept
   * @param mask - replaces the secrets of lines that are cut
   */
  constructor(words: RecallWords, most: number, mask: TextMask) {
    this.#mask = mask;
    this.#words = words;
    this.#best = new BestPassages(most);
  }

  /** Searches a message. Nothing of its text is kept but the best passages. */
  *take(document: RecallDocument): Work<boolean> {
    const scan = new Scan(document, this.#words, this.#best, this.#mask);
    yield* scan.run();
    yield* scan.settle();
    return scan.matched;
  }

  /** The lines with the best scores that fit `maxTokens`, message by message, oldest first. */
  *choose(maxTokens: number, counter: TokenCounter): Work<readonly (ShownLines & { readonly seq: number })[]> {
    const chosen = new Map<PassageDocument, Map<number, string>>();
    let left = maxTokens - 8;
    for (const { document, line, first, lines } of this.#best.ordered()) {
      const known = chosen.get(document) ?? new Map<number, string>();
      const fresh = lines.map((_, index) => first + index).filter((index) => !known.has(index));
      // The matching line counts more than its neighbours: where both do not fit, it stands alone.
      for (const group of [fresh, fresh.includes(line) ? [line] : []]) {
        const text = group.map((index) => quoteText(lines[index - first] ?? "")).join("\n");
        const cost = group.length === 0 ? 0 : counter.count(text) + group.length + 24;
        if (group.length === 0 || cost > left) continue;
        left -= cost;
        chosen.set(document, known);
        for (const index of group) known.set(index, lines[index - first] ?? "");
        break;
      }
      if (left < 48) break;
      yield;
    }
    return [...chosen]
      .map(([{ seq, head, count }, lines]) => ({ seq, head, count, lines }))
      .toSorted((left, right) => left.seq - right.seq);
  }
}

/** The score of a whole message; 0 where it has none of the words. */
export function* recallScore(document: RecallDocument, words: RecallWords): Work<number> {
  const terms = new Set<string>();
  let phrase = false;
  for (const text of document.texts) {
    const found = yield* wordsIn(text, words);
    for (const term of found.terms.keys()) terms.add(term);
    phrase ||= found.phrase >= 0;
  }
  return knownScore(terms, phrase);
}

/** The places of a query's words in a text. */
export interface WordPlaces {
  /** The words found, with their first places. */
  readonly terms: ReadonlyMap<string, number>;
  /** The first place of the whole query; negative where it is not found. */
  readonly phrase: number;
}

/** Searches a text for the words of a query, piece by piece. The pieces overlap by the longest word or phrase. */
export function* wordsIn(text: string, { phrase, terms }: RecallWords, start = 0, end = text.length): Work<WordPlaces> {
  const overlap = Math.max(phrase.length, ...terms.map((term) => term.length)) + 16;
  const step = Math.max(stepLength, 4 * overlap);
  const found = new Map<string, number>();
  let hit = -1;
  for (let at = start; at < end; at += step) {
    const lower = text.slice(at, Math.min(end, at + step + overlap)).toLowerCase();
    for (const term of terms) {
      const place = found.has(term) ? -1 : lower.indexOf(term);
      if (place >= 0) found.set(term, at + place);
    }
    const place = hit < 0 ? lower.indexOf(phrase) : -1;
    if (place >= 0) hit = at + place;
    yield;
  }
  return { terms: found, phrase: hit };
}

/** One message on its way through the search. */
class Scan {
  matched = false;
  readonly #texts: readonly string[];
  readonly #words: RecallWords;
  readonly #best: BestPassages;
  readonly #document: PassageDocument;
  readonly #mask: TextMask;
  /** Its passages that were among the best when they were found, by place. */
  #found: { readonly passage: Passage; readonly place: Place }[] = [];
  /** The query's place in lines too long to be looked through again. */
  readonly #hits = new Map<number, number>();
  #line = 0;

  constructor({ seq, head, texts }: RecallDocument, words: RecallWords, best: BestPassages, mask: TextMask) {
    this.#mask = mask;
    this.#texts = texts;
    this.#words = words;
    this.#best = best;
    this.#document = { seq, head, count: 0 };
  }

  /** Looks for the words, some lines at a time. */
  *run(): Work<void> {
    for (const [index, text] of this.#texts.entries()) {
      for (let start = 0; start <= text.length;) {
        let end = Math.min(text.length, start + stepLength);
        if (end < text.length) end = text.lastIndexOf("\n", end);
        if (end >= start) this.#lines(index, text, start, end);
        else {
          end = text.indexOf("\n", start + stepLength);
          if (end < 0) end = text.length;
          yield* this.#longLine({ text: index, start, end });
        }
        start = end + 1;
        yield;
      }
    }
    this.#document.count = this.#line;
  }

  /** Brings the neighbours of the passages that are still among the best. */
  *settle(): Work<void> {
    const places = new Map<number, Place>();
    const shown = new Map<number, string>();
    let steps = 0;
    for (const { passage, place } of this.#found) {
      if (passage.dropped) continue;
      const around = this.#around(passage.line, place, places);
      passage.first = around[0]?.[0] ?? passage.line;
      passage.lines = around.map(([line, at]) => {
        const known = shown.get(line) ?? this.#shown(line, at);
        shown.set(line, known);
        return known;
      });
      if (++steps % passagesPerStep === 0) yield;
    }
    this.#found = [];
  }

  /** Whole lines, from a line start to a line end: one look tells whether any of them holds a word. */
  #lines(index: number, text: string, from: number, to: number): void {
    const stretch = text.slice(from, to);
    const lower = stretch.toLowerCase();
    if (!this.#words.terms.some((term) => lower.includes(term))) {
      this.#line += countLines(stretch);
      return;
    }
    let start = from;
    for (const line of lower.split("\n")) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 || newline > to ? to : newline;
      this.#note(lineScore(line, this.#words), { text: index, start, end });
      start = end + 1;
    }
  }

  /** A line too long for one step. */
  *#longLine(place: Place): Work<void> {
    const { terms, phrase } = yield* wordsIn(this.#texts[place.text] ?? "", this.#words, place.start, place.end);
    this.#hits.set(this.#line, phrase < 0 ? -1 : phrase - place.start);
    this.#note(knownScore(terms.keys(), phrase >= 0), place);
  }

  #note(score: number, place: Place): void {
    const line = this.#line++;
    if (score === 0) return;
    this.matched = true;
    const passage = this.#best.offer(this.#document, line, score);
    if (!passage) return;
    this.#found.push({ passage, place });
    if (this.#found.length > 2 * this.#best.most) this.#found = this.#found.filter((one) => !one.passage.dropped);
  }

  #around(line: number, place: Place, places: Map<number, Place>): readonly (readonly [number, Place])[] {
    places.set(line, place);
    const found: (readonly [number, Place])[] = [[line, place]];
    for (let index = line, at: Place | undefined = place; index > line - neighbours;) {
      const before: Place | undefined = places.get(--index) ?? this.#before(at);
      if (!before) break;
      places.set(index, before);
      found.unshift([index, before]);
      at = before;
    }
    for (let index = line, at: Place | undefined = place; index < line + neighbours;) {
      const behind: Place | undefined = places.get(++index) ?? this.#behind(at);
      if (!behind) break;
      places.set(index, behind);
      found.push([index, behind]);
      at = behind;
    }
    return found;
  }

  #before({ text, start }: Place): Place | undefined {
    const body = this.#texts[start > 0 ? text : text - 1];
    if (body === undefined) return undefined;
    const end = start > 0 ? start - 1 : body.length;
    return { text: start > 0 ? text : text - 1, start: end === 0 ? 0 : body.lastIndexOf("\n", end - 1) + 1, end };
  }

  #behind({ text, end }: Place): Place | undefined {
    const more = end < (this.#texts[text]?.length ?? 0);
    const body = this.#texts[more ? text : text + 1];
    if (body === undefined) return undefined;
    const start = more ? end + 1 : 0;
    const newline = body.indexOf("\n", start);
    return { text: more ? text : text + 1, start, end: newline < 0 ? body.length : newline };
  }

  #shown(line: number, { text, start, end }: Place): string {
    const { phrase, length } = this.#words;
    const whole = this.#texts[text]?.slice(start, end) ?? "";
    const searched = whole.length > longestLine && whole.length <= stepLength;
    const at = this.#hits.get(line) ?? (searched ? whole.toLowerCase().indexOf(phrase) : -1);
    return detached(shownLine(whole, at, length, this.#mask));
  }
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** A copy of a text. V8 makes a slice a view of its whole, which would keep the whole alive. */
function detached(text: string): string {
  return `${text}\n`.slice(0, -1);
}
