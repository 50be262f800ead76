/** Sayings of lines: the terms by which two lines are known to speak of the same, and whether a line states or corrects. */
import type { LineKind } from "./line-kind.ts";

/** The look of a line that states something: a sentence, or a value behind a name. Other lines correct nothing. */
export const states = 1;
/** The look of a line that says a value. */
export const asserts = 2;
/** The look of a line that says in so many words that an earlier one is wrong. */
export const corrects = 8;

/** The look of a line that says that something changed. */
export const changes = 4;
/** The look of a line that begins with a moment: a log's, which says what held then. */
export const isDated = 16;

/** How much a term that two lines have in common tells: a key all, a word half, two characters of a run a quarter. */
export const enough = 4;

/** Most characters of a line that are read. */
const longestRead = 400;

const value = /(?<![\p{Script=Latin}\p{N}_./:-])\d[\d.,]*(?::\d\d){0,2}(?![\p{Script=Latin}\p{N}_:/-])/u;
// Without the flag `u` these two take a sixth of the time, and mean the same.
const correction =
  /\b(?:correct(?:ion|ed|ing)?|corrigend\w+|errat\w+|instead|rather than|no longer|not any ?more|isn't|aren't|(?:is|are|was|were) not|not \S+(?: \S+){0,3}[;,] (?:but|it|they)|was wrong|were wrong|mistak\w+|superse\w+|replac(?:es?|ed|ing)|retract\w*|rectif\w+|withdrawn|scratch that|misspoke|actually,? no|i meant|ignore (?:that|this|my|the|what)|void|overrid\w+|amend\w*|revis(?:ed|ion)|moved to|renamed to|changed? (?:to|from)|disregard|obsolete|deprecated|korrektur|berichtig\w+|statt)\b|исправлен|вместо|больше не|정정|訂正|ではなく|修正|変更|更正|改为|改為|改成|而是|不再|撤回|取消|取り消/i;
const change =
  /\b(?:now|new|newly|update[ds]?|change[ds]?|as of|effective|actually|from then on|becomes?|became|took over|takes over|succeed(?:s|ed)|switched|moved|renamed|raised|lowered|increased|reduced|extended|postponed|set to|back to|should be|went (?:up|down)|again|anew)\b|新しい|変わ|現在|现在|目前/i;

/** Words that stand in sentences of every subject. */
const common = new Set(
  (
    "the and for are was were has have had not but with from this that these those they them their there then than its it's " +
    "you your our his her she him who whom whose which what when where why how all any each every some such can could may " +
    "might must shall should will would did does done been being into onto upon over under about after before between both " +
    "either neither nor yet also only just very more most much many few less least other another same own too now new instead " +
    "rather longer because since until while if else per via let please use used using set see say says said is am be by do " +
    "so as at an of on or to up we us me my in no it out off here"
  ).split(" "),
);

const word =
  /[\p{L}\p{N}_$@/](?:(?:[\p{L}\p{N}_$.@/'-]|(?<=\d)(?:,(?=\d{3}(?!\d))|:(?=\d\d(?!\d))))*[\p{L}\p{N}_$@/])?/gu;
const spaced = /[\p{Script=Latin}\p{N}_$@/](?:[\p{Script=Latin}\p{N}_$.@/'-]*[\p{Script=Latin}\p{N}_$@/])?/gu;
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const runs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{2,}/gu;
/** Characters of a number that may be what a correction repeats. */
const longNumeral = 3;
const numeral = /^[\d.,:/_-]+$/;

/** Whether a file is a document or a configuration, and no code. */
export function isDocument(path: string): boolean {
  return /\.(?:md|mdx|txt|rst|adoc|org|tex|html?|ya?ml|json[5lc]?|toml|ini|cfg|conf|env|properties|csv|tsv|xml|log|eml)$|(?:^|\/)[^./]+$/i.test(
    path,
  );
}

/** Whether a text says in so many words that an earlier one is wrong. */
export function isCorrection(text: string): boolean {
  return correction.test(text);
}

/** A line's terms and looks. */
export interface Saying {
  readonly terms: readonly string[];
  readonly looks: number;
}

/**
 * The saying of a line.
 *
 * @param isCode - whether it is from a file of code: there only comments and constants state something
 */
export function sayingOf(text: string, kind: LineKind, isCode: boolean): Saying {
  const inComment = isCode ? comment.exec(text.slice(0, longestRead))?.[1] : undefined;
  const isBare = isCode && inComment === undefined;
  const said = inComment ?? text;
  const lead = isBare ? "" : leads.exec(said.slice(0, longestRead))![0];
  const read = said.slice(lead.length, lead.length + longestRead);
  const isSpoken = kind === "user" || kind === "said" || kind === "answered";
  const key = isBare ? constant.exec(read)?.[1]?.toLowerCase() : keyOf(read);
  const isStated =
    inComment === undefined ? isProse(read) && (!isBare || sentenceEnd.test(read)) : twoWords.test(inComment);
  if (!isSpoken && key === undefined && !isStated) return silent;
  const terms = [...(key === undefined ? [] : [`${key}:`]), ...termsOf(read)];
  const isCorrecting = isCorrection(read);
  const isChange = isCorrecting || change.test(read);
  const looks =
    states +
    (isCorrecting ? corrects : 0) +
    (dated.test(lead) ? isDated : 0) +
    (isChange ? changes : 0) +
    (key !== undefined || value.test(read) ? asserts : 0);
  return { terms, looks };
}

const silent: Saying = { terms: [], looks: 0 };

/** The units of a term, see {@link enough}. */
export function unitsOf(term: string): number {
  if (term.endsWith(":")) return enough;
  return unspaced.test(term) || numeral.test(term) ? 1 : 2;
}

/** Whether a term is a number: two lines may have it in common by chance. */
export function isNumeral(term: string): boolean {
  return numeral.test(term);
}

/** Whether a term looks like a name: it may stand in many lines, and still tells of what they speak. */
export function isNamed(term: string): boolean {
  return /[_\d/$@]|[\p{L}\p{N}][.-][\p{L}\p{N}]/u.test(term);
}

/** Words in small letters without the ending of a plural, the parts of names, and every two characters of other scripts. */
export function termsOf(given: string): Set<string> {
  const text = given.normalize();
  const terms = new Set<string>();
  let before = "";
  const words = [...text.matchAll(word)].flatMap(([found]) => {
    return unspaced.test(found) ? [...found.matchAll(spaced)].map(([inner]) => inner) : [found];
  });
  for (const found of words) {
    if (numeral.test(found)) {
      // A number behind a word may be a name: clause 1.4.
      if (before !== "") terms.add(`${before} ${found}`);
      if (found.length >= longNumeral) terms.add(found);
      before = "";
      continue;
    }
    before = "";
    before = plain(found);
    if (before === "") continue;
    terms.add(before);
    if (found.includes("/")) continue;
    const parts = found.split(/[_.@$-]+|(?<=\p{Ll})(?=\p{Lu})/u);
    for (const part of parts.length > 1 ? parts : []) {
      const term = plain(part);
      if (term !== "" && !numeral.test(term)) terms.add(term);
    }
  }
  for (const [run] of text.matchAll(runs)) {
    const points = [...run];
    for (let at = 0; at + 1 < points.length; at++) terms.add(`${points[at]}${points[at + 1]}`);
  }
  return terms;
}

/** A word as it is compared; empty for one that tells nothing. */
function plain(found: string): string {
  const small = found.toLowerCase().replace(/'s$/, "");
  if (common.has(small)) return "";
  if (small.length < 3) return /\p{Lu}|\p{L}\p{N}/u.test(found) ? small : "";
  return /^\p{L}{3,}[^\P{L}s]s$/u.test(small) ? small.slice(0, -1) : small;
}

/** The signs before what a line says: its place in a file, a mark of a list or a change, and the moment and level of a log's. */
const leads =
  /^\s*(?:[^\s:]*[./][^\s:]*[:-]\d+[:-]\s*|\d+(?:→|\t|\| |: ))?(?:[-+*•]\s*)*(?:\[?(?:\d{4}-\d\d-\d\d[T ]?|(?:[A-Z][a-z]{2} {1,2}\d{1,2} )?\d\d:\d\d)[\d:.,+Z]*\]?\s*)*(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL)\]?:?\s+)?/;
const dated = /\d\d[:-]\d\d[^\d]/;
const keyed =
  /^(?:export |set |--)?["'`*#>]*([\p{L}\p{N}_./][\p{L}\p{N}_./[\] -]{0,59})["'`*]*(?: \([^()]*\))?\s*(?:(?<!\d):(?!\/\/)|:(?=\s)|[=：＝]|=>|->)\s*(?:\S.{0,60}|\S{1,200})$/iu;
const constant =
  /^\s*(?:export |const |final |static |public |let |var )*([A-Z][A-Z0-9_]{2,})\b[^=:]{0,20}[=:]\s*\S.{0,60}$/;
const comment = /^\s*(?:\/\/+|#+|\*+|\/\*+|--|;+|"""|<!--)\s*(.+)$/u;
/** Two words, or two signs of a script without spaces. */
const twoWords = /\p{L}\S*\s+\p{L}.*\p{L}|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2}/u;
/** The end of a line of a docstring: code hardly ends so. */
const sentenceEnd = /[\p{L}\p{N})"'`][.。]$/u;
const moment = /^\d{1,4}[-/:.]\d{1,2}(?:[-/:.]\d{1,4})?|^\d{1,2}$/;
const longestCell = 60;

/** The name before a value: of a setting, of a table's row, or of a record's. */
function keyOf(text: string): string | undefined {
  const line = unmarked(text);
  const key = keyed.exec(line)?.[1];
  if (key !== undefined) return /\p{L}/u.test(key) ? normal(key) : undefined;
  const cells = cellsOf(line);
  const first = cells.find((cell) => cell !== "" && !moment.test(cell));
  return first === undefined || first === cells.at(-1) ? undefined : normal(first);
}

/** The first member of a record that says which thing it is of; any other says a value. */
const identity = /^(?:\w*id|name|key|sku|code|ref|no|number|title|path|file|url|host|user|service|date|time\w*|ts) /i;

/** A line without the signs of HTML and JSON: a row of cells, `name: value`, or `name value, name value`. */
function unmarked(text: string): string {
  const line = text
    .trim()
    .replaceAll(/\s*<\/?(?:tr|td|th)\b[^>]*>\s*/gi, "\t")
    .replaceAll(/<\/?(?:li|p|b|strong|code|span|div|dt|dd)\b[^>]*>/gi, "")
    .trim();
  if (!/^[{["]/.test(line)) return line;
  const bare = line.replaceAll(/^[\s{[]+|[\s}\],]+$/g, "");
  if (!/,\s*"[^"]*":/.test(bare)) return bare;
  const cells = bare
    .replaceAll(/"\s*:\s*/g, " ")
    .replaceAll('"', "")
    .replaceAll(/,(?=\S)/g, ", ");
  return identity.test(cells) ? cells : cells.replace(" ", ": ");
}

function normal(key: string): string {
  return key
    .trim()
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "_")
    .replace(/^_/, "");
}

/** The signs between the cells of a row, the surest first. */
const signs = [/[|\t]/, / {2,}/, /;(?=\S)/, /,(?=\S)/, /, /] as const;

/** The cells of a table's row; none for a sentence. */
function cellsOf(line: string): readonly string[] {
  const sign = signs.find((one) => one.test(line));
  if (sign === undefined || (sign === signs[4] && !isRecord(line)) || (sign === signs[3] && line.includes(", ")))
    return [];
  const cells = line.split(sign).map((cell) => cell.trim().replaceAll(/^["'`]+|["'`]+$/g, ""));
  return cells.some(({ length }) => length > longestCell) ? [] : cells;
}

/** Whether a line is a record: `id 7, name Kirra, limit 40`, or `Kirra, 40, kept`. */
function isRecord(line: string): boolean {
  return (
    /^[\w.-]+ \S[^,]*(?:, [\w.-]+ \S[^,]*)+$|^[^\s,]+(?: [^\s,]+)?(?:, [^\s,]+(?: [^\s,]+)?){2,}$/.test(line) &&
    !/[.!?]$/.test(line)
  );
}

/** Three words with a verb: `Limit is 140.` */
const sentenceOfThree = /^\S+ (?:is|are|was|were) \S+$/;

/** Whether most of a line is words. */
function isProse(text: string): boolean {
  if (unspaced.test(text)) return true;
  const words = text.trim().split(/\s+/);
  if (words.length < 4) return sentenceOfThree.test(text);
  const plainWords = words.filter((one) => /^["'(*_`]*\p{L}[\p{L}'-]*["')*_`]*[.,;:!?]*$/u.test(one));
  return plainWords.length >= 0.55 * words.length;
}
