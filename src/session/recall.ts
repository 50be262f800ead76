/** Recall from a stored session: reads only the stretch of the log that is asked for, message by message. */
import { WindrowError } from "../errors.ts";
import type { Scope, Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { Recalling, recallRange, recallTokens } from "../window/recall/recall.ts";
import type { Recalled, RecallLimits, RecallQuery } from "../window/recall/recall.ts";
import { recallSummary, summaryNumber, summaryTitle } from "./recall-summary.ts";

/** Messages of a range this short are shown whole where they fit, also those that hold none of the words. */
const shortRange = 400;

/** The session that is recalled from. */
export interface RecalledSession {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  /** Messages in its log. */
  readonly length: number;
}

/**
 * Brings back messages of a session; `s3` is its third summary, with the ids of those it was made of. The event loop gets
 * turns, however much there is to read.
 *
 * @throws WindrowError `not-found`, `bad-option`, `aborted`
 */
export async function recallFromStore(
  { id, store, scope, length }: RecalledSession,
  query: RecallQuery,
  limits: RecallLimits,
  signal?: AbortSignal,
): Promise<Recalled> {
  if (signal?.aborted) throw new WindrowError("aborted", "The recall was aborted before anything was read.");
  const number = summaryNumber(query.id);
  if (number !== undefined) return recallSummary(store, scope, id, number, limits);
  const { from, to } = recallRange(query, length);
  const title = query.id !== undefined && to > from ? await summaryTitle(store, scope, id, { from, to }) : "";
  const taken = title === "" ? 0 : limits.counter.count(title) + 1;
  const maxTokens = Math.max(1, (limits.maxTokens ?? recallTokens) - taken);
  const recalling = new Recalling(query.query, { ...limits, maxTokens }, to - from < shortRange);
  const turns = new Turns(signal);
  for await (const { seq, message } of store.read(scope, id, { kind: "message", originals: true, from, to })) {
    if (!(await turns.run(recalling.take({ seq, message })))) break;
    await turns.turn();
  }
  return turns.run(recalling.result(title));
}
