/** The tokens that sessions' own model calls used, and their price. */
import { findModel, priceOf } from "../../tokens/models.ts";
import { calledModel } from "../../message/record.ts";
import type { JsonObject } from "../../message/message.ts";
import type { UsageRecord } from "../../message/record.ts";
import { usedTokens } from "../../message/parts.ts";
import type { Scope, SessionInfo, Store } from "../../store/store.ts";
import { addTo, plusKnown } from "./sum.ts";

/** The usage of model calls, added up. Calls for summaries count too. */
export interface Spent {
  /** Calls that report usage. */
  readonly calls: number;
  /** Input tokens, cached ones included. */
  readonly input: number;
  /** Output tokens, reasoning included. */
  readonly output: number;
  /** Input tokens that were read from the provider's cache. */
  readonly cacheRead: number;
  /** Input tokens that were written to it. */
  readonly cacheWrite: number;
  /** Calls at list prices, in US dollars; null where no call's model has a price. */
  readonly dollars: number | null;
  /** Calls whose model has no known price; they are not in the money. */
  readonly unpriced: number;
  /** Their models, sorted; empty for one without a name. */
  readonly unpricedModels: readonly string[];
}

/** No call at all. */
export const nothingSpent: Spent = {
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  dollars: null,
  unpriced: 0,
  unpricedModels: [],
};

/** Two sums as one. */
export function addedSpent(one: Spent, other: Spent): Spent {
  const { dollars: _dollars, unpricedModels: _models, ...numbers } = one;
  addTo(numbers, other);
  return {
    ...numbers,
    dollars: plusKnown(one.dollars, other.dollars),
    unpricedModels: [...new Set([...one.unpricedModels, ...other.unpricedModels])].sort(),
  };
}

/** A call's record, without when it was. */
export type SpentCall = Pick<UsageRecord, "model" | "purpose" | "usage">;

/** The list price of a call in US dollars; null where it used nothing that is known, or its model has no price. */
export function dollarsFor(config: JsonObject, call: SpentCall): number | null {
  const prices = findModel(calledModel(config, call) ?? "")?.prices;
  return prices && usedTokens(call.usage) > 0 ? priceOf(call.usage, prices) : null;
}

/** What the calls of a session used. */
export async function spentBy(store: Store, scope: Scope, { metadata }: SessionInfo): Promise<Spent> {
  const { uuid, config } = metadata;
  let sum = nothingSpent;
  for await (const call of store.read(scope, uuid, { kind: "usage" })) {
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = call.usage;
    if (input + output === 0) continue;
    const name = calledModel(config, call) ?? "";
    const dollars = dollarsFor(config, call);
    const price = dollars === null ? { unpriced: 1, unpricedModels: [name] } : { unpriced: 0, unpricedModels: [] };
    sum = addedSpent(sum, { calls: 1, input, output, cacheRead, cacheWrite, dollars, ...price });
  }
  return sum;
}
