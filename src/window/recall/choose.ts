/** The choice of what a search shows: the best hits with what makes them whole, as far as there is room. */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { TextMask } from "../window.ts";
import { ordered, renderRows, renderShown } from "./answer.ts";
import type { Choice, Shown } from "./answer.ts";
import { complement } from "./complement.ts";
import { headOf } from "./document.ts";
import type { RecallDocument } from "./document.ts";
import type { Hit, HitDocument, RankedHit, Region } from "./hits.ts";
import { NewerHits } from "./newer.ts";
import { beginning, longLine, rowsOf, surroundings } from "./rows.ts";
import type { Row } from "./rows.ts";
import { Matcher } from "./terms.ts";
import type { Rarity, RecallWords } from "./terms.ts";

/** Tokens from which a hit has to be nearly as good as the best, and how good that is. */
const comfortable = 600;
const nearlyBest = 0.8;

/** The share of the best hit's weight that a hit needs, with the words near it and by its own; likewise of the heaviest word's. */
const telling = 0.5;
const ownCutOff = 0.2;

/** The share that a hit needs without the query's heaviest word, and without any of its names: it may be about others. */
const restCutOff = 0.75;
const otherCutOff = 0.9;

/** Characters up to which what someone said is shown whole, and tokens of an answer up to which it is. */
const saidWhole = 1_200;
const roomForSaid = 1_000;
const exactly = /\d|[\p{L}\p{N}][_/@][\p{L}\p{N}]|\p{Ll}\p{Lu}/u;

/** Passages that were too large for the room, after which no more is tried. */
const mostMisses = 12;

/** Room for a chooser, and its tools. */
export interface ChoiceOptions {
  readonly maxTokens: number;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
  /** The newest user message: the question, where a conversation goes on. */
  readonly asked?: number;
  /** Documents of what users said, oldest first. */
  readonly said?: readonly RecallDocument[];
}

/** Rows of a hit's document that are shown together. */
interface Extract {
  readonly hit: Hit;
  readonly rows: readonly Row[];
}

/** The weight of the best hit; a question that is still to be answered has all words, and tells nothing. */
function bestOf(ranked: readonly RankedHit[], asked: number | undefined): number {
  const others = ranked.filter(({ hit }) => hit.document.seq !== asked);
  return (others.length > 0 ? others : ranked).reduce((most, { together }) => Math.max(most, together), 0);
}

/** Chooses from ranked hits. */
export class Chooser {
  readonly #matcher: Matcher;
  readonly #rarity: Rarity;
  /** The weight of the heaviest word. */
  readonly #heaviest: number;
  readonly #options: ChoiceOptions;
  readonly #shown = new Map<HitDocument, Shown>();
  readonly #rows = new Map<Region | string, readonly Row[]>();
  readonly #covered: boolean[] = [];
  /** Lines that are shown, as they are compared with others. */
  readonly #lines = new Set<string>();
  #newer: NewerHits | undefined;
  #left: number;
  #more = false;

  constructor(words: RecallWords, rarity: Rarity, options: ChoiceOptions) {
    this.#matcher = new Matcher(words);
    this.#rarity = rarity;
    this.#heaviest = rarity.heaviest();
    this.#options = options;
    this.#left = options.maxTokens;
  }

  /** @param ranked - the hits, the best first */
  *choose(ranked: readonly RankedHit[]): Work<Choice> {
    const best = bestOf(ranked, this.#options.asked);
    this.#newer = new NewerHits(ranked, this.#options.said ?? [], this.#matcher.words, this.#rarity);
    yield;
    const relevant = ranked.filter((hit) => this.#isRelevant(hit, best));
    let misses = 0;
    for (const hit of relevant) {
      const used = this.#options.maxTokens - this.#left;
      if (misses >= mostMisses || (used >= comfortable && hit.together < nearlyBest * best)) {
        this.#more = true;
        break;
      }
      yield;
      if (this.#take(hit)) continue;
      misses++;
      this.#more = true;
    }
    yield* this.#cover(ranked);
    yield* this.#widen(relevant);
    const shown = ordered([...this.#shown.values()]);
    const seqs = [...new Set(shown.map(({ document }) => document.seq))].sort((left, right) => left - right);
    return { text: shown.map(renderShown).join("\n\n"), seqs, more: this.#more };
  }

  /** Whether a hit is good enough to be shown. */
  #isRelevant({ exact, own, together, levels, near, isOther }: RankedHit, best: number): boolean {
    if (exact) return true;
    const isSubject = levels.some((level, index) => (level === 2 || near[index] === 2) && this.#tells(index, 1));
    const share = isOther ? otherCutOff : isSubject ? telling : restCutOff;
    return together >= share * best && own >= ownCutOff * best;
  }

  /** Whether a word that any line has weighs as much as a share of the heaviest one. */
  #tells(index: number, share: number): boolean {
    return this.#rarity.has(index) && this.#rarity.weigh(index, 2) >= share * this.#heaviest;
  }

  /** Words that tell much and stand in nothing chosen so far get their best hit. */
  *#cover(ranked: readonly RankedHit[]): Work<void> {
    const { terms } = this.#matcher.words;
    for (let index = 0; index < terms.length; index++) {
      if (this.#covered[index] || !this.#tells(index, telling)) continue;
      const hit = ranked.find(({ levels, isOther }) => levels[index] === 2 && !isOther);
      if (hit) this.#take(hit);
      yield;
    }
  }

  /** Shows a hit with what makes it whole and what is newer than its rows; false where there is no room for them. */
  #take(ranked: RankedHit): boolean {
    const { hit } = ranked;
    const { document, region } = hit;
    if (!region) return true;
    const known = this.#shown.get(document);
    if (hit.isHead && known) return true;
    const rows = this.#rowsOf(region);
    const at = hit.isHead ? 0 : this.#placeOf(rows, ranked);
    if (known?.rows.has(rows[at]?.start ?? -1)) return true;
    const around = hit.isHead
      ? beginning(rows)
      : [
          ...surroundings(rows, at),
          ...complement(rows, at, document.callId === undefined, this.#matcher, this.#rarity),
        ];
    for (const group of [around, [at]]) {
      const fresh = group.flatMap((index) => rows[index] ?? []).filter(({ start }) => !known?.rows.has(start));
      if (fresh.length === 0) return true;
      if (this.#show({ hit, rows: fresh }, this.#left)) return true;
    }
    return false;
  }

  /** Shows an extract with what is newer than its rows, all or none; whether there was room within some tokens. */
  #show(first: Extract, most: number): boolean {
    const extracts = [first];
    const documents = new Set<HitDocument>(this.#shown.keys());
    const lines = new Set<string>();
    let cost = 0;
    // What is newer than the newer ones is added behind them, so that the walk comes to it too.
    for (const { hit, rows } of extracts) {
      cost += this.#cost(hit.document, rows, !documents.has(hit.document));
      if (cost > most) return false;
      documents.add(hit.document);
      for (const row of rows) lines.add(row.text.trim());
      for (const newer of this.#newer?.of(hit.document, rows) ?? []) {
        const found = this.#extractOf(newer);
        const line = (found.rows[0]?.text ?? "").trim();
        if (lines.has(line) || this.#lines.has(line)) continue;
        lines.add(line);
        extracts.push(found);
      }
    }
    this.#left -= cost;
    for (const extract of extracts) this.#add(extract);
    return true;
  }

  #cost(document: HitDocument, rows: readonly Row[], isNew: boolean): number {
    const { counter } = this.#options;
    const text = renderRows(rows, document.count).join("\n");
    return counter.count(text) + 2 + (isNew ? counter.count(headOf(document)) + 3 : 8);
  }

  /** The row of a hit by itself. */
  #extractOf(ranked: RankedHit): Extract {
    const { hit } = ranked;
    const rows = hit.region ? this.#rowsOf(hit.region) : [];
    const row = rows[this.#placeOf(rows, ranked)];
    return { hit, rows: row ? [row] : [] };
  }

  #add({ hit: { document, also, repeats }, rows }: Extract): void {
    let shown = this.#shown.get(document);
    if (!shown) {
      shown = { document, rows: new Map<number, Row>(), also, unnamed: repeats - also.length };
      this.#shown.set(document, shown);
    }
    for (const row of rows) {
      shown.rows.set(row.start, row);
      this.#lines.add(row.text.trim());
    }
    this.#coverBy([document.label, ...rows.map((row) => row.text)].join("\n"));
  }

  /**
   * While little is shown, more is shown of what people and the agent said: first the lines with numbers and names, which
   * have to be given exactly, then short messages whole.
   */
  *#widen(relevant: readonly RankedHit[]): Work<void> {
    const hits = relevant.filter(({ hit }) => hit.document.callId === undefined && this.#shown.has(hit.document));
    const newest = hits.toSorted((left, right) => right.hit.document.seq - left.hit.document.seq);
    for (const isWanted of [(row: Row) => exactly.test(row.text), () => true]) {
      for (const { hit } of newest) {
        this.#widenOne(hit, isWanted);
        yield;
      }
    }
  }

  #widenOne(hit: Hit, isWanted: (row: Row) => boolean): void {
    const { document, region } = hit;
    const shown = this.#shown.get(document);
    if (!shown || !region || region.offset > 0 || region.text.length > saidWhole) return;
    const fresh = this.#rowsOf(region).filter((row) => !shown.rows.has(row.start) && isWanted(row));
    const used = this.#options.maxTokens - this.#left;
    if (fresh.length > 0) this.#show({ hit, rows: fresh }, Math.min(this.#left, roomForSaid - used));
  }

  #coverBy(text: string): void {
    const { levels } = this.#matcher;
    this.#matcher.look(text.toLowerCase());
    for (let index = 0; index < levels.length; index++) this.#covered[index] ||= levels[index]! > 0;
  }

  #rowsOf(region: Region): readonly Row[] {
    const { mask } = this.#options;
    const key = region.offset === 0 ? region.text : region;
    const known = this.#rows.get(key);
    if (known) return known;
    // A line that is cut is masked before: half a secret passes every mask.
    const isLong = region.text.split("\n").some((line) => line.length > longLine);
    const rows = rowsOf(isLong ? { ...region, text: mask(region.text) } : region);
    this.#rows.set(key, rows);
    return rows;
  }

  /** The row of a hit; in a text whose secrets were replaced, the nearest one with the same words. */
  #placeOf(rows: readonly Row[], { hit, levels }: RankedHit): number {
    let nearest = Math.max(
      0,
      rows.findIndex(({ end }) => end > hit.start || end === hit.end),
    );
    const has = (index: number): boolean =>
      this.#matcher.look((rows[index]?.text ?? "").toLowerCase()) &&
      levels.every((level, term) => level <= this.#matcher.levels[term]!);
    if (has(nearest)) return nearest;
    let distance = Infinity;
    for (const [index, { start }] of rows.entries()) {
      if (Math.abs(start - hit.start) >= distance || !has(index)) continue;
      distance = Math.abs(start - hit.start);
      nearest = index;
    }
    return nearest;
  }
}
