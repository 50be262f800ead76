/** Texts as copies from sources and what no source has: how a line says a text that mostly stands elsewhere. */
import type { Work } from "../../turns.ts";

/** A text in copies. */
export interface CopiedText {
  /**
   * The copies in order, with commas between: `skip.length` in base 36, where `skip` is how far the copy begins behind the
   * end of the one before, in units of UTF-16. A `+` stands where the next text of `added` comes.
   */
  readonly copies: string;
  readonly added: readonly string[];
}

/** Units that are looked for as a whole. */
const lookedFor = 12;
/** Units between two places of the sources that are found. */
const stride = 3;
/** Least units of a copy: its numbers cost what a shorter one saves. */
const leastCopy = 18;
/** A copy that begins near the end of the one before is preferred to one that is longer by so many units. */
const [near, nearWorth] = [1_000, 3];
/** Places of the sources with one hash that are compared at most. */
const mostPlaces = 24;
/** Places of the sources that are noted in one step, and pieces of a text that are looked for. */
const placesPerStep = 32_768;
const piecesPerStep = 256;

/** A stretch of the sources, joined. */
interface Stretch {
  readonly at: number;
  readonly length: number;
}

/**
 * A text as copies from sources.
 *
 * @returns `used`: the sources that something was copied from, by index; the copies count in these alone, joined
 */
export function* copiedFrom(
  text: string,
  sources: readonly string[],
): Work<CopiedText & { readonly used: readonly number[] }> {
  const source = sources.join("");
  const index = yield* SourceIndex.of(source);
  const pieces: (string | Stretch)[] = [];
  let said = 0;
  let end = 0;
  let steps = 0;
  for (let place = 0; place + lookedFor <= text.length;) {
    if (++steps % piecesPerStep === 0) yield;
    const found = index.longest(text, place, end);
    if (!found) {
      place++;
      continue;
    }
    let before = sharedBefore(text, place, source, found.at, place - said);
    if (splitsPair(text, place - before)) before--;
    const length = found.length - (splitsPair(text, place + found.length) ? 1 : 0);
    if (place - before > said) pieces.push(text.slice(said, place - before));
    pieces.push({ at: found.at - before, length: length + before });
    end = found.at + length;
    place += length;
    said = place;
  }
  if (said < text.length) pieces.push(text.slice(said));
  return inUsed(pieces, sources);
}

/** Pieces with their places counted in the sources that they are from alone. */
function inUsed(
  pieces: readonly (string | Stretch)[],
  sources: readonly string[],
): CopiedText & { readonly used: readonly number[] } {
  const { starts } = startsOf(sources);
  const stretches = pieces.filter((piece) => typeof piece !== "string");
  const isUsed = new Set<number>();
  for (const { at, length } of stretches) {
    for (let index = sourceAt(starts, at); (starts[index] ?? Infinity) < at + length; index++) isUsed.add(index);
  }
  const used = [...isUsed].sort((left, right) => left - right);
  const moved = new Map<number, number>();
  let next = 0;
  for (const index of used) {
    moved.set(index, next - (starts[index] ?? 0));
    next += sources[index]?.length ?? 0;
  }
  let end = 0;
  const copies: string[] = [];
  let mark = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      mark = "+";
      continue;
    }
    const at = piece.at + (moved.get(sourceAt(starts, piece.at)) ?? 0);
    copies.push(`${mark}${(at - end).toString(36)}.${piece.length.toString(36)}`);
    end = at + piece.length;
    mark = "";
  }
  if (mark !== "") copies.push(mark);
  return { copies: copies.join(","), added: pieces.filter((piece) => typeof piece === "string"), used };
}

/** The source that a place lies in; of empty ones that begin there, the last. */
function sourceAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

const copy = /^(\+?)(?:(-?[0-9a-z]+)\.([0-9a-z]+))?$/;

/** The text that copies make of the used sources; undefined where they name what is not there. */
export function copiedText({ copies, added }: CopiedText, sources: readonly string[]): string | undefined {
  const shown: string[] = [];
  const { starts, total } = startsOf(sources);
  let end = 0;
  let next = 0;
  for (const item of copies === "" ? [] : copies.split(",")) {
    const match = copy.exec(item);
    if (!match) return undefined;
    const [, mark, skip, length] = match;
    if (mark === "+") {
      const text = added[next++];
      if (text === undefined) return undefined;
      shown.push(text);
    }
    if (skip === undefined || length === undefined) continue;
    const at = end + parseInt(skip, 36);
    end = at + parseInt(length, 36);
    if (at < 0 || !(end <= total)) return undefined;
    // The sources are not joined: together they are many times as long as what is copied of them.
    for (let index = sourceAt(starts, at); (starts[index] ?? Infinity) < end; index++) {
      const start = starts[index] ?? 0;
      shown.push((sources[index] ?? "").slice(Math.max(0, at - start), end - start));
    }
  }
  return shown.join("");
}

/** The places at which sources begin where they are joined, and the length of all. */
function startsOf(sources: readonly string[]): { readonly starts: readonly number[]; readonly total: number } {
  const starts: number[] = [];
  let total = 0;
  for (const { length } of sources) {
    starts.push(total);
    total += length;
  }
  return { starts, total };
}

/** Whether a place lies between the two units of one character. */
function splitsPair(text: string, place: number): boolean {
  const isLow = (text.charCodeAt(place) & 0xfc00) === 0xdc00;
  return isLow && (text.charCodeAt(place - 1) & 0xfc00) === 0xd800;
}

/** The units before two places that are the same, at most so many. */
function sharedBefore(text: string, place: number, source: string, at: number, most: number): number {
  let length = 0;
  while (length < most && at > length && text.charCodeAt(place - 1 - length) === source.charCodeAt(at - 1 - length))
    length++;
  return length;
}

/** The places of a source, found by the units that stand there. */
class SourceIndex {
  readonly #source: string;
  readonly #mask: number;
  /** The newest place of each hash, and for each place the one before it with its hash; from 1, 0 for none. */
  readonly #newest: Int32Array;
  readonly #before: Int32Array;

  private constructor(source: string) {
    this.#source = source;
    const places = Math.max(0, Math.floor((source.length - lookedFor) / stride) + 1);
    const size = 1 << Math.min(20, Math.max(8, Math.ceil(Math.log2(places + 1)) + 1));
    this.#mask = size - 1;
    this.#newest = new Int32Array(size);
    this.#before = new Int32Array(places + 1);
  }

  static *of(source: string): Work<SourceIndex> {
    const index = new SourceIndex(source);
    const places = index.#before.length - 1;
    for (let place = 0; place < places; place += placesPerStep) {
      index.#note(place, Math.min(places, place + placesPerStep));
      yield;
    }
    return index;
  }

  #note(from: number, to: number): void {
    const [source, newest, before, mask] = [this.#source, this.#newest, this.#before, this.#mask];
    for (let place = from; place < to; place++) {
      const hash = hashAt(source, place * stride) & mask;
      before[place + 1] = newest[hash]!;
      newest[hash] = place + 1;
    }
  }

  /** The stretch that stands at a place of a text and says most of it with the least numbers: one near `end` has short ones. */
  longest(text: string, place: number, end: number): Stretch | undefined {
    let best: Stretch = { at: end, length: this.#shared(text, place, end) };
    let worth = best.length + nearWorth;
    let next = this.#newest[hashAt(text, place) & this.#mask] ?? 0;
    for (let looked = 0; next > 0 && looked < mostPlaces; looked++) {
      const at = (next - 1) * stride;
      const length = this.#shared(text, place, at);
      const own = length + (Math.abs(at - end) < near ? nearWorth : 0);
      if (own > worth) [best, worth] = [{ at, length }, own];
      next = this.#before[next] ?? 0;
    }
    return best.length >= leastCopy ? best : undefined;
  }

  #shared(text: string, place: number, at: number): number {
    const source = this.#source;
    const most = Math.min(text.length - place, source.length - at);
    let length = 0;
    while (length < most && text.charCodeAt(place + length) === source.charCodeAt(at + length)) length++;
    return length;
  }
}

function hashAt(text: string, place: number): number {
  let hash = 0;
  for (let index = place; index < place + lookedFor; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return hash ^ (hash >>> 15);
}
