/** Terms: the units by which texts are compared, the words of a recall query, and how a text has them. */

/** English words that say nothing about a subject. Other languages need no list: words in every text weigh nothing. */
const functionWords = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have he her hers him his how i if in is " +
    "it its me my no not of on or our she so than that the their them then there these they this those to was we were " +
    "what when where which who whom whose why will with would you your s t d ll m re ve"
  ).split(" "),
);

/** A stretch of Japanese or Chinese, or a word of any other script. */
const stretches =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+|[\p{L}\p{N}]+?(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^\p{L}\p{N}]|$)/gu;
const pairwise = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** The terms of a text, in order, repeated as often as they stand there. */
export function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  for (const [stretch] of text.normalize("NFKC").matchAll(stretches)) {
    if (pairwise.test(stretch)) addPairs(terms, stretch);
    else addWord(terms, stretch);
  }
  return terms;
}

function addPairs(terms: string[], stretch: string): void {
  const points = [...stretch];
  if (points.length === 1) terms.push(stretch);
  for (let index = 0; index + 2 <= points.length; index++) terms.push(`${points[index]}${points[index + 1]}`);
}

/** A word, and what a name like `composeWindow` is put together from. */
function addWord(terms: string[], word: string): void {
  const pieces = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu) ?? [];
  for (const piece of pieces.length > 1 ? [word, ...pieces] : [word]) {
    const lower = piece.toLowerCase();
    if (!functionWords.has(lower)) terms.push(stem(lower));
  }
}

/** Whether an English word says nothing about a subject. */
export function isFunctionWord(word: string): boolean {
  return functionWords.has(word);
}

/** An English word without its endings, alike for `running`, `runs` and `run`. Other words pass through or lose an `s`. */
export function stem(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  let stemmed = word;
  if (stemmed.length > 4 && stemmed.endsWith("ies")) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (/[^sui]s$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 5 && stemmed.endsWith("ing")) stemmed = stemmed.slice(0, -3);
  else if (stemmed.length > 4 && stemmed.endsWith("ed")) stemmed = stemmed.slice(0, -2);
  if (stemmed.length > 3 && /([b-df-km-rtv-z])\1$/.test(stemmed)) stemmed = stemmed.slice(0, -1);
  return stemmed.length > 3 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

/** One word of a query. */
export interface RecallTerm {
  /** The beginning that is looked for: the word without an English ending. */
  readonly stem: string;
  /** Its weight, before its rarity counts. */
  readonly weight: number;
  /** Whether it stands for one thing: an id, a path, a compound name. A number may be a value that has changed. */
  readonly isName: boolean;
  /** Finds it as a word of its own. */
  readonly whole: RegExp;
}

/** A recall query and its words. */
export interface RecallWords {
  /** The whole of it, lower case. */
  readonly phrase: string;
  /** Its words, each once; text without spaces (Japanese, Chinese) as its pairs of characters. */
  readonly terms: readonly RecallTerm[];
}

/** The most words of a query that are searched for. */
const mostTerms = 256;

/** The weights beside other words: of one such as `the`; of an id, a path or a number, which stand for one thing. */
const functionWordWeight = 0.1;
const identifierWeight = 2;
const name = /[a-z][-_./@#][a-z\d]|\d[-_/@#][a-z]|^(?=.*[a-z])(?=.*\d)\w{5,}$/;
const identifier = /\d|[\p{L}\p{N}][-_./@][\p{L}\p{N}]/u;

/** The words of a query; undefined where it says nothing. Signs without a letter are looked for as they stand. */
export function wordsOf(query: string | undefined): RecallWords | undefined {
  const phrase = query?.trim().toLowerCase() ?? "";
  if (phrase === "") return undefined;
  const words = literalWords(phrase);
  if (words.length === 0) words.push(phrase);
  const says = words.some((word) => !isFunctionWord(word));
  return { phrase, terms: words.map((word) => termOf(word, says)) };
}

/** The words of a query as they stand in texts: paths and names stay whole. */
function literalWords(phrase: string): string[] {
  const words = new Set<string>();
  for (const [match] of phrase.matchAll(/[\p{L}\p{N}_./@-]+/gu)) {
    const word = match.replace(/[./-]+$/, "") || match;
    if (words.size >= mostTerms) break;
    if (pairwise.test(word) && word.length > 2) {
      for (let index = 0; index + 2 <= word.length; index++) words.add(word.slice(index, index + 2));
    } else words.add(word);
  }
  return [...words].slice(0, mostTerms);
}

function termOf(word: string, says: boolean): RecallTerm {
  const cut = /^[a-z]{4,}$/.test(word) ? stem(word) : word;
  const kind = identifier.test(word) ? identifierWeight : says && isFunctionWord(word) ? functionWordWeight : 1;
  const weight = kind * (4 + Math.min(12, word.length) / 3);
  const start = word.startsWith(cut) ? cut : word;
  return { stem: start, weight, isName: name.test(word), whole: wholeWord(word, start, pairwise.test(word)) };
}

/** How a text has a word: not at all, as a part of another word, or as a word of its own. */
export type Level = 0 | 1 | 2;

/** How a text has the words of a query. */
export class Matcher {
  readonly words: RecallWords;
  /** By word, of the text that was looked at last. */
  readonly levels: Uint8Array;
  /** Whether that text has the whole query, of more than one word. */
  exact = false;
  readonly #isPhrase: boolean;

  constructor(words: RecallWords) {
    this.words = words;
    this.levels = new Uint8Array(words.terms.length);
    this.#isPhrase = words.terms.length > 1;
  }

  /** Looks for the words in a text, given in lower case; whether it has any. */
  look(lower: string): boolean {
    const { terms, phrase } = this.words;
    let any = false;
    let all = this.#isPhrase;
    for (let index = 0; index < terms.length; index++) {
      const level = levelOf(lower, terms[index]!);
      this.levels[index] = level;
      any ||= level > 0;
      all &&= level === 2;
    }
    this.exact = all && lower.includes(phrase);
    return any;
  }
}

function levelOf(lower: string, { stem: start, whole }: RecallTerm): Level {
  if (!lower.includes(start)) return 0;
  return whole.test(lower) ? 2 : 1;
}

/** A word that stands by itself, or with another English ending; of a script without spaces, wherever it stands. */
function wholeWord(word: string, start: string, isPair: boolean): RegExp {
  if (isPair) return new RegExp(literal(word), "u");
  const sign = String.raw`[\p{L}\p{N}_]`;
  const before = new RegExp(`^${sign}`, "u").test(start) ? `(?<!${sign})` : "";
  const endings = /^[a-z]{3,}$/.test(start) ? "(?:e?[sd]|ing|e|ies)?" : "";
  const after = (text: string): string => (new RegExp(`${sign}$`, "u").test(text) ? `(?!${sign})` : "");
  return new RegExp(`${before}(?:${literal(start)}${endings}${after(start)}|${literal(word)}${after(word)})`, "u");
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** Counts in how many lines the words of a query stand, and weighs them by it: a rare word tells more. */
export class Rarity {
  /** Lines that were looked at. */
  lines = 0;
  readonly #terms: readonly RecallTerm[];
  /** By word: lines that have it, also as a part of another word; lines that have it as a word of its own. */
  readonly #anywhere: Float64Array;
  readonly #whole: Float64Array;

  constructor({ terms }: RecallWords) {
    this.#terms = terms;
    this.#anywhere = new Float64Array(terms.length);
    this.#whole = new Float64Array(terms.length);
  }

  /** Counts a line with these levels. */
  count(levels: Uint8Array): void {
    this.lines++;
    for (let index = 0; index < levels.length; index++) {
      const level = levels[index];
      if (level === 0) continue;
      this.#anywhere[index]!++;
      if (level === 2) this.#whole[index]!++;
    }
  }

  /** The weight of a word that a text has at this level. */
  weigh(index: number, level: number): number {
    const term = this.#terms[index];
    if (level === 0 || !term) return 0;
    const seen = level === 2 ? this.#whole[index]! : this.#anywhere[index]!;
    const weight = term.weight * Math.log(1 + (this.lines + 1) / (seen + 0.5));
    return level === 2 ? weight : 0.4 * weight;
  }

  /** The names of the query that stand in any line. */
  names(): readonly number[] {
    return this.#terms.flatMap(({ isName }, index) => (isName && this.#whole[index]! > 0 ? [index] : []));
  }

  /** Whether any line has the word. */
  has(index: number): boolean {
    return (this.#anywhere[index] ?? 0) > 0;
  }

  /** The weight of the heaviest word that any line has. */
  heaviest(): number {
    return Math.max(0, ...this.#terms.map((_, index) => (this.has(index) ? this.weigh(index, 2) : 0)));
  }
}
