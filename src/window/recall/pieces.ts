/** Pieces: the units that recall searches and shows. A line is one; a long line is several, parted where a sentence ends. */

/** A stretch of a text. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Characters up to which a line stays in one piece. */
export const longLine = 320;

/** Characters that a piece of a long line has at most, and at least. */
const most = 320;
const least = 48;

/** The end of a sentence or of a value of JSON, with the white space behind it. */
const ends = /[.!?][")\]'’”]*\s+|[。！？]|[}\]]+,?\s*|,\s*(?=["{[])/g;

/** The pieces of a line: itself, or where it is long stretches that end with a sentence, a value or a word. */
export function* piecesOf(text: string, start: number, end: number): Generator<Stretch> {
  if (end - start <= longLine) {
    yield { start, end };
    return;
  }
  for (let from = start; from < end;) {
    const isLast = end - from <= most + least;
    const to = recordEnd(text, from, isLast ? end : from + most) ?? (isLast ? end : cutAt(text, from, from + most));
    yield { start: from, end: to };
    from = to;
  }
}

/** The end of a record of JSON before the next one: no piece has parts of two, however short it is. */
function recordEnd(text: string, from: number, to: number): number | undefined {
  const index = text.slice(from, to).search(/\},\s*\{/);
  return index < 0 ? undefined : from + index + 2;
}

/** The last good place to part a text between two others: behind a sentence, else behind a word, else anywhere. */
function cutAt(text: string, from: number, to: number): number {
  const window = text.slice(from, to);
  for (const { index, 0: match } of window.matchAll(ends)) {
    const end = index + match.length;
    if (end >= least) return from + end;
  }
  const space = window.search(/\s\S*$/);
  if (space >= least) return from + space + 1;
  return isInsidePair(text, to) ? to - 1 : to;
}

/** Whether a place parts the two halves of one character. */
function isInsidePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** A piece of a text as it may be shown. */
export interface Row extends Stretch {
  /** Its line in the text, from 0. */
  readonly line: number;
  readonly text: string;
  /** Whether it begins and whether it ends its line. */
  readonly begins: boolean;
  readonly ends: boolean;
}

/** The pieces of a part of a text as rows, placed as in the whole. */
export function rowsOf({ text, offset, line: first }: { text: string; offset: number; line: number }): readonly Row[] {
  const rows: Row[] = [];
  let line = first;
  for (let start = 0; start <= text.length; line++) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    for (const piece of piecesOf(text, start, end)) {
      rows.push({
        line,
        text: text.slice(piece.start, piece.end),
        start: offset + piece.start,
        end: offset + piece.end,
        begins: piece.start === start && (start > 0 || offset === 0),
        ends: piece.end === end,
      });
    }
    start = end + 1;
  }
  return rows;
}
