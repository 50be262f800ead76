/** The text of an answer: what is shown of each document under its head, the newest first, or messages whole as far as they fit. */
import { quoteText } from "../../message/quote.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { recallId } from "../stub/stub.ts";
import { headOf, renderWhole } from "./document.ts";
import type { HitDocument } from "./hits.ts";
import type { Row } from "./rows.ts";
import { clip } from "../stub/cut.ts";
import type { TextMask } from "../window.ts";
import type { RecallDocument } from "./document.ts";

/** The text that was chosen, and where it is from. */
export interface Choice {
  readonly text: string;
  readonly seqs: readonly number[];
  /** Whether there were more hits above the cut-off than had room. */
  readonly more: boolean;
}

/** Rows of one document that are shown. */
export interface Shown {
  readonly document: HitDocument;
  /** By place in the document's text. */
  readonly rows: Map<number, Row>;
  /** Older messages that have the same, the newest first. */
  readonly also: readonly number[];
  /** Older ones that are not named. */
  readonly unnamed: number;
}

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

/** Most characters a token is thought to stand for: more text than that cannot fit and is not worth counting. */
export const charactersPerToken = 12;

/** The first lines of a text that fit; of a line that is too large alone its beginning. */
export function fit(text: string, maxTokens: number, counter: TokenCounter): string {
  const fits = (shown: string): boolean => counter.count(shown) <= maxTokens;
  const most = maxTokens * charactersPerToken;
  if (text.length <= most && fits(text)) return text;
  const ends = [0];
  for (let end = text.indexOf("\n"); end >= 0 && end <= most; end = text.indexOf("\n", end + 1)) ends.push(end);
  let lines = 0;
  for (let over = ends.length; over - lines > 1;) {
    const middle = (lines + over) >> 1;
    if (fits(text.slice(0, ends[middle]))) lines = middle;
    else over = middle;
  }
  if (lines > 0) return text.slice(0, ends[lines]);
  let shown = text.slice(0, Math.min(ends[1] ?? text.length, most));
  while (shown !== "" && !fits(shown)) shown = shown.slice(0, Math.floor(shown.length / 2)).toWellFormed();
  return shown;
}

/** Characters from which a line of a beginning is cut. */
const longestLine = 2_000;

/** The line that stands above the beginning of a message that is too long. */
const moreFollows = "[the beginning; recall with words for the rest]";

/** Takes messages from the first on. */
export class Filling {
  readonly #maxTokens: number;
  readonly #counter: TokenCounter;
  readonly #mask: TextMask;
  readonly #texts: string[] = [];
  readonly #seqs: number[] = [];
  #left: number;
  #more = false;

  constructor(maxTokens: number, counter: TokenCounter, mask: TextMask) {
    this.#mask = mask;
    this.#maxTokens = maxTokens;
    this.#counter = counter;
    this.#left = maxTokens;
  }

  /** Whether messages were left out. */
  get more(): boolean {
    return this.#more;
  }

  /** Takes the documents of the next message; false where nothing that follows can be shown. */
  take(documents: readonly RecallDocument[]): boolean {
    for (const [index, document] of documents.entries()) {
      if (this.#more) return false;
      this.#take(document, index === 0 ? "\n\n" : "\n");
    }
    return !this.#more;
  }

  /** The messages that fitted, as one text. */
  result(): Choice {
    const text = fit(this.#texts.join(""), this.#maxTokens, this.#counter);
    return { text, seqs: [...new Set(this.#seqs)], more: this.#more };
  }

  #take(document: RecallDocument, gap: string): void {
    const counter = this.#counter;
    const before = this.#texts.length === 0 ? "" : gap;
    const room = this.#left - before.length;
    const whole = renderWhole(document);
    const tokens = whole.length <= room * charactersPerToken ? counter.count(whole) : Infinity;
    if (tokens <= room) {
      this.#add(document.seq, before + whole);
      this.#left = room - tokens;
      return;
    }
    this.#more = true;
    // Every line takes a token. One that is cut is masked before.
    const lines = document.text
      .split("\n", Math.max(0, room))
      .map((line) => quoteText(clip(line, longestLine, this.#mask)));
    const title = `${headOf(document)}\n${moreFollows}\n`;
    const beginning = fit(title + lines.join("\n"), room, counter);
    if (beginning.length > title.length) this.#add(document.seq, before + beginning);
  }

  #add(seq: number, text: string): void {
    this.#texts.push(text);
    this.#seqs.push(seq);
  }
}
