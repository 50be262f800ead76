/** Recall from a stored session: reads only the stretch of the log that is asked for. */
import type { Scope, Store } from "../store/store.ts";
import type { NumberedMessage } from "../message/step.ts";
import { recallPassages, recallRange, recallScore } from "../window/recall.ts";
import type { Recalled, RecallLimits, RecallQuery } from "../window/recall.ts";

/** Candidates kept while a long log is searched. */
const mostCandidates = 48;

/** Messages of a range this short are read and weighed whole. */
const shortRange = 400;

/**
 * Brings back messages of a session.
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
  const { from, to } = recallRange(query, length);
  const words = query.query;
  let left = false;
  let kept: (NumberedMessage & { readonly score: number })[] = [];
  for await (const record of store.read(scope, id, { kind: "message", from, to })) {
    const score = words === undefined ? 0 : recallScore(record.message, words);
    if (words !== undefined && score === 0 && to - from >= shortRange) continue;
    kept.push({ seq: record.seq, message: record.message, score });
    left ||= kept.length > (words === undefined || to - from < shortRange ? shortRange : mostCandidates);
    if (words === undefined && left) break;
    if (words !== undefined && to - from >= shortRange && kept.length >= 2 * mostCandidates) kept = best(kept);
  }
  if (words !== undefined && to - from >= shortRange) kept = best(kept);
  const recalled = recallPassages(kept, words, limits);
  return left ? { ...recalled, more: true } : recalled;
}

function best<T extends { readonly seq: number; readonly score: number }>(candidates: readonly T[]): T[] {
  return candidates
    .toSorted((left, right) => right.score - left.score || right.seq - left.seq)
    .slice(0, mostCandidates)
    .toSorted((left, right) => left.seq - right.seq);
}
