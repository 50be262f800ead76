/**
 * Statements: what lines state, in the order it was said, and which later ones speak of the same. Each has terms; two are
 * linked by rare terms that they share. Links are looked up when they are needed, among what was said since the last look.
 */
import { detached } from "../../message/detached.ts";
import { asserts, changes, corrects, enough, isDated, isNamed, isNumeral, states, unitsOf } from "./saying.ts";
import type { Saying } from "./saying.ts";

/** A term that stands in more statements, and in a larger share of them, tells nothing. */
const commonCount = 400;
const commonShare = 0.25;
/** Later statements of a source that one is compared with: those with its rarest terms. */
const mostCompared = 32;
/** The share of what the terms of the shorter statement tell that two must have in common. */
const leastShare = 0.3;
/** Likewise, where the newer one only says a value. */
const sameShare = 0.6;
/** The newer statements that one never stands without. */
const mostNewer = 12;
/** Terms of a statement, one bit each. */
const mostTerms = 31;

/** The sources of statements: what users wrote, what tools brought, and what the agent said. */
export type Source = 0 | 1 | 2;
const sources = [0, 1, 2] as const;

/** Where a statement stands. */
export interface Origin {
  readonly source: Source;
  /** The path of the file that it is a line of. */
  readonly file?: string | undefined;
  /** The message it was first said in. */
  readonly since: number;
}

/** What was stated, whether once or again and again. */
export interface Statement extends Origin {
  readonly text: string;
  readonly looks: number;
  readonly terms: readonly Term[];
  /** Its place among all that was said, when it was said first. */
  readonly place: number;
  /** Whether it may say something newer than another. */
  readonly isNews: boolean;
  /** Places before it have nothing newer. */
  readonly after: number;
  /** The place up to which newer statements were looked for, and those that were found. */
  looked: number;
  newer: readonly Newer[];
}

/** A statement as it was said in a message. */
interface Said {
  readonly statement: Statement;
  readonly seq: number;
  readonly place: number;
}

/** A newer statement of the same. */
export interface Newer extends Said {
  /** The terms that both have, a bit each. */
  readonly mask: number;
  readonly weight: number;
  /** How surely it says a new value. */
  readonly certainty: number;
}

interface Term {
  /** How much it tells, see {@link enough}. */
  readonly units: number;
  readonly isNumber: boolean;
  /** In how many statements it stands, by their source. */
  readonly counts: [number, number, number];
  readonly said: readonly [Said[], Said[], Said[]];
  /** Its bit while newer statements are looked for. */
  bit: number;
  /** What it tells, as far as the log went when that was last asked for; less than nothing for a common one. */
  tells: number;
  toldAt: number;
}

/** All that was stated in a log. */
export class Statements {
  readonly #terms = new Map<string, Term>();
  readonly #known = new Map<string, Statement>();
  readonly #sizes: [number, number, number] = [0, 0, 0];
  #place = 0;

  /**
   * Takes a statement, in the order of the log; undefined for a text that states nothing.
   *
   * @param seq - the message that says it now
   */
  add(text: string, { looks, terms: spellings }: Saying, origin: Origin, seq = origin.since): Statement | undefined {
    if ((looks & states) === 0) return undefined;
    const { source, file, since } = origin;
    const place = ++this.#place;
    const key = `${source} ${file ?? ""}\n${text}`;
    let statement = this.#known.get(key);
    if (statement && (source === 2 || !statement.isNews)) return statement;
    if (!statement) {
      const isFirst = spellings.some((spelling) => !this.#terms.has(spelling) && isTelling(spelling));
      const terms = [...spellings.slice(0, mostTerms)].map((spelling) => this.#termOf(spelling));
      const isChange = (looks & corrects) !== 0 || (looks & (asserts | changes)) === (asserts | changes);
      const isNews = source !== 2 || isFirst || isChange;
      const after = since < seq ? 0 : place;
      statement = { text, looks, terms, source, file, since, place, isNews, after, looked: 0, newer: [] };
      this.#known.set(key, statement);
      if (!isNews) return statement;
      this.#sizes[source]++;
      for (const { counts } of terms) counts[source]++;
    }
    const said = { statement, seq, place };
    for (const term of statement.terms) term.said[source].push(said);
    return statement;
  }

  /**
   * A text that is no part of what was said.
   *
   * @param since - the message it stands in. Default: it stands before all messages
   */
  standing(text: string, spellings: Iterable<string>, since = 0): Statement {
    const terms = [...spellings].slice(0, mostTerms).map((spelling) => this.#termOf(spelling));
    return {
      text,
      looks: 0,
      terms,
      source: 0,
      file: undefined,
      since,
      place: 0,
      isNews: false,
      after: 0,
      looked: 0,
      newer: [],
    };
  }

  /** The newest statements of what one speaks of, which it never stands without. */
  newerOf(statement: Statement): readonly Newer[] {
    if (statement.looked !== this.#place) statement.newer = this.#look(statement);
    statement.looked = this.#place;
    return statement.newer;
  }

  #look(statement: Statement): readonly Newer[] {
    const { terms, isNews } = statement;
    const own = terms
      .filter((term) => countOf(term) > Number(isNews) && this.#tells(term) >= 0)
      .sort((left, right) => countOf(left) - countOf(right));
    if (own.length === 0) return nothing;
    for (const [index, term] of own.entries()) term.bit = 1 << index;
    const told = own.reduce((sum, term) => (term.units === enough ? sum : sum + this.#tells(term)), 0);
    const all = sources.flatMap((source) => this.#find(source, statement, own, told));
    for (const term of own) term.bit = 0;
    if (all.length > mostNewer)
      all.sort((left, right) => right.certainty - left.certainty || right.weight - left.weight);
    return all.slice(0, mostNewer);
  }

  #find(source: Source, statement: Statement, own: readonly Term[], told: number): readonly Newer[] {
    const found: Newer[] = [];
    for (const said of sharing(own, source, statement.after)) {
      if (!isLater(said, statement)) continue;
      const link = this.#linkOf(said, told);
      // The newest is enough of those that say as much of the same, as surely.
      if (link && !found.some((newer) => covers(newer, link))) found.push(link);
    }
    return found;
  }

  /** What a later statement has in common with the one whose terms have bits; undefined if that is too little. */
  #linkOf(said: Said, told: number): Newer | undefined {
    const { terms, looks } = said.statement;
    let [mask, units, repeated, others] = [0, 0, 0, 0];
    for (const term of terms) {
      if (term.isNumber && term.bit !== 0) repeated++;
      else if (term.isNumber) others++;
      if (term.bit === 0) continue;
      mask |= term.bit;
      units += term.units;
    }
    // What says the number of another with one more revises it, whatever its words.
    const look = looks | (repeated > 0 && others > 0 ? corrects | changes : 0);
    if (units < ((look & corrects) === 0 ? enough : enough / 2)) return undefined;
    let [weight, whole] = [0, 0];
    for (const term of terms) {
      const tells = Math.max(0, this.#tells(term));
      // The words of a key that another has not are known already.
      if (term.units !== enough) whole += tells;
      if (term.bit !== 0) weight += tells;
    }
    // A value alone is a newer one of the same only if the rest of the lines is much the same.
    const share = (look & changes) === 0 ? sameShare : leastShare;
    if (weight < share * Math.min(told, whole)) return undefined;
    return { ...said, mask, weight, certainty: look & (asserts | changes | corrects) };
  }

  /**
   * What a term tells of a statement's subject: the more, the fewer have it; nothing if no other has it. Less than nothing for
   * one that stands in too many statements; what the agent says often may still be rare.
   */
  #tells(term: Term): number {
    if (term.toldAt === this.#place) return term.tells;
    const { counts, isNumber, units } = term;
    const size = this.#sizes[0] + this.#sizes[1] + this.#sizes[2];
    const count = countOf(term);
    const isCommon = counts[0] + counts[1] > Math.max(commonCount, commonShare * size);
    const tells = count < 2 || isNumber ? 0 : Math.log((size + 2) / count) ** 2 * units;
    term.toldAt = this.#place;
    return (term.tells = isCommon ? -1 : tells);
  }

  #termOf(spelling: string): Term {
    let term = this.#terms.get(spelling);
    if (!term) {
      const facts = { units: unitsOf(spelling), isNumber: isNumeral(spelling) };
      this.#terms.set(
        detached(spelling),
        (term = { ...facts, counts: [0, 0, 0], said: [[], [], []], bit: 0, tells: 0, toldAt: -1 }),
      );
    }
    return term;
  }
}

const nothing: readonly never[] = [];

function countOf({ counts }: Term): number {
  return counts[0] + counts[1] + counts[2];
}

/** Whether a term is a number, or a name with a digit: a new one makes what the agent says news. */
function isTelling(spelling: string): boolean {
  return !spelling.endsWith(":") && (isNumeral(spelling) || (isNamed(spelling) && /\d/.test(spelling)));
}

/** What was said after a place by a source, with any of some terms, newest first; where that is much, by the first terms. */
function sharing(terms: readonly Term[], source: Source, after: number): readonly Said[] {
  const found = new Set<Said>();
  for (const { said } of terms) {
    const all = said[source];
    for (let at = all.length - 1; at >= 0 && all[at]!.place > after && found.size < mostCompared; at--)
      found.add(all[at]!);
  }
  return [...found].sort((left, right) => right.place - left.place);
}

/** Whether something was said later than a statement: in a later message, or by what renews it later in the same. */
function isLater({ statement: other, seq, place }: Said, statement: Statement): boolean {
  if (other.text === statement.text) return false;
  const isOneFile = statement.file !== undefined && statement.file === other.file;
  if (isOneFile || seq === statement.since) return place > statement.place && renews(other, statement, isOneFile);
  return seq > statement.since;
}

/**
 * Whether a statement that stands later in the same text changes another. The lines of a file all hold, but for those of a
 * log; rows of a table with other keys speak of other things.
 */
function renews(other: Statement, statement: Statement, isFile: boolean): boolean {
  if ((other.looks & corrects) !== 0) return true;
  const [later, before] = [keyOf(other), keyOf(statement)];
  const isOther = later !== undefined && before !== undefined && later !== before;
  return !isOther && (other.looks & statement.looks & (isFile ? isDated : states)) !== 0;
}

function keyOf({ terms }: Statement): Term | undefined {
  return terms.find(({ units }) => units === enough);
}

/** Whether a newer statement says as much of the same as another of its source that is older. */
function covers(newer: Newer, older: Newer): boolean {
  return (
    newer.statement.source === older.statement.source &&
    (newer.mask & older.mask) === older.mask &&
    (newer.certainty & older.certainty) === older.certainty
  );
}
