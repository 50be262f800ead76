/** Texts as copies from sources, and as what no source has (docs/format.md). */
import type { Work } from "../../turns.ts";

/** Texts to copy from: that of an epoch before by 0, those of messages by their `seq`. */
export type Sources = ReadonlyMap<number, string>;

/** A text in copies. */
export interface Copies {
  readonly copies: string;
  readonly added: readonly string[];
}

/** A stretch of the sources, joined. */
interface Stretch {
  readonly at: number;
  readonly length: number;
}

/** Units of UTF-16 by which a place is found; of the places in the sources, every third is noted. */
const [lookedFor, stride] = [12, 3];
/** Least units of a copy: its numbers cost what a shorter one saves. */
const leastCopy = 18;
/** Places with one hash that are compared at most. */
const mostPlaces = 24;
/** Places of the sources that are noted in one step, and those of the text that are looked for. */
const [notedPerStep, lookedPerStep] = [32_768, 256];
/** Stands between sources, so that no copy goes on from one to the next. */
const separator = "\uFFFF";

/** A text as copies, in steps. */
export function* copiesOf(text: string, sources: Sources): Work<Copies> {
  const source = [...sources.values()].join(separator);
  const [newest, before] = yield* placesIn(source);
  const pieces: (string | Stretch)[] = [];
  const shared = (place: number, at: number): number => {
    let length = 0;
    while (place + length < text.length && text.charCodeAt(place + length) === source.charCodeAt(at + length)) length++;
    return length;
  };
  let [said, end] = [0, 0];
  for (let place = 0, steps = 1; place + lookedFor <= text.length; steps++) {
    if (steps % lookedPerStep === 0) yield;
    let [at, length] = [end, shared(place, end)];
    let next = newest[hashAt(text, place)]!;
    for (let looked = 0; next > 0 && looked < mostPlaces; looked++) {
      const other = (next - 1) * stride;
      const found = shared(place, other);
      if (found > length) [at, length] = [other, found];
      next = before[next]!;
    }
    if (length < leastCopy) {
      place++;
      continue;
    }
    let [from, to] = [place, place + length];
    while (from > said && at > 0 && text.charCodeAt(from - 1) === source.charCodeAt(at - 1))
      [from, at] = [from - 1, at - 1];
    // No copy begins or ends within a character of two units.
    if (isSecondUnit(text, from)) [from, at] = [from + 1, at + 1];
    if (isSecondUnit(text, to)) to--;
    if (from > said) pieces.push(text.slice(said, from));
    pieces.push({ at, length: to - from });
    end = at + to - from;
    place = said = to;
  }
  if (said < text.length) pieces.push(text.slice(said));
  return written(pieces, sources);
}

const hashes = 1 << 19;

/** For each hash the newest of its places, and for each place the one before it with its hash; from 1, 0 for none. */
function* placesIn(source: string): Work<readonly [Int32Array, Int32Array]> {
  const places = Math.max(0, Math.floor((source.length - lookedFor) / stride) + 1);
  const [newest, before] = [new Int32Array(hashes), new Int32Array(places + 1)];
  for (let place = 1; place <= places; place++) {
    if (place % notedPerStep === 0) yield;
    const hash = hashAt(source, (place - 1) * stride);
    before[place] = newest[hash]!;
    newest[hash] = place;
  }
  return [newest, before];
}

function hashAt(text: string, place: number): number {
  let hash = 0;
  for (let index = place; index < place + lookedFor; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  return (hash ^ (hash >>> 15)) & (hashes - 1);
}

function isSecondUnit(text: string, place: number): boolean {
  return (text.charCodeAt(place) & 0xfc00) === 0xdc00;
}

/** Pieces with their places in their own sources. */
function written(pieces: readonly (string | Stretch)[], sources: Sources): Copies {
  let start = 0;
  const starts = [...sources].map(([source, { length }]) => ({
    source,
    start,
    end: (start += length + separator.length),
  }));
  const [items, added]: [string[], string[]] = [[], []];
  const ends = new Map<number, number>();
  let [last, mark] = [-1, ""];
  for (const piece of pieces) {
    if (typeof piece === "string") {
      added.push(piece);
      mark = "+";
      continue;
    }
    const { source, start: begin } = starts.findLast((one) => one.start <= piece.at)!;
    const from = piece.at - begin;
    const numbers = [...(source === last ? [] : [source]), from - (ends.get(source) ?? 0), piece.length];
    items.push(mark + numbers.map((number) => number.toString(36)).join("."));
    ends.set(source, from + piece.length);
    [last, mark] = [source, ""];
  }
  return { copies: [...items, ...(mark === "" ? [] : [mark])].join(","), added };
}

const item = /^(\+?)(?:(?:(\w+)\.)?(-?\w+)\.(\w+))?$/;

/** The stretches of sources that copies name; `added` where a text of none comes first. */
function* stretchesIn(copies: string): Generator<{ added: boolean; source: number; from: number; to: number }> {
  const ends = new Map<number, number>();
  let source = 0;
  for (const written of copies.split(",")) {
    const [, mark, named, skip = "0", length = "0"] = item.exec(written) ?? [];
    if (named !== undefined) source = parseInt(named, 36);
    const from = (ends.get(source) ?? 0) + parseInt(skip, 36);
    const to = from + parseInt(length, 36);
    ends.set(source, to);
    yield { added: mark === "+", source, from, to };
  }
}

/** The sources that copies name. */
export function sourcesIn(copies: string): ReadonlySet<number> {
  return new Set([...stretchesIn(copies)].flatMap(({ source, from, to }) => (to > from ? [source] : [])));
}

/** The text that copies make. Where a source is another, or is gone, it is another text. */
export function copiedText({ copies, added }: Copies, sources: Sources): string {
  const texts = added.values();
  let text = "";
  for (const { added: isBehindText, source, from, to } of stretchesIn(copies)) {
    if (isBehindText) text += texts.next().value ?? "";
    text += (sources.get(source) ?? "").slice(Math.max(0, from), to);
  }
  return text;
}
