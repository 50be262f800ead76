/**
 * Search by words over past messages: BM25 over the terms of each message. A message also gets a share of its
 * neighbours' scores, because an answer often stands beside the words that ask for it. The index is in RAM.
 */
import type { Message } from "../message/message.ts";
import { messageText } from "../message/message.ts";
import { quoteRest } from "../message/quote.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { clip } from "../window/stub/cut.ts";
import type { TextMask } from "../window/window.ts";
import { recallId } from "../window/stub/stub.ts";
import { termsOf } from "../window/recall/terms.ts";

/** A message that was found. `score` compares within one search only. */
export interface LexicalHit {
  readonly sessionId: string;
  readonly seq: number;
  readonly score: number;
}

/** Limits of {@link LexicalIndex.search}. */
export interface SearchOptions {
  /** The most hits. Default 50. */
  readonly limit?: number;
  /** Restricts the search to this session. */
  readonly sessionId?: string;
}

/** The usual BM25 constants: the saturation of repeated terms, and the discount for long messages. */
const saturation = 1.2;
const lengthShare = 0.75;

/** The share of a message's score that its neighbours get, by distance. */
const neighbourShares = [0.5, 0.3, 0.2];

interface Document {
  readonly sessionId: string;
  readonly seq: number;
  readonly length: number;
}

/** An index of messages. Messages of one session are added in their order. */
export class LexicalIndex {
  readonly #documents: Document[] = [];
  /** Pairs of a document's number and the term's count in it, by term. */
  readonly #postings = new Map<string, number[]>();
  #length = 0;

  /** The number of messages in the index. */
  get size(): number {
    return this.#documents.length;
  }

  /** Adds a message. A message without a word counts too, for its neighbours. */
  add(sessionId: string, seq: number, message: Message): void {
    const counts = new Map<string, number>();
    const terms = termsOf(messageText(message));
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    const number = this.#documents.length;
    for (const [term, count] of counts) {
      const postings = this.#postings.get(term);
      if (postings) postings.push(number, count);
      else this.#postings.set(term, [number, count]);
    }
    this.#documents.push({ sessionId, seq, length: terms.length });
    this.#length += terms.length;
  }

  /** The messages that match a query, best first, newest first among equals. Empty when no word of it is known. */
  search(query: string, { limit = 50, sessionId }: SearchOptions = {}): readonly LexicalHit[] {
    const scores = this.#withNeighbours(this.#score(new Set(termsOf(query))));
    const hits: (LexicalHit & { readonly number: number })[] = [];
    for (const [number, score] of scores) {
      const document = this.#documents[number];
      if (!document || (sessionId !== undefined && document.sessionId !== sessionId)) continue;
      hits.push({ sessionId: document.sessionId, seq: document.seq, score, number });
    }
    return hits
      .sort((left, right) => right.score - left.score || right.number - left.number)
      .slice(0, limit)
      .map(({ sessionId: from, seq, score }) => ({ sessionId: from, seq, score }));
  }

  #score(terms: ReadonlySet<string>): ReadonlyMap<number, number> {
    const scores = new Map<number, number>();
    const total = this.#documents.length;
    const average = Math.max(1, this.#length / Math.max(1, total));
    for (const term of terms) {
      const postings = this.#postings.get(term) ?? [];
      const known = postings.length / 2;
      const rarity = Math.log(1 + (total - known + 0.5) / (known + 0.5));
      for (let index = 0; index < postings.length; index += 2) {
        const number = postings[index] ?? 0;
        const count = postings[index + 1] ?? 0;
        const length = this.#documents[number]?.length ?? 0;
        const weight = count + saturation * (1 - lengthShare + (lengthShare * length) / average);
        scores.set(number, (scores.get(number) ?? 0) + (rarity * count * (saturation + 1)) / weight);
      }
    }
    return scores;
  }

  #withNeighbours(scores: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
    const spread = new Map(scores);
    for (const [number, score] of scores) {
      const sessionId = this.#documents[number]?.sessionId;
      neighbourShares.forEach((share, index) => {
        for (const neighbour of [number - index - 1, number + index + 1]) {
          if (this.#documents[neighbour]?.sessionId !== sessionId) continue;
          spread.set(neighbour, (spread.get(neighbour) ?? 0) + share * score);
        }
      });
    }
    return spread;
  }
}

/** A message as a passage: a label, then its text with marks, cut in the middle when it is too long. */
export function shownMessage(
  sessionId: string,
  seq: number,
  message: Message,
  mask: TextMask,
  longest = 4_000,
): string {
  return `[${[sessionId, recallId(seq), message.role].filter((word) => word !== "").join(" ")}] ${quoteRest(clip(messageText(message), longest, mask))}`;
}

/** Room in tokens that is too small for any message. */
const leastTokens = 4;

/**
 * Takes as many of the ranked texts as fit, best first. A text larger than the remaining room is skipped.
 *
 * @returns their places in `ranked`, in the order they were taken
 */
export function fillByRank(ranked: readonly string[], maxTokens: number, counter: TokenCounter): readonly number[] {
  const taken: number[] = [];
  let left = maxTokens;
  for (const [index, text] of ranked.entries()) {
    if (left < leastTokens) break;
    const tokens = counter.count(text) + 1;
    if (tokens > left) continue;
    left -= tokens;
    taken.push(index);
  }
  return taken;
}
