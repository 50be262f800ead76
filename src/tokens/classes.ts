/** Classes of characters, by UTF-16 code unit; features.ts counts their runs. */
import data from "./classes.json" with { type: "json" };

/** Signs outside ASCII, marks of format, private use. */
export const symbol = 0;
/** The class of the space. */
export const space = 1;
/** The class of the tabulator. */
export const tab = 2;
/** Line feed and carriage return. */
export const newline = 3;
/** The class of ASCII digits. */
export const digit = 4;
/** The class of ASCII punctuation. */
export const sign = 5;
/** Punctuation and forms of full width. */
export const wideSign = 6;
/** Halves of pairs: emoji, rare Han, mathematical letters. */
export const surrogate = 7;
/** Box drawings and block elements. */
export const box = 8;
/** Control characters but tab and line ends. */
export const control = 9;
/** Capitals A to Z: the first of the letters that make up words. */
export const upper = 10;
/** Latin capitals of U+00C0 to U+00DE. */
export const accentedUpper = 11;
/** Small a, i, o, u: the first of the small letters. */
export const openVowel = 12;
/** Small e and y. */
export const vowel = 13;
/** Other small letters of ASCII. */
export const consonant = 14;
/** Small j, k, q, v, w, x, z. */
export const rareConsonant = 15;
/** Latin letters outside ASCII. */
export const accentedLower = 16;
/** The class of the first of `scripts`; the others follow. */
export const firstScript = 17;

/** Scripts whose letters are counted with weights of their own, in the order of their classes. */
export const scripts: readonly string[] = data.scripts;

/** The classes that stretches of characters name. */
const named: ReadonlyMap<string, number> = new Map([
  ...Object.entries({ symbol, space, tab, newline, digit, sign, wideSign, surrogate, box, control }),
  ...Object.entries({ upper, accentedUpper, consonant, accentedLower }),
  ...scripts.map((script, at) => [script, firstScript + at] as const),
]);

/** The class of every UTF-16 code unit. */
export const classes: Uint8Array = classTable();

/**
 * Reads classes.json. A stretch begins at its first code unit and ends where the next one begins. Radicals are those that
 * were simplified in China (speech, silk, metal, gate, cart, see, shell, page, horse, fish, bird …), each with the first
 * code unit of its traditional forms, of the simplified ones, and behind them: they tell the two ways of writing apart.
 */
function classTable(): Uint8Array {
  const table = new Uint8Array(0x10000);
  const fill = (kind: string, from: string, to = "10000"): void => {
    table.fill(named.get(kind)!, Number.parseInt(from, 16), Number.parseInt(to, 16));
  };
  const { stretches, radicals } = data;
  for (const [at, { from, kind }] of stretches.entries()) fill(kind, from, stretches[at + 1]?.from);
  for (const { traditional, simplified, end } of radicals) {
    fill("hanTraditional", traditional, simplified);
    fill("hanSimplified", simplified, end);
  }
  for (const letter of "aiou") table[letter.charCodeAt(0)] = openVowel;
  for (const letter of "ey") table[letter.charCodeAt(0)] = vowel;
  for (const letter of "jkqvwxz") table[letter.charCodeAt(0)] = rareConsonant;
  return table;
}
