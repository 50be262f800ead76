/**
 * The search of recall: reads each text once, line by line, counts in how many lines each word stands, and keeps a bounded
 * number of hits with the text around them. Time is linear in the text; memory does not grow with it.
 */
import { detached } from "../../message/detached.ts";
import type { Work } from "../../turns.ts";
import { isCorrection } from "../digest/saying.ts";
import type { RecallDocument } from "./document.ts";
import { Hits } from "./hits.ts";
import type { Hit, HitDocument, HitPlace, RankedHit } from "./hits.ts";
import { longLine, piecesOf } from "./rows.ts";
import type { Stretch } from "./rows.ts";
import { Matcher, Rarity } from "./terms.ts";
import type { RecallWords } from "./terms.ts";

/** Characters searched in one step. */
const stepLength = 64 * 1024;

/**
 * Pieces within which the words above a line count as near it: in what someone said; in an indented record, as far as it
 * reaches; in other output, whose lines stand for themselves.
 */
const nearSaid = 200;
const nearInRecord = 40;
const nearInOutput = 2;

/** Characters up to which a text is kept whole for its hits, and those that are kept on each side in a longer one. */
const keptWhole = 16 * 1024;
const keptAround = 4 * 1024;

/** Characters of what users said that are kept, the newest: it may change what has none of the query's words. */
const mostSaid = 256 * 1024;

/** Hits whose surroundings are copied in one step. */
const hitsPerStep = 32;

/** Collects the best hits of documents that are handed to it one by one. */
export class RecallSearch {
  readonly rarity: Rarity;
  readonly #matcher: Matcher;
  readonly #hits: Hits;
  readonly #said: RecallDocument[] = [];
  #saidLength = 0;

  constructor(words: RecallWords) {
    this.#matcher = new Matcher(words);
    this.rarity = new Rarity(words);
    this.#hits = new Hits(this.rarity);
  }

  /** Searches a document. Nothing of its text is kept but what stands around the best hits. */
  *take(document: RecallDocument): Work<void> {
    if (document.label === "user" && document.text.length <= keptWhole) {
      this.#said.push(document);
      this.#saidLength += document.text.length;
      while (this.#saidLength > mostSaid) this.#saidLength -= this.#said.shift()!.text.length;
    }
    yield* new Scan(document, this.#matcher, this.rarity, this.#hits).run();
  }

  /** Documents of what users said, oldest first. */
  get said(): readonly RecallDocument[] {
    return this.#said;
  }

  /** The best hits of all documents, the best first. */
  ranked(): readonly RankedHit[] {
    return this.#hits.ranked();
  }
}

/** One document on its way through the search. */
class Scan {
  readonly #text: string;
  readonly #document: HitDocument;
  readonly #matcher: Matcher;
  readonly #rarity: Rarity;
  readonly #hits: Hits;
  /** By word: 2 where the head has it. */
  readonly #head: Uint8Array;
  /** By word: the last piece that has it, and the indent of its line. */
  readonly #last: Float64Array;
  readonly #indents: Float64Array;
  readonly #near: Uint8Array;
  readonly #found: Hit[] = [];
  /** Whether any of those lines is indented. */
  #inRecord = false;
  #line = 0;
  #piece = 0;

  constructor({ text, ...document }: RecallDocument, matcher: Matcher, rarity: Rarity, hits: Hits) {
    this.#text = text;
    this.#document = { ...document, count: 0 };
    this.#matcher = matcher;
    this.#rarity = rarity;
    this.#hits = hits;
    const { levels } = matcher;
    matcher.look(document.label.toLowerCase());
    this.#head = levels.map((level) => (level === 2 ? 2 : 0));
    this.#last = new Float64Array(levels.length).fill(-Infinity);
    this.#indents = new Float64Array(levels.length);
    this.#near = new Uint8Array(levels.length);
  }

  *run(): Work<void> {
    const text = this.#text;
    let due = stepLength;
    for (let start = 0; start <= text.length; this.#line++) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline;
      for (const piece of end - start <= longLine ? [{ start, end }] : piecesOf(text, start, end)) {
        this.#look(piece);
        if (piece.end < due) continue;
        due = piece.end + stepLength;
        yield;
      }
      start = end + 1;
    }
    this.#document.count = this.#line;
    this.#offerHead();
    yield* this.#settle();
  }

  #look({ start, end }: Stretch): void {
    const matcher = this.#matcher;
    const lower = this.#text.slice(start, end).toLowerCase();
    const found = matcher.look(lower);
    this.#piece++;
    if (this.#inRecord) this.#leaveRecords(indentOf(lower));
    if (!found) {
      this.#rarity.lines++;
      return;
    }
    const indent = indentOf(lower);
    this.#inRecord ||= indent > 0;
    const { levels } = matcher;
    this.#rarity.count(levels);
    if (!this.#isSubject(lower)) this.#offer(start, end);
    for (let index = 0; index < levels.length; index++) {
      if (levels[index] !== 2) continue;
      this.#last[index] = this.#piece;
      this.#indents[index] = indent;
    }
  }

  /** A line with a smaller indent ends the record whose words count as near. */
  #leaveRecords(indent: number): void {
    for (let index = 0; index < this.#last.length; index++) {
      if (indent < this.#indents[index]!) this.#last[index] = -Infinity;
    }
  }

  #isNear(index: number): boolean {
    const reach =
      this.#document.callId === undefined ? nearSaid : this.#indents[index]! > 0 ? nearInRecord : nearInOutput;
    return this.#piece - this.#last[index]! <= reach;
  }

  /** Whether a line of a call says no more than the head of its result. */
  #isSubject(lower: string): boolean {
    const { label, isCall } = this.#document;
    if (isCall !== true || lower.length > label.length + 16) return false;
    return this.#matcher.levels.every((level, index) => level === 0 || this.#head[index]! >= level);
  }

  #offer(start: number, end: number): void {
    const near = this.#near;
    for (let index = 0; index < near.length; index++) {
      near[index] = this.#isNear(index) ? 2 : this.#head[index]!;
    }
    const place = { document: this.#document, line: this.#line, start, end, isHead: false };
    this.#add(near, place, this.#text.slice(start, end));
  }

  /** A text whose head has the words answers with its beginning. */
  #offerHead(): void {
    const { label, isCall, callId } = this.#document;
    if (isCall === true || callId === undefined || this.#head.every((level) => level === 0)) return;
    this.#matcher.look(label.toLowerCase());
    this.#add(this.#head, { document: this.#document, line: Infinity, start: 0, end: 0, isHead: true }, "");
  }

  #add(near: Uint8Array, place: HitPlace, text: string): void {
    const isTold = this.#document.callId === undefined || isCorrection(text);
    const hit = this.#hits.add(this.#matcher, near, isTold, place, text);
    if (hit) this.#found.push(hit);
  }

  /** Keeps the text around the hits that are still among the best. */
  *#settle(): Work<void> {
    const text = this.#text;
    let steps = 0;
    for (const hit of this.#found) {
      if (hit.dropped) continue;
      if (text.length <= keptWhole) {
        hit.region = { text, offset: 0, line: 0 };
        continue;
      }
      const from = lineStart(text, hit.start - keptAround, hit.start);
      const to = lineEnd(text, hit.end + keptAround, hit.end);
      const line = (hit.isHead ? 0 : hit.line) - (from < hit.start ? countLines(text.slice(from, hit.start)) - 1 : 0);
      hit.region = { text: detached(text.slice(from, to)), offset: from, line };
      if (++steps % hitsPerStep === 0) yield;
    }
  }
}

/** The start of the first line behind a place, or the place itself where no line begins before `least`. */
function lineStart(text: string, at: number, least: number): number {
  if (at <= 0) return 0;
  const newline = text.indexOf("\n", at - 1);
  return newline < 0 || newline >= least ? at : newline + 1;
}

/** The end of the last line before a place, or the place itself where no line ends behind `least`. */
function lineEnd(text: string, at: number, least: number): number {
  if (at >= text.length) return text.length;
  const newline = text.lastIndexOf("\n", at);
  return newline < least ? at : newline;
}

/** The white space that a line begins with. */
function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === 32 || line.charCodeAt(indent) === 9) indent++;
  return indent;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
