/**
 * Characters that a reader cannot see, made visible: controls, marks of writing direction, invisible letters, and halves of
 * surrogate pairs. They are named and never interpreted.
 */

/** A piece of a text: plain, or one character that is named. */
export interface Segment {
  readonly text: string;
  /** The character's name, such as `ESC` or `U+202E`; absent for plain text. */
  readonly mark?: string;
}

const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

const named: Readonly<Record<number, string>> = {
  0x00: "NUL",
  0x07: "BEL",
  0x08: "BS",
  0x0d: "CR",
  0x1b: "ESC",
  0x7f: "DEL",
  0xad: "SHY",
  0x200b: "ZWSP",
  0x200e: "LRM",
  0x200f: "RLM",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0xfeff: "BOM",
};

/** The name of a character that is not seen. */
export function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return named[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * A text as pieces. After `most` marks the names stand in the text itself, so that a binary text makes no million elements.
 */
export function segments(text: string, most = 400): readonly Segment[] {
  const found: Segment[] = [];
  let at = 0;
  let marks = 0;
  for (const match of text.matchAll(unseen)) {
    // A carriage return before a newline is the end of a line as Windows writes it, seen as such.
    if (match[0] === "\r" && text[match.index + 1] === "\n") continue;
    if (marks === most) return [...found, { text: withNames(text.slice(at)) }];
    if (match.index > at) found.push({ text: text.slice(at, match.index) });
    found.push({ text: match[0], mark: nameOf(match[0]) });
    at = match.index + match[0].length;
    marks++;
  }
  if (at < text.length) found.push({ text: text.slice(at) });
  return found;
}

/** A text with names in the place of what is not seen. */
function withNames(text: string): string {
  return text.replaceAll(unseen, (character) => `⟦${nameOf(character)}⟧`);
}

/** A text as one plain line with names in the place of what is not seen. */
export function plainLine(text: string): string {
  return withNames(text.replaceAll(/\s*\n\s*/g, " "));
}
