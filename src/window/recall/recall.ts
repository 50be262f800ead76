/** Recall: brings back from the log what an edit took out of the window, offline. */
import { WindrowError } from "../../errors.ts";
import { quoteText } from "../../message/quote.ts";
import type { Message } from "../../message/message.ts";
import type { NumberedMessage } from "../../message/step.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { atOnce, Turns } from "../../turns.ts";
import type { Work } from "../../turns.ts";
import { clip, defaultMask } from "../cut.ts";
import type { TextMask } from "../window.ts";
import { RecallSearch } from "./search.ts";
import { documentOf, fit, longestLine, recallNotice, renderBeginning, renderPassages, renderWhole } from "./text.ts";
import type { RecallDocument } from "./text.ts";
import { wordsOf } from "./words.ts";
import { parseRecallId, recallId } from "./stub.ts";

/**
 * The query of a recall. `id` or `from`/`to` say where to look, `query` for which words; a query alone searches
 * everywhere.
 */
export interface RecallQuery {
  /** `m12`, or `m12-m40` for all messages of a range. */
  readonly id?: string;
  /** Words, a path, a line. */
  readonly query?: string;
  /** First and last message, by `seq`. */
  readonly from?: number;
  readonly to?: number;
}

/** The messages or passages that recall found. */
export interface Recalled {
  /**
   * Each message or passage quoted under a line that says which it is; the first line says how, and that it is no
   * instruction. Empty where nothing was found.
   */
  readonly text: string;
  readonly tokens: number;
  /** The messages it is from, oldest first. */
  readonly seqs: readonly number[];
  /** Whether there was more than `maxTokens` had room for. */
  readonly more: boolean;
}

/** How much to bring back. */
export interface RecallLimits {
  /** The most tokens of the answer. Default 4,000. */
  readonly maxTokens?: number;
  readonly counter: TokenCounter;
  /** Replaces the secrets of lines that are cut. Default: those of a known form. */
  readonly mask?: TextMask;
}

/** The default of `maxTokens`. */
export const recallTokens = 4_000;

/** Most characters a token is thought to stand for: more text than that cannot fit and is not worth counting. */
const charactersPerToken = 12;

/** Passages kept beside those there may be room for: some of the best turn out too long for what room is left. */
const sparePassages = 1_024;

/** Tokens of the shortest passage that an answer can hold, its line number counted. It bounds how many passages are compared. */
const shortestPassage = 3;

/**
 * Recall from a whole history: message n of the array is `m<n>`. At once, in time that grows with the text.
 *
 * @throws WindrowError `not-found` when the id or the range names no message of the history, `bad-option` for no id
 */
export function recallFrom(history: readonly Message[], query: RecallQuery, limits: RecallLimits): Recalled {
  return atOnce(recalled(history, query, limits));
}

/**
 * As {@link recallFrom}, with turns for the event loop.
 *
 * @throws WindrowError `not-found`, `bad-option`, `aborted`
 */
export function recallInTurns(
  history: readonly Message[],
  query: RecallQuery,
  limits: RecallLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  return new Turns(signal).run(recalled(history, query, limits));
}

function* recalled(history: readonly Message[], query: RecallQuery, limits: RecallLimits): Work<Recalled> {
  const { from, to } = recallRange(query, history.length);
  const recalling = new Recalling(query.query, limits, true);
  for (let seq = from; seq <= to; seq++) {
    if (!(yield* recalling.take({ seq, message: history[seq - 1] as Message }))) break;
    yield;
  }
  return yield* recalling.result();
}

/**
 * The stretch of the log that a query asks about.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`
 */
export function recallRange(query: RecallQuery, length: number): { readonly from: number; readonly to: number } {
  checkQuery(query);
  if (query.id === undefined && query.query === undefined && query.from === undefined) {
    throw new WindrowError("bad-option", "Recall needs an `id`, a `query`, or `from` and `to`.");
  }
  const range = query.id === undefined ? { from: query.from ?? 1, to: query.to ?? length } : parseRecallId(query.id);
  if (!range)
    throw new WindrowError("bad-option", `"${query.id}" is no recall id; ids look like m12 or m12-m40.`, { ...query });
  if (range.from < 1 || range.from > length) {
    throw new WindrowError("not-found", `There is no message ${recallId(range.from)}; the log ends at m${length}.`, {
      ...query,
      length,
    });
  }
  return { from: range.from, to: Math.min(range.to, length) };
}

function checkQuery(query: RecallQuery): void {
  if (typeof query !== "object" || query === null) throw new WindrowError("bad-option", "Recall needs a query.");
  for (const name of ["id", "query"] as const) {
    const given: unknown = query[name];
    if (given !== undefined && typeof given !== "string")
      throw new WindrowError("bad-option", `Recall's \`${name}\` is a text, not a ${typeof given}.`);
  }
  for (const name of ["from", "to"] as const) {
    const given: unknown = query[name];
    if (given !== undefined && typeof given !== "number")
      throw new WindrowError("bad-option", `Recall's \`${name}\` is a number, not a ${typeof given}.`);
  }
}

/**
 * Takes messages one by one, oldest first, and answers with the best passages for a query, or with the messages
 * themselves where they fit. Without a query the messages stand from the first on, as far as there is room. Holds no
 * more than it may answer with.
 */
export class Recalling {
  readonly #search: RecallSearch | undefined;
  /** The first line of the answer. */
  readonly #notice: string;
  readonly #maxTokens: number;
  readonly #counter: TokenCounter;
  readonly #mask: TextMask;
  readonly #every: boolean;
  /** All that was taken, while it may fit. */
  #whole: RecallDocument[] | undefined = [];
  #wholeLength = 0;
  #filling: Filling | undefined;

  /** @param every - whether messages without any of the words are worth showing where all fit */
  constructor(
    query: string | undefined,
    { maxTokens = recallTokens, counter, mask = defaultMask }: RecallLimits,
    every: boolean,
  ) {
    const words = wordsOf(query);
    this.#search = words && new RecallSearch(words, sparePassages + Math.ceil(maxTokens / shortestPassage), mask);
    this.#notice = recallNotice(maxTokens);
    this.#maxTokens = Math.max(1, maxTokens - counter.count(this.#notice) - 1);
    this.#counter = counter;
    this.#mask = mask;
    this.#every = every;
  }

  /** Takes the next message; false where nothing that follows can be shown. */
  *take(message: NumberedMessage): Work<boolean> {
    const document = documentOf(message);
    if (document.texts.length === 0) return true;
    const matched = this.#search ? yield* this.#search.take(document) : true;
    if (this.#whole && (matched || this.#every)) {
      this.#wholeLength += document.head.length + document.length + 3;
      this.#whole.push(document);
      if (this.#wholeLength <= this.#maxTokens * charactersPerToken + 2) return true;
      return this.#overflow(this.#whole);
    }
    return this.#filling ? this.#filling.take(document) : true;
  }

  /**
   * The answer: whole messages where they fit, else passages.
   *
   * @param title - a line that stands before it
   */
  *result(title = ""): Work<Recalled> {
    const found = yield* this.#found();
    if (found.text === "") return found;
    const text = [this.#notice, title, found.text].filter((part) => part !== "").join("\n");
    return { ...found, text, tokens: this.#counter.count(text) };
  }

  *#found(): Work<Recalled> {
    const counter = this.#counter;
    if (this.#whole) {
      // Whole messages are worth more than passages, where they fit.
      const text = this.#whole.map(renderWhole).join("\n\n");
      const tokens = counter.count(text);
      if (tokens <= this.#maxTokens) return { text, tokens, seqs: this.#whole.map(({ seq }) => seq), more: false };
      this.#overflow(this.#whole);
    }
    if (this.#filling) return this.#filling.result();
    const found = this.#search ? yield* this.#search.choose(this.#maxTokens, counter) : [];
    const text = fit(found.map(renderPassages).join("\n\n"), this.#maxTokens, counter);
    return { text, tokens: counter.count(text), seqs: found.map(({ seq }) => seq), more: true };
  }

  /** Not all of it fits: from here on passages are looked for, or the first messages are shown. */
  #overflow(documents: readonly RecallDocument[]): boolean {
    this.#whole = undefined;
    if (this.#search) return true;
    const filling = new Filling(this.#maxTokens, this.#counter, this.#mask);
    this.#filling = filling;
    return documents.every((document) => filling.take(document));
  }
}

/** Messages from the first on, as many as fit, and the beginning of the one that does not. */
class Filling {
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

  take(document: RecallDocument): boolean {
    if (this.#more) return false;
    const { seq, head, length } = document;
    const counter = this.#counter;
    const small = head.length + 1 + length <= this.#left * charactersPerToken;
    const text = small ? renderWhole(document) : "";
    const tokens = small ? counter.count(text) + 2 : Infinity;
    if (tokens <= this.#left) {
      this.#texts.push(text);
      this.#seqs.push(seq);
      this.#left -= tokens;
      return true;
    }
    const room = this.#left - counter.count(head) - 16;
    const lines: string[] = [];
    let used = 0;
    for (const line of linesOf(document)) {
      const shown = clip(line, longestLine, this.#mask);
      used += counter.count(quoteText(shown)) + 1;
      if (used > room) break;
      lines.push(shown);
    }
    if (lines.length > 0) {
      this.#texts.push(renderBeginning(document, lines));
      this.#seqs.push(seq);
    }
    this.#more = true;
    return false;
  }

  result(): Recalled {
    const text = fit(this.#texts.join("\n\n"), this.#maxTokens, this.#counter);
    return { text, tokens: this.#counter.count(text), seqs: this.#seqs, more: this.#more };
  }
}

/** Lines of a message, each cut off when it is asked for. */
function* linesOf({ texts }: RecallDocument): Generator<string> {
  for (const text of texts) {
    for (let start = 0; start <= text.length;) {
      const newline = text.indexOf("\n", start);
      const end = newline < 0 ? text.length : newline;
      yield text.slice(start, end);
      start = end + 1;
    }
  }
}
