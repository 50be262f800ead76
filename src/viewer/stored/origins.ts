/** The origins of a digest's lines: the message that each is from, and the line in it. */
import { splitLines } from "../../message/quote.ts";
import { digestLines } from "../page/digest-lines.ts";
import type { DigestLine } from "../page/digest-lines.ts";
import { partsText } from "../page/window-text.ts";
import type { LineOrigin } from "../viewer.ts";
import type { Place } from "./epoch-index.ts";
import { Newest } from "./newest.ts";

/** Messages that are read for the files of one digest; lines of older ones keep their head's newest message. */
const mostRead = 512;

/** Messages that are read at once, going back. */
const stride = 32;

/** The lines whose origins are kept: digests of neighbouring epochs have most of theirs in common. */
const keptLines = 4_096;

/** The origins of lines that were found, by what the lines say. */
export class KnownOrigins {
  readonly #found = new Newest<string, Omit<LineOrigin, "line"> | undefined>(keptLines);

  /** The origin of a line, if it was found before. */
  of(line: DigestLine): LineOrigin | undefined {
    const found = this.#found.get(keyOf(line), () => undefined);
    return found && { line: line.line, ...found };
  }

  /** Keeps the origin of a line. */
  keep(line: DigestLine, { seq, at }: LineOrigin): LineOrigin {
    this.#found.delete(keyOf(line));
    this.#found.get(keyOf(line), () => ({ seq, at }));
    return { line: line.line, seq, at };
  }
}

function keyOf({ text, source: { kind, subject, from, to } }: DigestLine): string {
  return [kind, from, to, subject, text].join("\n");
}

/**
 * The origins of all quoted lines of a digest. Reads the messages that its heads name.
 *
 * @param known - lines that were found before, and those that are found now
 */
export async function originsOf(
  place: Place,
  text: string,
  known: KnownOrigins = new KnownOrigins(),
): Promise<readonly LineOrigin[]> {
  const texts = new LogTexts(place);
  const origins: LineOrigin[] = [];
  const lines: DigestLine[] = [];
  for (const line of digestLines(text)) {
    const origin = known.of(line);
    if (origin) origins.push(origin);
    else lines.push(line);
  }
  const records = lines.filter(({ source }) => source.kind === "record");
  await texts.read([...new Set(records.map(({ source }) => source.from))]);
  for (const line of records) {
    const { from } = line.source;
    origins.push(known.keep(line, { line: line.line, seq: from, at: texts.find(from, line.text) }));
  }
  for (const group of byFile(lines)) {
    const found = await fileOrigins(group, texts);
    group.forEach((line, place) => origins.push(known.keep(line, found[place] as LineOrigin)));
  }
  return origins.sort((left, right) => left.line - right.line);
}

function byFile(lines: readonly DigestLine[]): readonly (readonly DigestLine[])[] {
  const groups = new Map<string, DigestLine[]>();
  for (const line of lines) {
    const { kind, subject, from, to } = line.source;
    if (kind !== "file") continue;
    const key = `${from} ${to} ${subject}`;
    const group = groups.get(key);
    if (group) group.push(line);
    else groups.set(key, [line]);
  }
  return [...groups.values()];
}

/** The newest message of a file's range that holds each line. */
async function fileOrigins(lines: readonly DigestLine[], texts: LogTexts): Promise<readonly LineOrigin[]> {
  const [first] = lines;
  if (!first) return [];
  const { from, to } = first.source;
  const found = new Map<number, LineOrigin>();
  for (let end = to; end >= from && found.size < lines.length && texts.count < mostRead; end -= stride) {
    const start = Math.max(from, end - stride + 1);
    await texts.read(Array.from({ length: end - start + 1 }, (_, index) => start + index));
    for (let seq = end; seq >= start; seq--) {
      for (const { line, text } of lines) {
        if (found.has(line)) continue;
        const at = texts.find(seq, text);
        if (at > 0) found.set(line, { line, seq, at });
      }
    }
  }
  return lines.map(({ line }) => found.get(line) ?? { line, seq: to, at: 0 });
}

/** The texts of messages as lines, each message read once. */
class LogTexts {
  readonly #place: Place;
  readonly #lines = new Map<number, readonly string[]>();
  /** By message, the first place of each line. */
  readonly #places = new Map<number, ReadonlyMap<string, number>>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** How many messages were read. */
  get count(): number {
    return this.#lines.size;
  }

  /** Reads messages; neighbours in one go. */
  async read(seqs: readonly number[]): Promise<void> {
    const { store, scope, id } = this.#place;
    const wanted = seqs.filter((seq) => !this.#lines.has(seq)).toSorted((left, right) => left - right);
    for (let index = 0; index < wanted.length;) {
      const from = wanted[index] as number;
      let to = from;
      while (++index < wanted.length && (wanted[index] as number) - to <= 8) to = wanted[index] as number;
      for await (const { seq, message } of store.read(scope, id, { kind: "message", from, to })) {
        this.#lines.set(seq, splitLines(partsText(message.parts)));
      }
    }
  }

  /** The line of a message that holds a text, from 1; 0 for none. A digest shows part of a long line. */
  find(seq: number, text: string): number {
    const lines = this.#lines.get(seq) ?? [];
    const wanted = text.trim();
    const exact = this.#placesOf(seq, lines).get(wanted);
    if (exact !== undefined) return exact;
    const [head = "", ...rest] = wanted.split("…");
    const start = rest.length > 0 && head.length >= 12 ? head.trimEnd() : wanted;
    if (start.length < 4) return 0;
    return lines.findIndex((line) => line.includes(start)) + 1;
  }

  #placesOf(seq: number, lines: readonly string[]): ReadonlyMap<string, number> {
    const known = this.#places.get(seq);
    if (known) return known;
    const places = new Map<string, number>();
    for (const [index, line] of lines.entries()) if (!places.has(line.trim())) places.set(line.trim(), index + 1);
    this.#places.set(seq, places);
    return places;
  }
}
