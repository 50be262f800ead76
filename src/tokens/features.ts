/**
 * The features of a text that `estimate` counts: runs of characters of one class, cut where the pre-tokenizers of
 * current models cut (o200k: words at a change of case, digits in threes, one leading space or sign with its word). No
 * vocabulary.
 */
import {
  accentedLower,
  accentedUpper,
  box,
  classes,
  control,
  digit,
  firstScript,
  newline,
  openVowel,
  rareConsonant,
  scripts,
  sign,
  space,
  surrogate,
  symbol,
  tab,
  upper,
  vowel,
  wideSign,
} from "./classes.ts";

const forms = ["lower", "title", "upper", "mixed"] as const;

const wordColumns = [
  "after no sign",
  "after a space",
  "after a sign",
  "after a digit",
  "beyond 4",
  "beyond 8",
  "beyond 12",
];
const scriptColumns = ["letters", "words", "letters beyond 6"];

/**
 * The features {@link measure} counts, row by row, in the order of their indexes. What a row counts is in its name, what a
 * column counts in its own.
 */
export const featureRows: readonly (readonly [row: string, columns: readonly string[]])[] = [
  ...forms.map((form) => [`${form} words`, wordColumns] as const),
  [
    "letters",
    ["consonants too many for the vowels", "rare consonants", "accented", "long words on a, i, o, u", "repeated, by 8"],
  ],
  ["digits", ["in threes", "runs after a space"]],
  ["spaces", ["indents and gaps", "indents and gaps, by 64"]],
  ["tabs", ["runs", "by 16"]],
  ["line ends", ["runs", "runs after a sign", "by 16"]],
  [
    "signs",
    ["runs of 1", "runs of 2", "runs of 3", "runs of 4", "runs of 5 and more", "beyond 5", "bars", "bars, by 16"],
  ],
  ["quoted quotation marks", ["runs of 1", "runs of 2", "runs of 3", "runs of 4", "runs of 5 and more", "beyond 5"]],
  ["symbols", ["all", "runs", "bars", "bars, by 16"]],
  ["box drawings", ["all", "runs"]],
  ["control characters", ["all", "runs"]],
  ["wide signs", ["all", "runs"]],
  ["surrogates", ["all", "runs"]],
  ...scripts.map((script) => [script, scriptColumns] as const),
];

const offsets = new Map<string, number>();
let reserved = 0;
for (const [row, columns] of featureRows) {
  offsets.set(row, reserved);
  reserved += columns.length;
}

function offsetOf(row: string): number {
  return offsets.get(row) ?? 0;
}

/** How many features there are: the length of the array {@link measure} fills. */
export const featureCount: number = reserved;

const wordAt = offsetOf("lower words");
const wordStride = wordColumns.length;
const letterAt = offsetOf("letters");
const digitAt = offsetOf("digits");
const spaceAt = offsetOf("spaces");
const tabAt = offsetOf("tabs");
const newlineAt = offsetOf("line ends");
const signAt = offsetOf("signs");
const escapeAt = offsetOf("quoted quotation marks");
const symbolAt = offsetOf("symbols");
const boxAt = offsetOf("box drawings");
const controlAt = offsetOf("control characters");
const wideAt = offsetOf("wide signs");
const surrogateAt = offsetOf("surrogates");
const scriptAt = offsetOf("cyrillic");

/** Columns of a word by what stands before it. */
const afterNothing = 0;
const afterSpace = 1;
const afterSign = 2;
const afterDigit = 3;

/** Signs behind a quoted quotation mark are mostly JSON within JSON, and cheap. */
const backslash = 92;
const quote = 34;

/** A run of letters is cut here, so that the three counts in `traits` cannot run into each other. */
const longestPiece = 1_000;

/** The letter's share in its word: bits 0-9 rare consonants, 10-19 vowels, 20-29 accented letters. */
const traitOf = new Int32Array(firstScript);
traitOf[rareConsonant] = 1;
traitOf[openVowel] = 1 << 10;
traitOf[vowel] = 1 << 10;
traitOf[accentedLower] = 1 << 20;

/**
 * Counts the features of a text into `into`, in one pass over its UTF-16 code units; linear, whatever the text holds.
 *
 * @param into - zeros, {@link featureCount} long; counts are added
 * @returns where they end: behind it nothing was added
 */
export function measure(text: string, into: Float64Array): number {
  const length = text.length;
  let at = 0;
  let kind = length > 0 ? classes[text.charCodeAt(0)]! : symbol;
  let before = newline;
  let prefix = afterNothing;
  let end = scriptAt;
  while (at < length) {
    const start = at;
    const first = kind;
    if (first >= upper && first < firstScript) {
      const stop = Math.min(length, at + longestPiece);
      while (kind >= upper && kind <= accentedUpper) kind = ++at < stop ? classes[text.charCodeAt(at)]! : symbol;
      const capitals = at - start;
      let traits = 0;
      let last = symbol;
      while (kind >= openVowel && kind < firstScript) {
        last = kind;
        traits += traitOf[kind]!;
        kind = ++at < stop ? classes[text.charCodeAt(at)]! : symbol;
      }
      if (at === stop && at < length) kind = classes[text.charCodeAt(at)]!;
      countWord(text, start, at, capitals, traits, last === openVowel, prefix, into);
      prefix = afterNothing;
    } else if (first === space) {
      do kind = ++at < length ? classes[text.charCodeAt(at)]! : symbol;
      while (kind === space);
      const size = at - start;
      if (size > 1 && kind !== newline) {
        into[spaceAt]!++;
        into[spaceAt + 1]! += size >> 6;
      }
      prefix = afterSpace;
    } else {
      const code = text.charCodeAt(at);
      let same = true;
      do {
        const next = ++at < length ? text.charCodeAt(at) : 10;
        kind = classes[next]!;
        if (next !== code && kind === first) same = false;
      } while (kind === first && at < length);
      const size = at - start;
      prefix = afterNothing;
      if (first >= firstScript) end = featureCount;
      if (first === digit) {
        into[digitAt]! += Math.floor((size + 2) / 3);
        if (before === space) into[digitAt + 1]!++;
        prefix = afterDigit;
      } else if (first === sign && size === 1 && before !== space && kind >= upper) {
        prefix = afterSign;
      } else {
        const quoted = code === backslash && text.charCodeAt(start + 1) === quote;
        countRun(first, quoted ? escapeAt : signAt, size, same, before, into);
      }
    }
    before = first;
  }
  return end;
}

function countWord(
  text: string,
  start: number,
  end: number,
  capitals: number,
  traits: number,
  onOpenVowel: boolean,
  prefix: number,
  into: Float64Array,
): void {
  const size = end - start;
  if (size > 12 && isRepeat(text, start, end)) {
    into[letterAt + 4]! += text.charCodeAt(start) < 128 ? size >> 3 : size;
    return;
  }
  const form = capitals === 0 ? 0 : capitals === size ? 2 : capitals === 1 ? 1 : 3;
  const row = wordAt + form * wordStride;
  into[row + prefix]!++;
  if (size > 4) {
    into[row + 4]! += size - 4;
    if (size > 8) into[row + 5]! += size - 8;
    if (size > 12) into[row + 6]! += size - 12;
    if (onOpenVowel) into[letterAt + 3]!++;
  }
  if (capitals < size) {
    const vowels = ((traits >> 10) & 1023) + (traits >> 20);
    const excess = size - capitals - 3 * vowels - 1;
    if (excess > 0) into[letterAt]! += excess;
    into[letterAt + 1]! += traits & 1023;
    into[letterAt + 2]! += traits >> 20;
  }
}

function countRun(
  kind: number,
  signRow: number,
  size: number,
  same: boolean,
  before: number,
  into: Float64Array,
): void {
  switch (kind) {
    case tab:
      into[tabAt]!++;
      into[tabAt + 1]! += size >> 4;
      break;
    case newline:
      into[newlineAt + (before === sign ? 1 : 0)]!++;
      into[newlineAt + 2]! += size >> 4;
      break;
    case sign:
      if (same && size > 3) {
        into[signAt + 6]!++;
        into[signAt + 7]! += size >> 4;
      } else {
        into[signRow + Math.min(size, 5) - 1]!++;
        if (size > 5) into[signRow + 5]! += size - 5;
      }
      break;
    case symbol:
    case box:
      if (same && size > 3) {
        into[symbolAt + 2]!++;
        into[symbolAt + 3]! += size >> 4;
      } else {
        const row = kind === box ? boxAt : symbolAt;
        into[row]! += size;
        into[row + 1]!++;
      }
      break;
    case control:
      into[controlAt]! += size;
      into[controlAt + 1]!++;
      break;
    case wideSign:
      into[wideAt]! += size;
      into[wideAt + 1]!++;
      break;
    case surrogate:
      into[surrogateAt]! += size;
      into[surrogateAt + 1]!++;
      break;
    default: {
      const row = scriptAt + (kind - firstScript) * scriptColumns.length;
      into[row]! += size;
      into[row + 1]!++;
      if (size > 6) into[row + 2]! += size - 6;
    }
  }
}

function isRepeat(text: string, start: number, end: number): boolean {
  const code = text.charCodeAt(start);
  for (let at = start + 1; at < end; at++) if (text.charCodeAt(at) !== code) return false;
  return true;
}
