/**
 * The hits of a search, grouped by which words of the query they have: all of a group score alike, so the score can be
 * told at the end, when the rarity of each word is known. Their number is bounded; of a group the newest are kept.
 */
import type { RecallDocument } from "./document.ts";
import type { Stretch } from "./rows.ts";
import type { Matcher, Rarity } from "./terms.ts";

/** The document of hits, without its text. */
export interface HitDocument extends Omit<RecallDocument, "text"> {
  /** Lines of its text; known once it was read to its end. */
  count: number;
}

/** The place of a piece of a text that has words of the query. */
export interface HitPlace extends Stretch {
  readonly document: HitDocument;
  /** Its line, from 0. */
  readonly line: number;
  /** Whether the head answers, and not the text: what is shown is the beginning. */
  readonly isHead: boolean;
}

/** A piece of a text that has words of the query. */
export interface Hit extends HitPlace {
  /** Older messages with the same line, the newest first, and how many there are. */
  also: readonly number[];
  repeats: number;
  /** The first message that says it. */
  since: number;
  /** The text around it. */
  region: Region | undefined;
  /** Whether others took its place. */
  dropped: boolean;
}

/** A part of a document's text. */
export interface Region {
  readonly text: string;
  /** Its place in the document's text, and its first line there. */
  readonly offset: number;
  readonly line: number;
}

/** A hit with its score. */
export interface RankedHit {
  readonly hit: Hit;
  /** The weight of its own words, and some of those near it. */
  readonly score: number;
  /** The weight of its own words, and of its own with all near it. */
  readonly own: number;
  readonly together: number;
  /** Whether it has the whole query. */
  readonly exact: boolean;
  /** Whether the query has names and it has none of them, nor anything near it. */
  readonly isOther: boolean;
  /** By word: how the hit has it, and how the lines above it and its head have it. */
  readonly levels: Uint8Array;
  readonly near: Uint8Array;
}

/** Hits that have the same words, and are all told or all printed. */
interface Group {
  readonly levels: Uint8Array;
  readonly near: Uint8Array;
  readonly exact: boolean;
  hits: Hit[];
  /** By line; also by label where the line does not have all words by itself. */
  readonly byText: Map<string, Hit>;
}

/** Hits of one group that are kept, the newest, and of one message the first. */
const mostOfGroup = 48;

/** Groups that are kept; when there are more, the worst half goes. */
const mostGroups = 128;

/** Characters up to which lines are compared. */
const comparedLength = 240;

/** A line that says enough to say the same wherever it stands. */
const aSentence = /^(?=.{24})[\p{L}\p{N}].*\s.*\s/su;

/** Older messages with the same line that are named. */
const mostAlso = 3;

/** The weight of a hit without any of the names that the query has: it is about something else. */
const otherWeight = 0.5;

/** The weight of a word that stands near a hit, beside one in it. */
const nearWeight = 0.4;

/** Keeps hits in groups. */
export class Hits {
  readonly #groups = new Map<string, Group>();
  readonly #rarity: Rarity;

  constructor(rarity: Rarity) {
    this.#rarity = rarity;
  }

  /**
   * Keeps a hit of a message; undefined where the message gave enough of its group.
   *
   * @param matcher - that looked at the hit
   * @param near - by word: 2 where the head or a line shortly before has it
   * @param isTold - whether someone said it, or it corrects something: what tools print again and again never takes its room
   * @param text - the hit's text
   */
  add(matcher: Matcher, near: Uint8Array, isTold: boolean, place: HitPlace, text: string): Hit | undefined {
    const group = this.#group(matcher, near, isTold);
    const { label, seq } = place.document;
    if (group.hits.at(-mostOfGroup)?.document.seq === seq) return undefined;
    const line = text.trim();
    const isWhole = group.near.every((level) => level === 0) && aSentence.test(line);
    const key = text.length <= comparedLength ? (isWhole ? line : `${label}\n${line}`) : undefined;
    const same = key === undefined ? undefined : group.byText.get(key);
    if (same?.document.seq === seq) return undefined;
    const hit: Hit = { ...place, also: [], repeats: 0, since: seq, region: undefined, dropped: false };
    if (same && !same.dropped) {
      hit.also = [same.document.seq, ...same.also].slice(0, mostAlso);
      hit.repeats = same.repeats + 1;
      hit.since = same.since;
      same.dropped = true;
    }
    if (key !== undefined) group.byText.set(key, hit);
    group.hits.push(hit);
    if (group.hits.length > 2 * mostOfGroup) trim(group);
    return hit;
  }

  /** All that are kept, the best first: by the whole query, by score, then the newer message, then the earlier line. */
  ranked(): readonly RankedHit[] {
    const ranked = [...this.#groups.values()].flatMap((group) => {
      const { exact, levels, near } = group;
      const shared = { ...this.#scores(group), exact, levels, near };
      return group.hits.filter(({ dropped }) => !dropped).map((hit): RankedHit => ({ hit, ...shared }));
    });
    return ranked.sort(compare);
  }

  #group({ levels, exact }: Matcher, near: Uint8Array, isTold: boolean): Group {
    let key = `${exact}${isTold}`;
    for (let index = 0; index < levels.length; index++) key += levels[index]! + (near[index]! > levels[index]! ? 4 : 0);
    let group = this.#groups.get(key);
    if (!group) {
      const beside = near.map((level, index) => (level > levels[index]! ? level : 0));
      group = { levels: levels.slice(), near: beside, exact, hits: [], byText: new Map() };
      this.#groups.set(key, group);
      if (this.#groups.size > mostGroups) this.#prune();
    }
    return group;
  }

  #scores({ levels, near }: Group): Pick<RankedHit, "score" | "own" | "together" | "isOther"> {
    let own = 0;
    let together = 0;
    for (let index = 0; index < levels.length; index++) {
      const weight = this.#rarity.weigh(index, levels[index]!);
      own += weight;
      together += Math.max(weight, this.#rarity.weigh(index, near[index]!));
    }
    const names = this.#rarity.names();
    const isOther = names.length > 0 && names.every((index) => levels[index] !== 2 && near[index] !== 2);
    const factor = isOther ? otherWeight : 1;
    const score = own + nearWeight * (together - own);
    return { own, isOther, together: factor * together, score: factor * score };
  }

  #prune(): void {
    const scored = [...this.#groups].map(([key, group]) => ({ key, group, score: this.#scores(group).score }));
    const worst = scored.sort((left, right) => right.score - left.score).slice(mostGroups / 2);
    for (const { key, group } of worst) {
      for (const hit of group.hits) hit.dropped = true;
      this.#groups.delete(key);
    }
  }
}

/** Keeps the newest hits of a group. */
function trim(group: Group): void {
  const alive = group.hits.filter(({ dropped }) => !dropped);
  alive.sort((left, right) => right.document.seq - left.document.seq || left.line - right.line);
  for (const hit of alive.slice(mostOfGroup)) hit.dropped = true;
  group.hits = alive.slice(0, mostOfGroup).reverse();
  for (const [key, { dropped }] of group.byText) if (dropped) group.byText.delete(key);
}

function compare(left: RankedHit, right: RankedHit): number {
  if (left.exact !== right.exact) return left.exact ? -1 : 1;
  const { document, line } = left.hit;
  return right.score - left.score || right.hit.document.seq - document.seq || line - right.hit.line;
}
