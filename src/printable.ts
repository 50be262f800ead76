/**
 * Makes text safe to show. A terminal obeys control characters, and some invisible characters make a text read as
 * another. Both are written as JSON writes them, `\u001b`: text stays readable, and a JSON document keeps its value.
 */

/**
 * Controls (C0, DEL, C1), line and paragraph separators, bidirectional controls, lone surrogates, and characters that
 * take no room but belong to no script: zero-width space, soft hyphen, fillers, format controls, tags. The joiners
 * U+200C and U+200D and the variation selectors stay, because scripts and emoji need them.
 */
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/gu;

const short: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A text as one line: line ends and tabs are written as `\n`, `\r` and `\t`, other unprintable characters as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, shown);
}

/**
 * A text of several lines: as {@link printable}, but line ends and tabs stay. `\r
 * ` becomes `
 * `.
 */
export function printableLines(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(unprintable, (character) => (character === "\n" || character === "\t" ? character : shown(character)));
}

function shown(character: string): string {
  const known = short[character];
  if (known !== undefined) return known;
  return Array.from(
    { length: character.length },
    (_, place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, "0")}`,
  ).join("");
}
