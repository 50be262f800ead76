/** The tokens and the money that a store's sessions used, for metrics. A session is read again only where it changed. */
import { isWindrowError } from "../../errors.ts";
import type { Scope, SessionMetadata, Store } from "../../store/store.ts";
import { calledModel } from "../../message/record.ts";
import { dollarsFor } from "../look/spent.ts";
import { findModel } from "../../tokens/models.ts";
import { conversations } from "../../store/memory-logs.ts";

/** The tokens that calls of one model used. */
export interface ModelUsed {
  /** The model's id, that of the table where it has it; `unknown` where the calls name none. */
  readonly model: string;
  readonly calls: number;
  /** Input tokens, cached ones included. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** At list prices, in US dollars; null where the model has none. */
  readonly dollars: number | null;
}

/** The usage of a store's sessions, added up. */
export interface Used {
  readonly models: readonly ModelUsed[];
  /** Calls whose model has no price. */
  readonly unpriced: number;
}

interface Known {
  readonly changed: string;
  readonly models: readonly ModelUsed[];
}

/**
 * Adds up what the sessions of a store used, of their strategies' own calls too.
 */
export class UsedTokens {
  readonly #known = new Map<string, Known>();

  /**
   * The sums as they are now. Of a session that has no newer state than at the last look, nothing is read; sessions that
   * went are in no sum.
   */
  async measure(store: Store, scope: Scope = {}): Promise<Used> {
    const sums = new Map<string, ModelUsed>();
    const seen = new Set<string>();
    for await (const { metadata, state } of conversations(store, scope)) {
      const id = metadata.uuid;
      const changed = `${state.status} ${state.updatedAt} ${state.llmCallCount} ${state.totalTokensUsed}`;
      const models = await this.#session(store, scope, metadata, changed);
      if (!models) continue;
      seen.add(id);
      for (const used of models) sums.set(used.model, added(sums.get(used.model), used));
    }
    for (const id of this.#known.keys()) if (!seen.has(id)) this.#known.delete(id);
    const models = [...sums.values()];
    return { models, unpriced: models.reduce((sum, { calls, dollars }) => sum + (dollars === null ? calls : 0), 0) };
  }

  async #session(
    store: Store,
    scope: Scope,
    { uuid: id, config }: SessionMetadata,
    changed: string,
  ): Promise<readonly ModelUsed[] | undefined> {
    const known = this.#known.get(id);
    if (known?.changed === changed) return known.models;
    const sums = new Map<string, ModelUsed>();
    try {
      for await (const call of store.read(scope, id, { kind: "usage" })) {
        const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = call.usage;
        if (input + output === 0) continue;
        const named = calledModel(config, call) ?? "unknown";
        const model = findModel(named)?.id ?? named;
        const dollars = dollarsFor(config, call);
        sums.set(model, added(sums.get(model), { model, calls: 1, input, output, cacheRead, cacheWrite, dollars }));
      }
    } catch (error) {
      // A session that went meanwhile, or that cannot be read, has nothing to tell; the monitor tells of the latter.
      if (isWindrowError(error)) return undefined;
      throw error;
    }
    const models = [...sums.values()];
    this.#known.set(id, { changed, models });
    return models;
  }
}

function added(sum: ModelUsed | undefined, used: ModelUsed): ModelUsed {
  if (!sum) return used;
  return {
    model: used.model,
    calls: sum.calls + used.calls,
    input: sum.input + used.input,
    output: sum.output + used.output,
    cacheRead: sum.cacheRead + used.cacheRead,
    cacheWrite: sum.cacheWrite + used.cacheWrite,
    dollars: sum.dollars === null || used.dollars === null ? null : sum.dollars + used.dollars,
  };
}
