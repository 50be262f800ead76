/** The choice of what a search shows: the best hits with what makes them whole, as far as there is room. */
import type { TokenCounter } from "../../tokens/counter.ts";
import type { Work } from "../../turns.ts";
import type { TextMask } from "../window.ts";
import { comparedLength, keyOf, ordered, renderRows, renderShown } from "./answer.ts";
import type { Shown } from "./answer.ts";
import { complement } from "./complement.ts";
import { headOf } from "./document.ts";
import type { Hit, HitDocument, RankedHit, Region } from "./hits.ts";
import { bareLine, longLine, rowsOf } from "./pieces.ts";
import type { Row } from "./pieces.ts";
import { Relevance, telling } from "./relevance.ts";
import { beginning, surroundings, withoutHoles } from "./surroundings.ts";
import { Matcher } from "./words.ts";
import type { Rarity, RecallWords } from "./words.ts";

/** Tokens from which a hit has to be nearly as good as the best, and how good that is. */
const comfortable = 600;
const nearlyBest = 0.8;

/** Characters up to which what someone said is shown whole, and tokens of an answer up to which it is. */
const saidWhole = 1_200;
const roomForSaid = 1_000;
const exactly = /\d|[\p{L}\p{N}][_/@][\p{L}\p{N}]|\p{Ll}\p{Lu}/u;

/** Passages that were too large for the room, after which no more is tried. */
const mostMisses = 12;

/** Older messages with the same passage that are named. */
const mostAlso = 3;

/** Room for a chooser, and its tools. */
export interface ChoiceOptions {
  readonly maxTokens: number;
  readonly counter: TokenCounter;
  readonly mask: TextMask;
  /** The newest user message: the question, where a conversation goes on. */
  readonly asked?: number;
  /** Text that the answer shows beside the choice. */
  readonly beside?: string;
}

/** The text that was chosen, and where it is from. */
export interface Choice {
  readonly text: string;
  readonly seqs: readonly number[];
  /** Whether there were more hits above the cut-off than had room. */
  readonly more: boolean;
}

/** Chooses from ranked hits. */
export class Chooser {
  readonly #matcher: Matcher;
  readonly #rarity: Rarity;
  readonly #relevance: Relevance;
  readonly #options: ChoiceOptions;
  readonly #shown = new Map<HitDocument, Shown>();
  readonly #byText = new Map<string, Shown>();
  readonly #rows = new Map<Region | string, readonly Row[]>();
  readonly #covered: boolean[] = [];
  /** Lines that are shown, as they are compared with others. */
  readonly #lines = new Set<string>();
  #left: number;
  #more = false;

  constructor(words: RecallWords, rarity: Rarity, options: ChoiceOptions) {
    this.#matcher = new Matcher(words);
    this.#rarity = rarity;
    this.#relevance = new Relevance(words, rarity);
    this.#options = options;
    this.#left = options.maxTokens;
    for (const line of options.beside?.split("\n") ?? []) this.#lines.add(bareLine(line));
  }

  /** @param ranked - the hits, the best first */
  *choose(ranked: readonly RankedHit[]): Work<Choice> {
    const best = this.#relevance.best(ranked, this.#options.asked);
    const heaviest = this.#relevance.heaviest();
    const relevant = ranked.filter((hit) => this.#relevance.isRelevant(hit, best, heaviest));
    let misses = 0;
    const again: RankedHit[] = [];
    for (const hit of relevant) {
      const used = this.#options.maxTokens - this.#left;
      if (misses >= mostMisses || (used >= comfortable && hit.together < nearlyBest * best)) {
        this.#more = true;
        break;
      }
      yield;
      if (this.#isShown(hit)) again.push(hit);
      else if (!this.#take(hit)) {
        misses++;
        this.#more = true;
      }
    }
    // A line that is shown may stand between others elsewhere.
    for (const hit of again) {
      if (this.#options.maxTokens - this.#left >= comfortable) break;
      this.#take(hit);
      yield;
    }
    yield* this.#cover(ranked);
    yield* this.#widen(relevant);
    const shown = ordered([...this.#shown.values()]);
    const seqs = [...new Set(shown.map(({ document }) => document.seq))].sort((left, right) => left - right);
    return { text: shown.map(renderShown).join("\n\n"), seqs, more: this.#more };
  }

  /** Whether an answer has the line of a hit already, from another message. */
  #isShown({ hit: { document, region, start, end } }: RankedHit): boolean {
    if (!region || this.#shown.has(document)) return false;
    const line = bareLine(region.text.slice(start - region.offset, end - region.offset));
    return line.length >= comparedLength && this.#lines.has(line);
  }

  /** Words that tell much and stand in nothing chosen so far get their best hit. */
  *#cover(ranked: readonly RankedHit[]): Work<void> {
    const { terms } = this.#matcher.words;
    const heaviest = this.#relevance.heaviest();
    for (let index = 0; index < terms.length; index++) {
      if (this.#covered[index] || !this.#rarity.has(index) || this.#rarity.weigh(index, 2) < telling * heaviest)
        continue;
      const hit = ranked.find(({ levels, isOther }) => levels[index] === 2 && !isOther);
      if (hit) this.#take(hit);
      yield;
    }
  }

  /** Shows a hit with what makes it whole, else by itself; false where there is no room for it. */
  #take(ranked: RankedHit): boolean {
    const { hit, near } = ranked;
    const { document, region } = hit;
    if (!region) return true;
    const known = this.#shown.get(document);
    if (hit.isHead && known) return true;
    const rows = this.#rowsOf(region);
    const at = hit.isHead ? 0 : this.#placeOf(rows, ranked);
    if (known?.rows.has(rows[at]?.start ?? -1)) return true;
    const around = hit.isHead
      ? beginning(rows)
      : withoutHoles(rows, [
          ...surroundings(rows, at, this.#relevance.isNamed(document)),
          ...complement(rows, at, document.callId === undefined, this.#matcher, this.#rarity),
        ]);
    for (const group of [around, [at]]) {
      const fresh = group.flatMap((index) => rows[index] ?? []).filter(({ start }) => !known?.rows.has(start));
      if (fresh.length === 0) return true;
      const key = keyOf(document, fresh, near.some((level) => level > 0) ? undefined : rows[at]);
      const same = known ? undefined : this.#byText.get(key);
      if (same) {
        this.#merge(same, hit);
        return true;
      }
      if (this.#show(hit, fresh, this.#left, key)) return true;
    }
    return false;
  }

  /** Shows rows of a hit's document; false where they take more than so many tokens. */
  #show({ document, also, repeats }: Hit, rows: readonly Row[], most: number, key = ""): boolean {
    const { counter } = this.#options;
    let shown = this.#shown.get(document);
    const text = renderRows(rows, document.count).join("\n");
    const cost = counter.count(text) + 2 + (shown ? 8 : counter.count(headOf(document)) + 3);
    if (cost > most) return false;
    this.#left -= cost;
    if (!shown) {
      shown = { document, rows: new Map<number, Row>(), also, unnamed: repeats - also.length };
      this.#shown.set(document, shown);
      this.#byText.set(key, shown);
    }
    for (const row of rows) {
      shown.rows.set(row.start, row);
      this.#lines.add(bareLine(row.text));
    }
    this.#coverBy([document.label, ...rows.map((row) => row.text)].join("\n"));
    return true;
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
    if (fresh.length > 0) this.#show(hit, fresh, Math.min(this.#left, roomForSaid - used));
  }

  /** The same passage again: it stands under the newest message that has it. */
  #merge(shown: Shown, { document, also }: Hit): void {
    const seqs = [shown.document.seq, ...shown.also, document.seq, ...also].sort((left, right) => right - left);
    const [, ...older] = [...new Set(seqs)];
    if (document.seq > shown.document.seq) {
      this.#shown.delete(shown.document);
      shown.document = { ...document, count: shown.document.count };
      this.#shown.set(document, shown);
    }
    shown.unnamed += Math.max(0, older.length - mostAlso);
    shown.also = older.slice(0, mostAlso);
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
