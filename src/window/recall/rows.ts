/** Rows: the units that recall searches and shows, a line or a piece of a long one, and the rows around one that make it whole. */

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

/** A text is shown whole up to so many rows and characters. */
const smallRows = 8;
const smallLength = 400;

/** A block is shown whole up to so many rows and characters. */
const blockRows = 16;
const blockLength = 700;

/** Of a text whose head alone answers, so many rows and characters are shown. */
const firstRows = 6;
const firstLength = 200;

/** Characters of the pieces of a long line that are shown around one. */
const pieceLength = 240;

/** Rows that are looked at on each side for a block. */
const blockReach = 200;

/** Characters from which a line of a flat text says enough by itself. */
const selfContained = 60;

/** The block of rows around one: a record, a function, a paragraph. */
export interface Block {
  readonly from: number;
  readonly to: number;
}

/** The rows to show for the row at a place, in order. */
export function surroundings(rows: readonly Row[], at: number): readonly number[] {
  if (isSmall(rows, { from: 0, to: rows.length - 1 }, smallRows, smallLength)) return range(0, rows.length - 1);
  const row = rows[at];
  if (!row) return [];
  if (!row.begins || !row.ends) return piecesAround(rows, at);
  const block = blockOf(rows, at);
  if (!block) return flatAround(rows, at);
  if (isSmall(rows, block, blockRows, blockLength)) return range(block.from, block.to);
  // The head of a block says whose the row is.
  const head = (rows[block.from]?.text.trim().length ?? 0) > 2 ? [block.from] : [];
  const beside = [at - 1, at + 1].filter((near) => isBeside(rows, at, near));
  return [...new Set([...head, at, ...beside])].sort((left, right) => left - right);
}

/** The block around a row, which may be one record: of a flat text what is at hand. */
export function recordAround(rows: readonly Row[], at: number): Block {
  return blockOf(rows, at) ?? { from: Math.max(0, at - smallRows), to: Math.min(rows.length - 1, at + smallRows) };
}

/** The beginning of a text whose head alone answers. */
export function beginning(rows: readonly Row[]): readonly number[] {
  let length = 0;
  let count = 0;
  while (count < rows.length && count < firstRows && length < firstLength) length += rows[count++]?.text.length ?? 0;
  return range(0, count - 1);
}

/** The rows from the nearest one above with a smaller indent to the end of what stands below it. */
function blockOf(rows: readonly Row[], at: number): Block | undefined {
  const indent = indentOf(rows[at]);
  const below = indentOf(rows[at + 1]);
  let from = at;
  if (below === Infinity || below <= indent) {
    if (indent === 0) return undefined;
    for (from = at - 1; from >= 0 && at - from <= blockReach; from--) if (indentOf(rows[from]) < indent) break;
    if (from < 0 || at - from > blockReach) return undefined;
  }
  const outer = indentOf(rows[from]);
  let to = from;
  while (to + 1 < rows.length && to - from < blockReach && indentOf(rows[to + 1]) > outer) to++;
  while (to > from && rows[to]?.text.trim() === "") to--;
  const closing = rows[to + 1];
  if (closing && indentOf(closing) === outer && /^\s*[)}\]]/.test(closing.text)) to++;
  return to > from ? { from, to } : undefined;
}

/** The indent of a row; a blank one and the rest of a line belong to what stands around them. */
function indentOf(row: Row | undefined): number {
  if (!row) return -1;
  if (!row.begins || row.text.trim() === "") return Infinity;
  const [indent = ""] = /^[ \t]*/.exec(row.text) ?? [];
  return indent.length;
}

function isBeside(rows: readonly Row[], at: number, near: number): boolean {
  const row = rows[near];
  return row !== undefined && row.text.trim() !== "" && indentOf(row) === indentOf(rows[at]);
}

/** A row of a text without blocks: its paragraph, or what stands next to it where it says little by itself. */
function flatAround(rows: readonly Row[], at: number): readonly number[] {
  let from = at;
  let to = at;
  while (from > 0 && at - from < smallRows && rows[from - 1]?.text.trim() !== "") from--;
  while (to + 1 < rows.length && to - at < smallRows && rows[to + 1]?.text.trim() !== "") to++;
  if (isSmall(rows, { from, to }, smallRows, smallLength)) return range(from, to);
  if ((rows[at]?.text.length ?? 0) >= selfContained) return [at];
  return range(Math.max(from, at - 1), Math.min(to, at + 1));
}

/** A piece of a long line, with those of the same line next to it while they are short. */
function piecesAround(rows: readonly Row[], at: number): readonly number[] {
  const shown = [at];
  let length = rows[at]?.text.length ?? 0;
  const opening = openingOf(rows, at);
  if (opening !== undefined) {
    const record = { from: opening, to: closingOf(rows, at) };
    if (isSmall(rows, record, blockLength, blockLength)) return range(record.from, record.to);
    if (opening !== at) shown.push(opening);
  }
  // A record's first piece stands without the end of the record before it.
  for (const near of opening === at ? [at + 1] : [at - 1, at + 1]) {
    const row = rows[near];
    if (!row || row.line !== rows[at]?.line || shown.includes(near) || length + row.text.length > pieceLength) continue;
    shown.push(near);
    length += row.text.length;
  }
  return shown.sort((left, right) => left - right);
}

/** The piece in which the record of a piece begins, in JSON that is one line. */
function openingOf(rows: readonly Row[], at: number): number | undefined {
  if (/^[\s[,]*\{/.test(rows[at]?.text ?? "")) return at;
  let depth = 0;
  for (let index = at - 1; index >= 0 && at - index <= 24; index--) {
    const row = rows[index];
    if (!row || row.line !== rows[at]?.line) return undefined;
    for (let place = row.text.length - 1; place >= 0; place--) {
      const sign = row.text[place];
      if (sign === "}") depth++;
      else if (sign === "{" && depth-- === 0) return index;
    }
  }
  return undefined;
}

/** The piece in which that record ends, or the last one that is looked at. */
function closingOf(rows: readonly Row[], at: number): number {
  let depth = 0;
  for (let index = at; index < rows.length && index - at <= 24; index++) {
    const row = rows[index];
    if (!row || row.line !== rows[at]?.line) return index - 1;
    for (const sign of row.text) {
      if (sign === "{") depth++;
      else if (sign === "}" && --depth <= 0) return index;
    }
  }
  return Math.min(rows.length - 1, at + 24);
}

function isSmall(rows: readonly Row[], { from, to }: Block, most: number, length: number): boolean {
  if (to - from >= most) return false;
  let sum = 0;
  for (let index = from; index <= to; index++) sum += (rows[index]?.text.length ?? 0) + 1;
  return sum <= length;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
