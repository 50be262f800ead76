/**
 * The ranking of messages: BM25 over their terms, with the rarity of a term among the messages that may be searched. A
 * message also gets a share of its neighbours' scores, because an answer often stands beside the words that ask for it.
 */
import type { Work } from "../turns.ts";
import type { Posted } from "./postings.ts";
import type { IndexedEntry } from "./table.ts";

/** The usual BM25 constants: the saturation of repeated terms, and the discount for long messages. */
const saturation = 1.2;
const lengthShare = 0.75;

/** The share of a message's score that its neighbours get, by distance. */
const neighbourShares = [0.5, 0.3, 0.2] as const;

/** A message that was found. `score` compares within one search only. */
export interface RankedMessage {
  readonly entry: IndexedEntry;
  /** The index's number of it. */
  readonly number: number;
  readonly seq: number;
  readonly score: number;
}

/** The messages of an index, by number. */
export interface Ranked {
  /** One more than the largest number. */
  readonly next: number;
  /** Terms of a message. */
  readonly length: (number: number) => number;
}

/** The messages among which one search ranks. */
export interface Field {
  /** The sessions whose words count: no other's have any influence. */
  readonly entries: readonly IndexedEntry[];
  /** Whether a session of these may be answered. Default: each. */
  readonly answers?: (entry: IndexedEntry) => boolean;
  /** Whether a message may be answered. Default: each. */
  readonly holds?: (number: number) => boolean;
  readonly limit: number;
}

/** Scores of all messages by number: BM25 over the postings of each term of a query. Those of no session have 0. */
export function* scored(
  { next, length }: Ranked,
  { entries }: Pick<Field, "entries">,
  postings: readonly Posted[],
): Work<Float64Array> {
  const scores = new Float64Array(next);
  // Zero for messages of other sessions, else how much the length of a message weighs against a term's count.
  const weights = new Float64Array(next);
  let total = 0;
  let sum = 0;
  for (const { stretches } of entries) {
    for (const { number, count } of stretches) {
      total += count;
      for (let one = number; one < number + count; one++) sum += length(one);
    }
  }
  const average = Math.max(1, sum / Math.max(1, total));
  for (const { stretches } of entries) {
    for (const { number, count } of stretches) {
      for (let one = number; one < number + count; one++) {
        weights[one] = saturation * (1 - lengthShare + (lengthShare * length(one)) / average);
      }
    }
  }
  for (const { numbers, counts } of postings) {
    yield;
    let holding = 0;
    for (let place = 0; place < numbers.length; place++) if (weights[numbers[place]!]! > 0) holding++;
    const rarity = Math.log(1 + (total - holding + 0.5) / (holding + 0.5)) * (saturation + 1);
    for (let place = 0; place < numbers.length; place++) {
      const number = numbers[place]!;
      const weight = weights[number]!;
      const count = counts[place]!;
      if (weight > 0) scores[number]! += (rarity * count) / (count + weight);
    }
  }
  return scores;
}

/** Room for the scores of one session, used again for the next. */
export class Spread {
  #own = new Float64Array(256);
  #spread = new Float64Array(256);

  /**
   * The scores of a session's messages in their order, each with its share of those around it; undefined where all are
   * 0. Valid until the next session.
   */
  of({ stretches }: IndexedEntry, scores: Float64Array): Float64Array | undefined {
    let size = 0;
    let any = false;
    for (const { number, count } of stretches) {
      size += count;
      for (let one = number; !any && one < number + count; one++) any = scores[one]! > 0;
    }
    if (!any) return undefined;
    if (this.#own.length < size) {
      this.#own = new Float64Array(2 * size);
      this.#spread = new Float64Array(2 * size);
    }
    const [own, spread] = [this.#own, this.#spread];
    let place = 0;
    for (const { number, count } of stretches) {
      for (let one = number; one < number + count; one++) spread[place] = own[place++] = scores[one]!;
    }
    for (let one = 0; one < size; one++) {
      const score = own[one]!;
      if (score <= 0) continue;
      for (let distance = 1; distance <= neighbourShares.length; distance++) {
        const share = neighbourShares[distance - 1]! * score;
        if (one >= distance) spread[one - distance]! += share;
        if (one + distance < size) spread[one + distance]! += share;
      }
    }
    return spread;
  }
}

/** As {@link Spread}, for scores that were spread before. */
export class Gathered {
  /** The scores of a session's messages in their order; undefined where all are 0. */
  of({ stretches }: IndexedEntry, scores: Float64Array): Float64Array | undefined {
    const gathered = new Float64Array(stretches.reduce((sum, { count }) => sum + count, 0));
    let place = 0;
    for (const { number, count } of stretches) {
      gathered.set(scores.subarray(number, number + count), place);
      place += count;
    }
    return gathered.some((score) => score > 0) ? gathered : undefined;
  }
}

/** The scores of all messages by number, each with its share of those around it in its session. */
export function neighbouring(entries: readonly IndexedEntry[], scores: Float64Array): Float64Array {
  const spread = new Float64Array(scores.length);
  const room = new Spread();
  for (const entry of entries) {
    const shared = room.of(entry, scores);
    if (!shared) continue;
    let place = 0;
    for (const { number, count } of entry.stretches) {
      spread.set(shared.subarray(place, place + count), number);
      place += count;
    }
  }
  return spread;
}

/**
 * The best messages, the best first; the newest first among equals. Those with a score of 0 are none.
 *
 * @param room - how the scores of a session are read. Default: each with its share of those around it
 */
export function* best(
  field: Field,
  scores: Float64Array,
  room: Pick<Spread, "of"> = new Spread(),
): Work<readonly RankedMessage[]> {
  const { entries, answers, holds, limit } = field;
  let kept: RankedMessage[] = [];
  let least = 0;
  let looked = 0;
  for (const entry of entries) {
    if (answers?.(entry) === false) continue;
    const spread = room.of(entry, scores);
    if (!spread) continue;
    let place = 0;
    for (const { number, from, count } of entry.stretches) {
      for (let one = 0; one < count; one++, place++) {
        const score = spread[place]!;
        if (score <= least || holds?.(number + one) === false) continue;
        kept.push({ entry, number: number + one, seq: from + one, score });
      }
    }
    if (kept.length > 4 * limit + 256) {
      kept = kept.sort(compare).slice(0, limit);
      // Equals of the last that is kept may be newer, and stand in a later session.
      least = kept.length === limit ? Math.max(0, kept.at(-1)!.score * (1 - Number.EPSILON)) : 0;
    }
    looked += place;
    if (looked > 50_000) {
      looked = 0;
      yield;
    }
  }
  return kept.sort(compare).slice(0, limit);
}

/** The better message first; of equals the one of the newer session, then the later one. */
export function compare(left: RankedMessage, right: RankedMessage): number {
  if (left.score !== right.score) return right.score - left.score;
  const { entry: one } = left;
  const { entry: other } = right;
  if (one === other) return right.seq - left.seq;
  return other.session.created - one.session.created || (one.id < other.id ? -1 : 1);
}
