/** A memory of a store's own sessions, searched by words with the index of `windrow search`. */
import type { Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { termsOf } from "../window/recall/terms.ts";
import type { Memory, MemoryPassage, MemoryQuery } from "./memory.ts";
import { earlierTasks } from "./similar/earlier.ts";
import { similarTasks, wordScores } from "./similar/similar.ts";
import type { SimilarQuery, SimilarTask } from "./similar/similar.ts";
import { IndexedStore } from "./store/indexed-store.ts";
import type { IndexedStoreOptions } from "./store/indexed-store.ts";
import { mostCandidates, passagesOf } from "./store/passages.ts";

/** Options of {@link storeMemory}. */
export interface StoreMemoryOptions extends IndexedStoreOptions {
  /** The name for people and logs. Default `store`. */
  readonly name?: string;
}

/** A memory over a store's sessions, which also knows what was done in them. */
export interface StoreMemory extends Memory {
  /**
   * Past sessions about a task, the most alike first: how each ended, what was done, and the passages that say so.
   *
   * @throws WindrowError `bad-option` without a text or a session, `session-not-found`
   */
  similar(query: SimilarQuery, signal?: AbortSignal): Promise<readonly SimilarTask[]>;
}

/**
 * A memory over the sessions of a store. It is handed nothing: the log is its source, and every question first adds to the
 * index what was written since. Closing it leaves the store open.
 *
 * @example
 * const memory = storeMemory(store, { index: searchFolderOf("./contexts"), scope: { user: "ann" } });
 * const passages = await memory.query({ text: "How did we fix the login?", counter: estimate });
 */
export function storeMemory(store: Store, options: StoreMemoryOptions = {}): StoreMemory {
  const { name = "store" } = options;
  const sessions = new IndexedStore(store, options);
  const memory: StoreMemory = {
    name,
    readsStore: true,
    receive: async () => undefined,

    async query(query: MemoryQuery, signal?: AbortSignal): Promise<readonly MemoryPassage[]> {
      const terms = new Set(termsOf(query.text));
      if (terms.size === 0) return [];
      return sessions.ask(async (index) => {
        const field = sessions.field(index, query.where, query.asking);
        const ranked = await new Turns(signal).run(index.rank(terms, { ...field, limit: mostCandidates }));
        return passagesOf(sessions, index, ranked, query, ["words"], signal);
      }, signal);
    },

    earlierTasks: (query, signal) => earlierTasks((asked, limit) => memory.similar(asked, limit), query, signal),

    similar: (query, signal) =>
      similarTasks(sessions, query, (index, text, entries) => wordScores(index, text, entries, signal), signal),

    close: async () => undefined,
  };
  return memory;
}
