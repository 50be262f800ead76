/** Classes of characters, by UTF-16 code unit; features.ts counts their runs. */

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
export const scripts = [
  "cyrillic",
  "cyrillicExtended",
  "greek",
  "greekExtended",
  "armenian",
  "georgian",
  "hebrew",
  "arabic",
  "devanagari",
  "bengali",
  "gurmukhi",
  "gujarati",
  "tamil",
  "telugu",
  "kannada",
  "malayalam",
  "sinhala",
  "thai",
  "lao",
  "tibetan",
  "burmese",
  "khmer",
  "ethiopic",
  "combining",
  "otherLetters",
  "han",
  "hanSimplified",
  "hanTraditional",
  "hiragana",
  "katakana",
  "hangul",
] as const;

type Script = (typeof scripts)[number];

/** The first code unit of each class; a class ends where the next one begins. */
const stretches: readonly (readonly [start: number, kind: number | Script])[] = [
  [0x00, control],
  [0x09, tab],
  [0x0a, newline],
  [0x0b, control],
  [0x0d, newline],
  [0x0e, control],
  [0x20, space],
  [0x21, sign],
  [0x30, digit],
  [0x3a, sign],
  [0x41, upper],
  [0x5b, sign],
  [0x61, consonant],
  [0x7b, sign],
  [0x7f, control],
  [0xa0, symbol],
  [0xc0, accentedUpper],
  [0xd7, symbol],
  [0xd8, accentedUpper],
  [0xdf, accentedLower],
  [0xf7, symbol],
  [0xf8, accentedLower],
  [0x300, "combining"],
  [0x370, "greek"],
  [0x400, "cyrillicExtended"],
  [0x410, "cyrillic"],
  [0x450, "cyrillicExtended"],
  [0x530, "armenian"],
  [0x590, "hebrew"],
  [0x600, "arabic"],
  [0x700, "otherLetters"],
  [0x750, "arabic"],
  [0x780, "otherLetters"],
  [0x8a0, "arabic"],
  [0x900, "devanagari"],
  [0x980, "bengali"],
  [0xa00, "gurmukhi"],
  [0xa80, "gujarati"],
  [0xb00, "otherLetters"],
  [0xb80, "tamil"],
  [0xc00, "telugu"],
  [0xc80, "kannada"],
  [0xd00, "malayalam"],
  [0xd80, "sinhala"],
  [0xe00, "thai"],
  [0xe80, "lao"],
  [0xf00, "tibetan"],
  [0x1000, "burmese"],
  [0x10a0, "georgian"],
  [0x1100, "hangul"],
  [0x1200, "ethiopic"],
  [0x13a0, "otherLetters"],
  [0x1780, "khmer"],
  [0x1800, "otherLetters"],
  [0x1c90, "georgian"],
  [0x1cc0, "otherLetters"],
  [0x1e00, accentedLower],
  [0x1f00, "greekExtended"],
  [0x2000, symbol],
  [0x2500, box],
  [0x25a0, symbol],
  [0x2c00, "otherLetters"],
  [0x2e80, "han"],
  [0x3000, wideSign],
  [0x3041, "hiragana"],
  [0x30a0, "katakana"],
  [0x3100, "otherLetters"],
  [0x3130, "hangul"],
  [0x3190, wideSign],
  [0x3400, "han"],
  [0xa000, "otherLetters"],
  [0xac00, "hangul"],
  [0xd7b0, "otherLetters"],
  [0xd800, surrogate],
  [0xe000, symbol],
  [0xf900, "han"],
  [0xfb00, "otherLetters"],
  [0xfb1d, "hebrew"],
  [0xfb50, "arabic"],
  [0xfe00, symbol],
  [0xfe10, wideSign],
  [0xfe70, "arabic"],
  [0xfeff, symbol],
  [0xff00, wideSign],
  [0xff66, "katakana"],
  [0xffa0, "hangul"],
  [0xffe0, symbol],
];

/**
 * The code units of radicals that were simplified in China (speech, silk, metal, gate, cart, see, shell, page, horse,
 * fish, bird …): the traditional forms, then the simplified ones. They tell the two ways of writing apart.
 */
const radicals: readonly (readonly [traditional: number, simplified: number, end: number])[] = [
  [0x7cf8, 0x7ea0, 0x7f36],
  [0x898b, 0x89c1, 0x89d2],
  [0x8a00, 0x8ba0, 0x8c37],
  [0x8c9d, 0x8d1d, 0x8d64],
  [0x8eca, 0x8f66, 0x8f9b],
  [0x91d1, 0x9485, 0x9577],
  [0x9580, 0x95e8, 0x961c],
  [0x97cb, 0x97e6, 0x97ed],
  [0x9801, 0x9875, 0x98a8],
  [0x98a8, 0x98ce, 0x98db],
  [0x98db, 0x98de, 0x98df],
  [0x98df, 0x9963, 0x9996],
  [0x99ac, 0x9a6c, 0x9aa8],
  [0x9b5a, 0x9c7c, 0x9ce5],
  [0x9ce5, 0x9e1f, 0x9e75],
];

/** The class of every UTF-16 code unit. */
export const classes: Uint8Array = classTable();

function classTable(): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (const [index, [start, kind]] of stretches.entries()) {
    const value = typeof kind === "number" ? kind : firstScript + scripts.indexOf(kind);
    table.fill(value, start, stretches[index + 1]?.[0] ?? table.length);
  }
  for (const [traditional, simplified, end] of radicals) {
    table.fill(firstScript + scripts.indexOf("hanTraditional"), traditional, simplified);
    table.fill(firstScript + scripts.indexOf("hanSimplified"), simplified, end);
  }
  for (const letter of "aiou") table[letter.charCodeAt(0)] = openVowel;
  for (const letter of "ey") table[letter.charCodeAt(0)] = vowel;
  for (const letter of "jkqvwxz") table[letter.charCodeAt(0)] = rareConsonant;
  return table;
}
