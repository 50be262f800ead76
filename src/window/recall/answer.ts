/** The text of an answer: what is shown of each document under its head, the newest first. */
import { quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { recallId } from "../stub/stub.ts";
import { headOf } from "./document.ts";
import type { HitDocument } from "./hits.ts";
import type { Row } from "./pieces.ts";

/** Rows of one document that are shown. */
export interface Shown {
  /** The newest document that has them. */
  document: HitDocument;
  /** By place in the document's text. */
  readonly rows: Map<number, Row>;
  /** Older messages that have the same, the newest first. */
  also: readonly number[];
  /** Older ones that are not named. */
  unnamed: number;
}

/** Characters from which a line that stands alone is compared with others. */
export const comparedLength = 24;

/** Lines of a text from which a gap says at which line the text goes on. */
const manyLines = 40;

/** Documents in the order of an answer: the newest first, of one message in its order. */
export function ordered(shown: readonly Shown[]): readonly Shown[] {
  return shown.toSorted((left, right) => right.document.seq - left.document.seq);
}

/** The head of a document with the rows that are shown of it. */
export function renderShown({ document, rows, also, unnamed }: Shown): string {
  const others = unnamed > 0 ? ` and ${unnamed} more` : "";
  const named = also.length > 0 ? `also ${also.map((seq) => recallId(seq)).join(" ")}${others}` : "";
  return [headOf(document, named), ...renderRows([...rows.values()], document.count)].join("\n");
}

/** Rows in their order, each gap marked. */
export function renderRows(rows: readonly Row[], count: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  let last: Row | undefined;
  for (const row of rows.toSorted((left, right) => left.start - right.start)) {
    if (last?.line === row.line) {
      line += last.end === row.start ? row.text : ` … ${row.text}`;
      last = row;
      continue;
    }
    if (last) lines.push(quoted(line, last));
    if (row.line > (last ? last.line + 1 : 0)) {
      lines.push(count > manyLines ? `[… line ${row.line + 1} of ${count}]` : "…");
    }
    line = row.begins ? row.text : `… ${row.text}`;
    last = row;
  }
  if (last) lines.push(quoted(line, last));
  return lines;
}

function quoted(line: string, last: Row): string {
  return quoteText(last.ends ? line : `${line.trimEnd()} …`);
}

/** The first lines of a text that fit; of a line that is too large alone its beginning. Few counts, however long it is. */
export function fit(text: string, maxTokens: number, counter: TokenCounter): string {
  if (counter.count(text) <= maxTokens) return text;
  const ends = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) ends.push(end);
  const fits = (lines: number): boolean => counter.count(text.slice(0, ends[lines])) <= maxTokens;
  // Counts of beginnings that are twice as long each time stay in proportion to the answer.
  let over = 1;
  while (over < ends.length && fits(over)) over *= 2;
  let most = over >> 1;
  over = Math.min(over, ends.length);
  while (over - most > 1) {
    const middle = (most + over) >> 1;
    if (fits(middle)) most = middle;
    else over = middle;
  }
  if (most > 0) return text.slice(0, ends[most]);
  let shown = text.slice(0, ends[1]);
  while (shown !== "" && counter.count(shown) > maxTokens)
    shown = shown.slice(0, Math.floor(shown.length / 2)).toWellFormed();
  return shown;
}

/**
 * Passages with the same key say the same: those of one call, and a sentence that has all words by itself.
 *
 * @param alone - the row of such a sentence
 */
export function keyOf({ label }: HitDocument, rows: readonly Row[], alone: Row | undefined): string {
  const text = alone?.text.trim() ?? "";
  if (text.length >= comparedLength && /^[\p{L}\p{N}].*\s.*\s/u.test(text)) return text;
  return `${label}\n${rows.map((row) => row.text.trim()).join("\n")}`;
}
