/** The query of a recall, its limits and its answer, and the stretch of the log that it asks about. */
import { WindrowError } from "../../errors.ts";
import type { TokenCounter } from "../../tokens/counter.ts";
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
   * says what the log holds.
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
  readonly counter: TokenCounter;
  /** Replaces the secrets of lines that are cut. Default: those of a known form. */
  readonly mask?: TextMask;
  /** Names of the tools that recall: nothing of their calls and results is found. Default `["recall"]`. */
  readonly recallTools?: readonly string[];
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
