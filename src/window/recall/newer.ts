/** Newer hits: what recall never shows a row without, as later messages say something newer of the same. */
import { changes, corrects, isDocument, isNumeral, sayingOf, termsOf } from "../digest/saying.ts";
import { Statements } from "../digest/statements.ts";
import type { Newer, Source, Statement } from "../digest/statements.ts";
import { splitSentences } from "../../message/sentences.ts";
import { isPath } from "../stub/stub.ts";
import { tellingWeight } from "./complement.ts";
import type { RecallDocument } from "./document.ts";
import type { HitDocument, RankedHit } from "./hits.ts";
import { rowsOf } from "./rows.ts";
import type { Row } from "./rows.ts";
import { Matcher } from "./terms.ts";
import type { Rarity, RecallWords } from "./terms.ts";

/** Hits, the best first, that are looked at. */
const mostHits = 1_024;

/** What hits state, and what was said later of the same. */
export class NewerHits {
  readonly #statements = new Statements();
  readonly #matcher: Matcher;
  readonly #rarity: Rarity;
  /** The newest hit that says each. */
  readonly #hits = new Map<Statement, RankedHit>();
  /** By document and text. */
  readonly #known = new Map<HitDocument, Map<string, Statement>>();

  /**
   * @param ranked - the hits, the best first
   * @param said - what users said, with and without words of the query
   * @param words - the words of the query
   */
  constructor(ranked: readonly RankedHit[], said: readonly RecallDocument[], words: RecallWords, rarity: Rarity) {
    this.#matcher = new Matcher(words);
    this.#rarity = rarity;
    const best = ranked.filter(({ hit }) => hit.region && !hit.isHead).slice(0, mostHits);
    const hits = [...best, ...this.#rest(said, best)].sort(
      ({ hit: one }, { hit: other }) => one.document.seq - other.document.seq || one.start - other.start,
    );
    for (const one of hits) {
      const { document, region, start, end, since } = one.hit;
      const origin = { source: sourceOf(document), file: isFile(document) ? document.label : undefined, since };
      const found = region!.text.slice(start - region!.offset, end - region!.offset);
      for (const text of statementsIn(found)) {
        const saying = sayingOf(text, kinds[origin.source], isCode(document));
        const isSaid = document.label === "user" && (saying.looks & corrects) !== 0;
        if (!isSaid && this.#wordsIn(text).length === 0) continue;
        const statement = this.#statements.add(text.trim(), saying, origin, document.seq);
        if (!statement) continue;
        this.#hits.set(statement, one);
        const known = this.#known.get(document);
        if (known) known.set(statement.text, statement);
        else this.#known.set(document, new Map([[statement.text, statement]]));
      }
    }
  }

  /** The newest hits of what rows of a document speak of. */
  of(document: HitDocument, rows: readonly Row[]): readonly RankedHit[] {
    const newer = statementsOf(rows).flatMap((text) => {
      const own = this.#known.get(document)?.get(text);
      const statement = own ?? this.#statements.standing(text, termsOf(text), document.seq);
      const found = this.#statements.newerOf(statement);
      const words = this.#wordsIn(text);
      // A record says many things, of which the query asks for one.
      if (isJson(text)) return found.filter((other) => words.every((word) => this.#has(other, word)));
      if (words.length === 0) return found;
      const isOwn = own !== undefined && !this.#hitOf({ statement: own }).isOther;
      return found.filter((other) => this.#isAbout(other, words) && !(isOwn && this.#isOfAnother(other)));
    });
    return [...new Set(newer.map((other) => this.#hitOf(other)))];
  }

  #hitOf({ statement }: Pick<Newer, "statement">): RankedHit {
    return this.#hits.get(statement)!;
  }

  /** Whether a sentence has one of some words of the query, or says that something changed. */
  #isAbout(other: Newer, words: readonly number[]): boolean {
    return words.some((word) => this.#has(other, word)) || (other.statement.looks & changes) !== 0;
  }

  /** Whether a sentence stands under the id of another thing. */
  #isOfAnother(other: Newer): boolean {
    const { hit, isOther } = this.#hitOf(other);
    if (!isOther || !hit.region) return false;
    const { text, offset } = hit.region;
    const isSaid = hit.document.callId === undefined;
    return this.#hasIdOfAnother(
      isSaid ? text.slice(0, hit.end - offset) : text.slice(hit.start - offset, hit.end - offset),
    );
  }

  /** Whether a sentence has a word of the query, in itself or near it. */
  #has(other: Newer, word: number): boolean {
    const { levels, near } = this.#hitOf(other);
    return levels[word]! > 0 || near[word]! > 0;
  }

  /** The rows of what users said that are no hits. */
  #rest(said: readonly RecallDocument[], hits: readonly RankedHit[]): readonly RankedHit[] {
    const known = new Map<number, { readonly document: HitDocument; readonly starts: Set<number> }>();
    for (const { hit } of hits) {
      const { document, start } = hit;
      if (document.label !== "user") continue;
      const found = known.get(document.seq);
      if (found) found.starts.add(start);
      else known.set(document.seq, { document, starts: new Set([start]) });
    }
    const names = this.#rarity.names();
    return said.flatMap(({ text, ...given }) => {
      const region = { text, offset: 0, line: 0 };
      const rows = rowsOf(region);
      const { document, starts } = known.get(given.seq) ?? {
        document: { ...given, count: rows.length },
        starts: new Set<number>(),
      };
      const near = this.#levelsIn(text);
      const isOther = names.length > 0 && names.every((index) => near[index] !== 2);
      return rows
        .filter(({ start }) => !starts.has(start))
        .map(({ start, end, line, text: row }): RankedHit => {
          const place = { document, line, start, end, isHead: false, region, dropped: false };
          const hit = { ...place, also: [], repeats: 0, since: document.seq };
          return { hit, score: 0, own: 0, together: 0, exact: false, isOther, levels: this.#levelsIn(row), near };
        });
    });
  }

  /** How a text has the words of the query. */
  #levelsIn(text: string): Uint8Array {
    this.#matcher.look(text.toLowerCase());
    return this.#matcher.levels.slice();
  }

  /** The words of the query that a text has and that tell something; no number, which may be the old value. */
  #wordsIn(text: string): readonly number[] {
    const levels = this.#levelsIn(text);
    return this.#matcher.words.terms.flatMap(({ stem, weight }, index) => {
      return levels[index]! > 0 && weight >= tellingWeight && !isNumeral(stem) ? [index] : [];
    });
  }

  /** Whether a text has an id of another thing: made as one of the query's, of letters and digits, which it has not. */
  #hasIdOfAnother(text: string): boolean {
    const lower = text.toLowerCase();
    const ids = this.#matcher.words.terms.filter(({ stem, isName }) => isName && /\d/.test(stem));
    return ids.some(({ stem }) => !lower.includes(stem)) && ids.some(({ stem }) => shapeOf(stem).test(lower));
  }
}

/** The pattern of ids that are made as one is. */
function shapeOf(id: string): RegExp {
  const parts = id.split(/(\d+|[a-z]+)/).map((part) => {
    if (/^\d/.test(part)) return String.raw`\d+`;
    return /^[a-z]/.test(part) ? "[a-z]+" : part.replaceAll(/[^\w]/g, String.raw`\$&`);
  });
  return new RegExp(`(?<![a-z0-9])${parts.join("")}(?![a-z0-9])`);
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
