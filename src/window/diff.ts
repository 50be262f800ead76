/** The difference between two windows of one log. */
import type { Explanation, ExplainedItem } from "./explain.ts";

/** One message whose fate differs; `before` is undefined where the older window did not know it, `after` likewise. */
export interface FateChange {
  readonly id: string;
  /** Its place in the log. */
  readonly seq: number;
  readonly before: Pick<ExplainedItem, "fate" | "pass" | "reason" | "tokensAfter"> | undefined;
  readonly after: Pick<ExplainedItem, "fate" | "pass" | "reason" | "tokensAfter"> | undefined;
}

/** The difference of two windows. */
export interface WindowDiff {
  /** In the order of the log. */
  readonly changes: readonly FateChange[];
  /** Tokens of the older and the newer window. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Compares two explanations, message by message; what stands in both windows with the same fate and size is left out. */
export function diffExplanations(before: Explanation, after: Explanation): WindowDiff {
  const older = byId(before);
  const newer = byId(after);
  const changes: FateChange[] = [];
  for (const [id, item] of new Map([...older, ...newer])) {
    const [left, right] = [older.get(id), newer.get(id)];
    if (left?.fate === right?.fate && left?.tokensAfter === right?.tokensAfter) continue;
    changes.push({ id, seq: item.seq, before: left && told(left), after: right && told(right) });
  }
  changes.sort((left, right) => left.seq - right.seq);
  return { changes, tokensBefore: before.tokensAfter, tokensAfter: after.tokensAfter };
}

function byId({ items }: Explanation): ReadonlyMap<string, ExplainedItem> {
  return new Map(items.map((item) => [item.id, item]));
}

function told({ fate, pass, reason, tokensAfter }: ExplainedItem): FateChange["before"] {
  return { fate, pass, reason, tokensAfter };
}
