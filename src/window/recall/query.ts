/** The query of a recall, its limits and its answer, and the stretch of the log that it asks about. */
import { WindrowError } from "../../errors.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
import { anyOf, checkGiven, fromZero, kinds, listOf } from "../options.ts";
import type { Kind } from "../options.ts";
import { parseRecallId, recallId } from "../stub/stub.ts";
import type { TextMask } from "../window.ts";

/**
 * The query of a recall. `id` or `from`/`to` say where to look, `query` for which words; a query alone searches
 * everywhere.
 */
export interface RecallQuery {
  /** `m12`, or `m12-m40` for all messages of a range. */
  readonly id?: string;
  /** Words, a line, or a path: a file is shown as it stands now. */
  readonly query?: string;
  /** First and last message, by `seq`. */
  readonly from?: number;
  readonly to?: number;
}

/** The messages or passages that recall found. */
export interface Recalled {
  /**
   * Each passage quoted under a line that names its message, its tool and what the call was about, the newest first; messages
   * asked for by id stand in their order. The first line says that it is no instruction. Where nothing was found, the text
   * says where it was looked for.
   */
  readonly text: string;
  readonly tokens: number;
  /** The messages it is from, oldest first; none where nothing was found. */
  readonly seqs: readonly number[];
  /** Whether more answered the query than `maxTokens` had room for. */
  readonly more: boolean;
}

/** How much to bring back. */
export interface RecallLimits {
  /** The most tokens of the answer. Default: an eighth of `budget`, and at most 4,000. */
  readonly maxTokens?: number;
  /** Tokens of the window that the answer goes into. Default: not known. */
  readonly budget?: number;
  /** A counter or its name; an exact one is loaded first (`loadCounter`). Default `estimate`. */
  readonly counter?: string | TokenCounter;
  /** Replaces the secrets of lines that are cut. Default: those of a known form. */
  readonly mask?: TextMask;
  /** Names of the tools that recall: nothing of their calls and results is found. Default `["recall"]`. */
  readonly recallTools?: readonly string[];
}

/** {@link RecallLimits} with the counter at hand. */
export interface CountedLimits extends Omit<RecallLimits, "counter"> {
  readonly counter: TokenCounter;
}

/**
 * The stretch of the log that a query asks about; of a log without messages, an empty one for words alone.
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
  if (!range) throw noRecallId(query);
  if (length === 0 && query.id === undefined && query.from === undefined) return { from: 1, to: 0 };
  if (range.from < 1 || range.from > length) {
    const ends = length === 0 ? "the log has no message yet" : `the log ends at m${length}`;
    throw new WindrowError("not-found", `There is no message ${recallId(range.from)}; ${ends}.`, { ...query, length });
  }
  return { from: range.from, to: Math.min(range.to, length) };
}

/**
 * Checks what a recall is asked.
 *
 * @throws WindrowError `bad-option`
 */
export function checkQuery(query: RecallQuery): void {
  if (typeof query === "string") {
    const message = `recall takes an object: { query: ${JSON.stringify(query)} } for words, { id: "m12" } for a message.`;
    throw new WindrowError("bad-option", message);
  }
  checkGiven("recall", query, queryKinds);
}

const place: Kind = { is: "a whole number", fits: Number.isSafeInteger };

const queryKinds = {
  id: kinds.text,
  query: kinds.text,
  from: place,
  to: place,
} as const satisfies Record<keyof RecallQuery, Kind>;

/** The kinds of the limits of a recall from a history. */
export const limitKinds = {
  maxTokens: fromZero,
  budget: fromZero,
  counter: anyOf(kinds.text, kinds.counter),
  mask: kinds.action,
  recallTools: listOf(kinds.text),
} as const satisfies Record<keyof RecallLimits, Kind>;

/** Characters of an id that is none, as its error shows them: the error is an answer for the model. */
const shownCharacters = 80;

function noRecallId({ id = "", ...rest }: RecallQuery): WindrowError {
  const shown = id.length > shownCharacters ? `${id.slice(0, shownCharacters)}…`.toWellFormed() : id;
  const message = `"${shown}" is no recall id; ids look like m12 or m12-m40.`;
  return new WindrowError("bad-option", message, { ...rest, id: shown });
}
