/**
 * Statements: what lines state, in the order it was said, and which later ones speak of the same: two that have terms in
 * common which few others have. What a term tells is settled when a statement is said, so that a link holds whenever it is
 * looked for.
 */
import { detached } from "../../message/detached.ts";
import { asserts, changes, corrects, enough, isDated, isNamed, isNumeral, states, unitsOf } from "./saying.ts";
import type { Saying } from "./saying.ts";

/** A term that stands in more statements, and in a larger share of them, tells nothing from then on. */
const commonCount = 400;
const commonShare = 0.25;
/** A term that stands in fewer, or in a smaller share, is rare; a name is always. */
const rareCount = 12;
const rareShare = 0.02;
/** The least statements by which rarity is measured: the first ones of a log are not rarer than later ones. */
const leastStatements = 1_000;
/** The share of what the terms of the shorter statement tell that two must have in common. */
const leastShare = 0.25;
/** Likewise, where the newer one only says a value. */
const sameShare = 0.6;
/** Likewise, where none of the terms in common is rare. */
const allShare = 0.9;
/** The newer statements that one never stands without. */
const mostNewer = 12;

/** The sources of statements: what users wrote, what tools brought, and what the agent said. */
export type Source = 0 | 1 | 2;

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
  readonly terms: ReadonlySet<Term>;
  /** Its place among all that was said, when it was said first. */
  readonly place: number;
  /** Whether it may say something newer than another. */
  readonly isNews: boolean;
  /** What its terms tell together, as far as they are no key. */
  readonly told: number;
  /** The names of its file, by which a user speaks of it. */
  readonly names: ReadonlySet<Term>;
  /** The place up to which newer statements were looked for, and those that were found, newest first. */
  looked: number;
  newer: readonly Newer[];
}

/** A newer statement of the same. */
export interface Newer {
  readonly statement: Statement;
  /** The message that says it, and its place among all that was said. */
  readonly seq: number;
  readonly place: number;
  /** Whether a user says it of the file by its name: then it counts whichever is the newer. */
  readonly isNamed: boolean;
  /** The terms that both have. */
  readonly terms: readonly Term[];
  readonly weight: number;
  /** How surely it says a new value. */
  readonly certainty: number;
}

/** A statement as it was said in a message. */
interface Said {
  readonly statement: Statement;
  readonly seq: number;
  readonly place: number;
  /** What its terms tell together that others have too, as far as they are no key. */
  readonly whole: number;
  /** The numbers among its terms. */
  readonly numbers: number;
  /** What it has in common with the statement that was looked for last. */
  shared: Shared | undefined;
}

interface Term {
  /** How much it tells beside others, see {@link enough}. */
  readonly units: number;
  readonly isNumber: boolean;
  readonly isName: boolean;
  /** Whether anything was stated with it. */
  isStated: boolean;
  /** In how many statements it stands that may say something newer. */
  count: number;
  /** What was said with it, what it told then, and whether it was rare. */
  readonly said: { readonly said: Said; readonly tells: number; readonly isRare: boolean }[];
}

/** All that was stated in a log. */
export class Statements {
  readonly #terms = new Map<string, Term>();
  readonly #known = new Map<string, Statement>();
  readonly #namesOfFiles = new Map<string, ReadonlySet<Term>>();
  /** Statements that may say something newer. */
  #news = 0;
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
      const isFirst = spellings.some((one) => isTelling(one) && this.#terms.get(one)?.isStated !== true);
      const isChange = (looks & corrects) !== 0 || (looks & (asserts | changes)) === (asserts | changes);
      const isNews = source !== 2 || isFirst || isChange;
      const terms = this.#termsOf(spellings);
      for (const term of terms) {
        term.isStated = true;
        if (isNews) term.count++;
      }
      if (isNews) this.#news++;
      const names = this.#namesOf(file);
      const looked = since < seq || [...names].some(({ said }) => said.length > 0) ? 0 : place;
      const told = this.#sum(terms, 0);
      statement = { text, looks, terms, source, file, names, since, place, isNews, told, looked, newer: [] };
      this.#known.set(key, statement);
    }
    if (statement.isNews) this.#say(statement, seq, place);
    return statement;
  }

  #say(statement: Statement, seq: number, place: number): void {
    const { terms } = statement;
    const numbers = [...terms].filter(({ isNumber }) => isNumber).length;
    const said: Said = { statement, seq, place, whole: this.#sum(terms, 2), numbers, shared: undefined };
    for (const term of terms) {
      if (this.#isCommon(term)) continue;
      const isRare = term.isName || term.units === enough || term.count <= Math.max(rareCount, rareShare * this.#news);
      term.said.push({ said, tells: tellsOf(term, term.count, this.#news), isRare });
    }
  }

  /**
   * A text that is no part of what was said.
   *
   * @param since - the message it stands in. Default: it stands before all messages
   */
  standing(text: string, spellings: Iterable<string>, since = 0): Statement {
    const terms = this.#termsOf(spellings);
    // Nothing was said before it: its terms tell the most.
    const told = [...terms].reduce((sum, term) => (term.units === enough ? sum : sum + tellsOf(term, 0, 0)), 0);
    const place = { source: 0, since, place: 0, looked: 0 } as const;
    return { ...place, text, terms, told, looks: 0, names: new Set(), isNews: false, newer: [] };
  }

  /** The newest statements of what one speaks of, which it never stands without. */
  newerOf(statement: Statement): readonly Newer[] {
    const { looked, newer } = statement;
    if (looked < this.#place) {
      const fresh = linksTo(statement, looked);
      const older = newer.filter(
        (one) => !fresh.some((other) => other.statement === one.statement || covers(other, one)),
      );
      statement.newer = fresh.length === 0 ? newer : [...fresh, ...older];
      statement.looked = this.#place;
    }
    if (statement.newer.length <= mostNewer) return statement.newer;
    return statement.newer
      .toSorted((left, right) => right.certainty - left.certainty || right.weight - left.weight)
      .slice(0, mostNewer);
  }

  /** What terms tell together that stand in so many statements at least and are no keys, whose words are known already. */
  #sum(terms: ReadonlySet<Term>, least: number): number {
    let sum = 0;
    for (const term of terms)
      if (term.units !== enough && term.count >= least && !this.#isCommon(term))
        sum += tellsOf(term, term.count, this.#news);
    return sum;
  }

  #isCommon({ count }: Term): boolean {
    return count > Math.max(commonCount, commonShare * this.#news);
  }

  #namesOf(file = ""): ReadonlySet<Term> {
    let names = this.#namesOfFiles.get(file);
    if (!names) this.#namesOfFiles.set(file, (names = this.#termsOf(namesOf(file))));
    return names;
  }

  #termsOf(spellings: Iterable<string>): ReadonlySet<Term> {
    const terms = [...spellings].map((spelling) => {
      let term = this.#terms.get(spelling);
      if (term) return term;
      const facts = { units: unitsOf(spelling), isNumber: isNumeral(spelling), isName: isNamed(spelling) };
      term = { ...facts, isStated: false, count: 0, said: [] };
      this.#terms.set(detached(spelling), term);
      return term;
    });
    return new Set(terms);
  }
}

/** What a term tells of a statement's subject: the more, the fewer of all have it; a number nothing. */
function tellsOf({ isNumber, units }: Term, count: number, all: number): number {
  const size = Math.max(leastStatements, all);
  return isNumber ? 0 : Math.max(0, 1 - Math.log(Math.max(2, count)) / Math.log(size)) ** 2 * units;
}

/** What a statement has in common with the one that was looked for last. */
interface Shared {
  /** The look that found it. */
  look: number;
  units: number;
  weight: number;
  repeated: number;
  isRare: boolean;
  /** What the names of the other's file tell that it has. */
  named: number;
}

/** The looks for newer statements so far. */
let looks = 0;

/** What was said after a place of what a statement speaks of, newest first; of those that say as much, as surely, the newest. */
function linksTo(statement: Statement, after: number): readonly Newer[] {
  const newer: Newer[] = [];
  const links = saidWith(statement, after).flatMap((said) => linkTo(statement, said) ?? []);
  for (const link of links.sort((one, other) => other.place - one.place))
    if (!newer.some((other) => other.statement === link.statement || covers(other, link))) newer.push(link);
  return newer;
}

/** The link from a statement to one that it has terms in common with; undefined where that says nothing newer of the same. */
function linkTo(statement: Statement, said: Said): Newer | undefined {
  const { units, weight, repeated, isRare, named } = said.shared!;
  const isNamed = named > 0;
  // What says the number of another with one more revises it, whatever its words.
  const look = said.statement.looks | (repeated > 0 && said.numbers > repeated ? corrects | changes : 0);
  if (units < ((look & corrects) === 0 ? enough : enough / 2)) return undefined;
  // A value alone is a newer one of the same only if the rest of the lines is much the same.
  const share = !isRare ? allShare : (look & changes) === 0 ? sameShare : leastShare;
  if (weight < share * Math.min(statement.told + named, said.whole)) return undefined;
  if (!isNamed && !isLater(said, statement)) return undefined;
  const terms = [...statement.terms].filter((term) => said.statement.terms.has(term));
  if (terms.length === 0) return undefined;
  const certainty = look & (asserts | changes | corrects);
  return { statement: said.statement, seq: said.seq, place: said.place, isNamed, terms, weight, certainty };
}

/** What was said after a place with any term of a statement or a name of its file. */
function saidWith({ terms, names }: Statement, after: number): readonly Said[] {
  const found: Said[] = [];
  const look = ++looks;
  const note = ({ units, isNumber, said }: Term, isOfFile: boolean): void => {
    for (let at = said.length - 1; at >= 0 && said[at]!.said.place > after; at--) {
      const { said: one, tells, isRare } = said[at]!;
      if (isOfFile && one.statement.source !== 0) continue;
      let { shared } = one;
      if (shared?.look !== look) {
        one.shared = shared = { look, units: 0, weight: 0, repeated: 0, isRare: false, named: 0 };
        found.push(one);
      }
      if (isOfFile) shared.named += tells;
      shared.units += units;
      shared.weight += tells;
      shared.isRare ||= isRare;
      if (isNumber) shared.repeated++;
    }
  };
  for (const term of terms) note(term, false);
  for (const name of names) note(name, true);
  return found;
}

/** The names of a file: its path, every end of that, and its last part without the ending. */
function namesOf(path: string): readonly string[] {
  const parts = path.toLowerCase().split("/");
  const ends = parts.map((_, index) => parts.slice(index).join("/"));
  return [...new Set([...ends, (parts.at(-1) ?? "").replace(/\.\w+$/, "")])].filter((name) => name !== "");
}

/** Whether a term is a number, or a name with a digit: a new one makes what the agent says news. */
function isTelling(spelling: string): boolean {
  return !spelling.endsWith(":") && (isNumeral(spelling) || (isNamed(spelling) && /\d/.test(spelling)));
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
  const [first] = terms;
  return first?.units === enough ? first : undefined;
}

/** Whether a newer statement says as much of the same as another of its source that is older. */
function covers(newer: Newer, older: Newer): boolean {
  return (
    newer.statement.source === older.statement.source &&
    older.terms.every((term) => newer.statement.terms.has(term)) &&
    (newer.certainty & older.certainty) === older.certainty
  );
}
