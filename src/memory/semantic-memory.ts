/** A memory of a store's own sessions, searched by words and by meaning. */
import { best, Gathered, neighbouring } from "../search/rank.ts";
import type { Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { termsOf } from "../window/recall/terms.ts";
import { wordScores } from "./similar/similar.ts";
import { memoryOver } from "./store-memory.ts";
import type { StoreMemory } from "./store-memory.ts";
import { IndexedStore, messagesIn } from "./store/indexed-store.ts";
import type { StoreMemoryOptions } from "./store/indexed-store.ts";
import { Meaning } from "./store/meaning.ts";
import type { MeaningOptions } from "./store/meaning.ts";

/** Options of {@link semanticMemory}. */
export interface SemanticMemoryOptions extends StoreMemoryOptions, MeaningOptions {
  /** The share of words in a score; the rest is meaning. Default 0.6. */
  readonly lexicalShare?: number;
  /** Whether `similar` weighs meaning too. Default false: where it was measured, words alone found more. */
  readonly similarByMeaning?: boolean;
}

/** A memory that also searches by meaning. */
export interface SemanticMemory extends StoreMemory {
  /**
   * Embeds every message that has no vector yet, newest first. What was done is kept, whatever happens.
   *
   * @returns how many were embedded
   * @throws what the embedder throws
   */
  embed(signal?: AbortSignal): Promise<number>;
}

/**
 * As `storeMemory`, by the sum of two scores: that of words, and the nearness of vectors. Each is spread on neighbours and
 * brought to between 0 and 1. Texts go to the embedder as the store keeps them, masked. Where the embedder fails, words
 * alone answer; each passage says by which signals.
 */
export function semanticMemory(store: Store, options: SemanticMemoryOptions): SemanticMemory {
  const { lexicalShare = 0.6, similarByMeaning = false } = options;
  const sessions = new IndexedStore(store, options);
  const meaning = new Meaning(sessions, options);
  /** Two scores as one, each brought to between 0 and 1. */
  const mixed = (words: Float64Array, near: Float64Array): Float64Array => {
    const [top, most] = [largest(words), largest(near)];
    return words.map((score, at) => (lexicalShare * score) / top + ((1 - lexicalShare) * near[at]!) / most);
  };

  const memory = memoryOver(sessions, "semantic", {
    async rank(index, text, field, signal) {
      const words = await new Turns(signal).run(index.scores(new Set(termsOf(text)), field.entries));
      const near = await meaning.nearness(index, text, field.entries, signal);
      if (!near) return { ranked: await new Turns(signal).run(best(field, words)), signals: ["words"] };
      const scores = mixed(neighbouring(field.entries, words), neighbouring(field.entries, near));
      const ranked = await new Turns(signal).run(best(field, scores, new Gathered()));
      return { ranked, signals: ["words", "meaning"] };
    },

    async scoreTasks(index, text, entries, signal) {
      const words = await wordScores(index, text, entries, signal);
      if (!similarByMeaning) return words;
      // A session's task is what its user asked first: nothing else of it is embedded for this.
      const requests = entries.map(
        (entry) => [...messagesIn(entry)].find(({ number }) => index.isUser(number))?.number ?? -1,
      );
      const asked = new Set(requests);
      const near = await meaning.nearness(index, text, entries, signal, (number) => asked.has(number));
      if (!near) return words;
      const nearest = Float64Array.from(requests, (number) => near[number] ?? 0);
      return { ...words, sessions: mixed(words.sessions, nearest), signals: ["words", "meaning"] };
    },
  });
  return {
    ...memory,
    embed: (signal) => sessions.ask((index) => meaning.embed(index, sessions.field(index).entries, signal), signal),
  };
}

/** The largest of scores from 0 on; at least a number that can be divided by. */
function largest(scores: Float64Array): number {
  return scores.reduce((most, score) => Math.max(most, score), Number.MIN_VALUE);
}
