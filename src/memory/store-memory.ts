/** A memory of a store's own sessions, searched by words with the index of `windrow search`. */
import type { Field, RankedMessage } from "../search/rank.ts";
import type { SearchIndex } from "../search/search.ts";
import type { Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { termsOf } from "../window/recall/terms.ts";
import type { Memory, MemorySignal } from "./memory.ts";
import { earlierTasks } from "./similar/earlier.ts";
import { similarTasks, wordScores } from "./similar/similar.ts";
import type { ScoreTasks, SimilarQuery, SimilarTask } from "./similar/similar.ts";
import { IndexedStore } from "./store/indexed-store.ts";
import type { StoreMemoryOptions } from "./store/indexed-store.ts";
import { mostCandidates, passagesOf } from "./store/passages.ts";

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
  return memoryOver(new IndexedStore(store, options), "store", {
    async rank(index, text, field, signal) {
      return { ranked: await new Turns(signal).run(index.rank(new Set(termsOf(text)), field)), signals: ["words"] };
    },
    scoreTasks: wordScores,
  });
}

/** How a memory of a store's sessions finds what a text is about. */
export interface Finding {
  /** The messages that answer a text, the best first, and the signals by which they were found. */
  rank(
    index: SearchIndex,
    text: string,
    field: Field,
    signal?: AbortSignal,
  ): Promise<{ readonly ranked: readonly RankedMessage[]; readonly signals: readonly MemorySignal[] }>;
  readonly scoreTasks: ScoreTasks;
}

/** A memory of a store's sessions. */
export function memoryOver(sessions: IndexedStore, name: string, finding: Finding): StoreMemory {
  const similar: StoreMemory["similar"] = (query, signal) => similarTasks(sessions, query, finding.scoreTasks, signal);
  return {
    name,
    readsStore: true,
    receive: async () => undefined,
    query: (query, signal) =>
      sessions.ask(async (index) => {
        const field = { ...sessions.field(index, query.where, query.asking), limit: mostCandidates };
        const { ranked, signals } = await finding.rank(index, query.text, field, signal);
        return passagesOf(sessions, index, ranked, query, signals, signal);
      }, signal),
    earlierTasks: (query, signal) => earlierTasks(similar, query, signal),
    similar,
    close: async () => undefined,
  };
}
