/** The tokens and the money that a store's sessions used, for metrics. A session is read again only if it changed. */
import type { Scope, Store } from "../../store/store.ts";
import { orUndefined } from "../look/errors.ts";
import { addedSpent, nothingSpent, spentByModel } from "../look/spent.ts";
import type { Spent } from "../look/spent.ts";
import { conversations } from "../../store/memory-logs.ts";

/** What the calls of one model used. */
export interface ModelUsed extends Spent {
  /** The model's id, that of the table if it has it; `unknown` if the calls name none. */
  readonly model: string;
}

/** The usage of a store's sessions, added up. */
export interface Used {
  readonly models: readonly ModelUsed[];
  /** Calls whose model has no price. */
  readonly unpriced: number;
}

interface Known {
  readonly changed: string;
  readonly models: ReadonlyMap<string, Spent>;
}

/** Adds up what the sessions of a store used, for their strategies' own calls too. */
export class UsedTokens {
  #known: ReadonlyMap<string, Known> = new Map();

  /** The sums as they are now. Nothing is read of a session whose state is as it was; sessions that went are in no sum. */
  async measure(store: Store, scope: Scope = {}): Promise<Used> {
    const sums = new Map<string, Spent>();
    const known = new Map<string, Known>();
    for await (const { metadata, state } of conversations(store, scope)) {
      const changed = `${state.status} ${state.updatedAt} ${state.llmCallCount} ${state.totalTokensUsed}`;
      const before = this.#known.get(metadata.uuid);
      // A session that went meanwhile, or that cannot be read, has nothing to tell; the monitor tells of the latter.
      const read = (): Promise<Known["models"]> => spentByModel(store, scope, metadata);
      const models = before?.changed === changed ? before.models : await orUndefined(read);
      if (!models) continue;
      known.set(metadata.uuid, { changed, models });
      for (const [model, spent] of models) sums.set(model, addedSpent(sums.get(model) ?? nothingSpent, spent));
    }
    this.#known = known;
    const models = [...sums].map(([model, spent]) => ({ model: model === "" ? "unknown" : model, ...spent }));
    return { models, unpriced: models.reduce((sum, { unpriced }) => sum + unpriced, 0) };
  }
}
