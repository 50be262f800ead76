/** Recall from a stored session: reads only the stretch of the log that is asked for. */
import type { Scope, Store } from "../store/store.ts";
import type { NumberedMessage } from "../message/step.ts";
import { recallPassages, recallRange, recallScore, recallTokens } from "../window/recall.ts";
import type { Recalled, RecallLimits, RecallQuery } from "../window/recall.ts";
import { recallSummary, summaryNumber, summaryTitle } from "./recall-summary.ts";

/** Candidates kept while a long log is searched. */
const mostCandidates = 48;

/** Messages of a range this short are read and weighed whole. */
const shortRange = 400;

/**
 * Brings back messages of a session; `s3` is its third summary, with the ids of those it was made of.
 *
 * @param length - messages in the log
 * @throws WindrowError `not-found`, `bad-option`
 */
export async function recallFromStore(
  store: Store,
  scope: Scope,
  id: string,
  length: number,
  query: RecallQuery,
  limits: RecallLimits,
): Promise<Recalled> {
  const number = summaryNumber(query.id);
  if (number !== undefined) return recallSummary(store, scope, id, number, limits);
  const { from, to } = recallRange(query, length);
  const words = query.query;
  let left = false;
  let kept: (NumberedMessage & { readonly score: number })[] = [];
  for await (const record of store.read(scope, id, { kind: "message", originals: true, from, to })) {
    const score = words === undefined ? 0 : recallScore(record.message, words);
    if (words !== undefined && score === 0 && to - from >= shortRange) continue;
    kept.push({ seq: record.seq, message: record.message, score });
    left ||= kept.length > (words === undefined || to - from < shortRange ? shortRange : mostCandidates);
    if (words === undefined && left) break;
    if (words !== undefined && to - from >= shortRange && kept.length >= 2 * mostCandidates) kept = best(kept);
  }
  if (words !== undefined && to - from >= shortRange) kept = best(kept);
  const title = query.id !== undefined && to > from ? await summaryTitle(store, scope, id, { from, to }) : "";
  const taken = title === "" ? 0 : limits.counter.count(title) + 1;
  const maxTokens = Math.max(1, (limits.maxTokens ?? recallTokens) - taken);
  const recalled = recallPassages(kept, words, { ...limits, maxTokens });
  const text = title === "" ? recalled.text : `${title}\n${recalled.text}`;
  return { ...recalled, text, tokens: recalled.tokens + taken, more: recalled.more || left };
}

function best<T extends { readonly seq: number; readonly score: number }>(candidates: readonly T[]): T[] {
  return candidates
    .toSorted((left, right) => right.score - left.score || right.seq - left.seq)
    .slice(0, mostCandidates)
    .toSorted((left, right) => left.seq - right.seq);
}
