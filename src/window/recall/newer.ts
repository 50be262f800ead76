/** Newer hits: what recall never shows a row without, as later messages say something newer of the same. */
import { Links } from "../digest/links.ts";
import type { Origins, Source } from "../digest/links.ts";
import { changes, corrects, isDocument, sayingOf, states, termsOf } from "../digest/saying.ts";
import { Sayings } from "../digest/sayings.ts";
import { splitSentences } from "../../message/sentences.ts";
import { isPath } from "../stub/stub.ts";
import type { RecallDocument } from "./document.ts";
import type { HitDocument, RankedHit } from "./hits.ts";
import { rowsOf } from "./pieces.ts";
import type { Row } from "./pieces.ts";
import type { Relevance } from "./relevance.ts";

/** Hits, the best first, that are looked at. */
const mostHits = 1_024;

/** A sentence of a hit. */
interface Sentence {
  readonly ranked: RankedHit;
  readonly source: Source;
}

/** The links among the sentences of hits. */
export class NewerHits implements Origins {
  readonly #sentences: Sentence[] = [];
  readonly #sayings = new Sayings();
  readonly #links: Links;
  readonly #relevance: Relevance;
  /** The numbers of sentences by their documents and texts. */
  readonly #numbers = new Map<HitDocument, Map<string, number>>();

  /**
   * @param ranked - the hits, the best first
   * @param said - what users said, with and without words of the query
   * @param relevance - what texts have of the query
   */
  constructor(ranked: readonly RankedHit[], said: readonly RecallDocument[], relevance: Relevance) {
    this.#relevance = relevance;
    const best = ranked.filter(({ hit }) => hit.region && !hit.isHead).slice(0, mostHits);
    const hits = [...best, ...rest(said, best, relevance)].sort(
      ({ hit: one }, { hit: other }) => one.document.seq - other.document.seq || one.start - other.start,
    );
    const stated: number[] = [];
    for (const one of hits) {
      const { document, region, start, end } = one.hit;
      const source = sourceOf(document);
      const found = region!.text.slice(start - region!.offset, end - region!.offset);
      for (const text of statementsIn(found)) {
        const saying = sayingOf(text, kinds[source], isCode(document));
        if ((saying.looks & states) === 0) continue;
        const isSaid = document.label === "user" && (saying.looks & corrects) !== 0;
        if (!isSaid && relevance.wordsIn(text).length === 0) continue;
        const number = this.#sentences.push({ ranked: one, source }) - 1;
        this.#sayings.add(number, saying);
        stated.push(number);
        const numbers = this.#numbers.get(document);
        if (numbers) numbers.set(text.trim(), number);
        else this.#numbers.set(document, new Map([[text.trim(), number]]));
      }
    }
    this.#links = new Links(this.#sayings, stated, this);
  }

  sourceOf(number: number): Source {
    return this.#sentences[number]!.source;
  }

  isLater(other: number, number: number): boolean {
    const { hit } = this.#sentences[number]!.ranked;
    return this.#isLater(other, hit.document, hit.start, hit.since, number);
  }

  /** The newest hits of what rows of a document speak of. */
  of(document: HitDocument, rows: readonly Row[]): readonly RankedHit[] {
    const numbers = this.#numbers.get(document);
    const start = Math.min(...rows.map((row) => row.start));
    const newer = statementsOf(rows).flatMap((statement) => {
      const number = numbers?.get(statement);
      const found =
        number === undefined
          ? this.#links.newerThan(termsOf(statement), (other) => this.#isLater(other, document, start, document.seq))
          : this.#links.newerOf(number);
      const words = this.#relevance.wordsIn(statement);
      // A record says many things, of which the query asks for one.
      if (isJson(statement)) return found.filter((other) => words.every((word) => this.#has(other, word)));
      if (words.length === 0) return found;
      const isOwn = number !== undefined && !this.#sentences[number]!.ranked.isOther;
      return found.filter((other) => this.#isAbout(other, words) && !(isOwn && this.#isOfAnother(other)));
    });
    return [...new Set(newer.map((other) => this.#sentences[other]!.ranked))];
  }

  /** Whether a sentence has one of some words of the query, or says that something changed. */
  #isAbout(other: number, words: readonly number[]): boolean {
    return words.some((word) => this.#has(other, word)) || (this.#sayings.looks[other]! & changes) !== 0;
  }

  /** Whether a sentence stands under the id of another thing. */
  #isOfAnother(other: number): boolean {
    const { hit, isOther } = this.#sentences[other]!.ranked;
    if (!isOther || !hit.region) return false;
    const { text, offset } = hit.region;
    const isSaid = hit.document.callId === undefined;
    return this.#relevance.isOfAnother(
      isSaid ? text.slice(0, hit.end - offset) : text.slice(hit.start - offset, hit.end - offset),
    );
  }

  /** Whether a sentence has a word of the query, in itself or near it. */
  #has(other: number, word: number): boolean {
    const { levels, near } = this.#sentences[other]!.ranked;
    return levels[word]! > 0 || near[word]! > 0;
  }

  /** Whether a sentence was said later than a text, which was first said in message `since`, or renews it in the same. */
  #isLater(other: number, document: HitDocument, start: number, since: number, number?: number): boolean {
    const { hit } = this.#sentences[other]!.ranked;
    if (hit.document.seq !== document.seq) return hit.document.seq > since;
    if (hit.document !== document || hit.start <= start) return false;
    if (number === undefined) return (this.#sayings.looks[other]! & corrects) !== 0;
    return this.#sayings.renews(other, number, isFile(document));
  }
}

/** The rows of what users said that are no hits. */
function rest(said: readonly RecallDocument[], hits: readonly RankedHit[], relevance: Relevance): readonly RankedHit[] {
  const known = new Map<number, { readonly document: HitDocument; readonly starts: Set<number> }>();
  for (const { hit } of hits) {
    const { document, start } = hit;
    if (document.label !== "user") continue;
    const found = known.get(document.seq);
    if (found) found.starts.add(start);
    else known.set(document.seq, { document, starts: new Set([start]) });
  }
  return said.flatMap(({ text, ...given }) => {
    const region = { text, offset: 0, line: 0 };
    const rows = rowsOf(region);
    const { document, starts } = known.get(given.seq) ?? {
      document: { ...given, count: rows.length },
      starts: new Set<number>(),
    };
    const near = relevance.levelsIn(text);
    return rows
      .filter(({ start }) => !starts.has(start))
      .map(({ start, end, line, text: row }): RankedHit => {
        const place = { document, line, start, end, isHead: false, region, dropped: false };
        const hit = { ...place, also: [], repeats: 0, since: document.seq };
        const levels = relevance.levelsIn(row);
        return { hit, score: 0, own: 0, together: 0, exact: false, isOther: relevance.isOther(near), levels, near };
      });
  });
}

/** Sentences, and the lines of JSON as one: a member speaks of what its object speaks of. */
function statementsOf(rows: readonly Row[]): readonly string[] {
  const members = rows.filter(({ text }) => isJson(text)).map(({ text }) => text.trim());
  const sentences = rows.filter(({ text }) => !isJson(text)).flatMap(({ text }) => statementsIn(text));
  return members.length === 0 ? sentences : [...sentences, members.join("\n")];
}

/** The sentences of a line; a line of JSON is one. */
function statementsIn(text: string): readonly string[] {
  return isJson(text) ? [text.trim()] : splitSentences(text).map((one) => one.trim());
}

function isJson(text: string): boolean {
  return /^\s*(?:"[^"]*":|[{}[\]])/.test(text);
}

const kinds = ["user", "result", "answered"] as const;

function sourceOf({ label, callId, isCall }: HitDocument): Source {
  if (isCall === true) return 2;
  if (callId !== undefined || label === "result") return 1;
  return label === "assistant" ? 2 : 0;
}

function isFile({ label, callId }: HitDocument): boolean {
  return callId !== undefined && label.split(" ").some((word) => isPath(word) && !word.includes("://"));
}

function isCode(document: HitDocument): boolean {
  return isFile(document) && document.label.split(" ").some((word) => isPath(word) && !isDocument(word));
}
