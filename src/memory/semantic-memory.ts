/** A memory of a store's own sessions, searched by words and by meaning. */
import { WindrowError } from "../errors.ts";
import { messageText } from "../message/message.ts";
import { answerOf, inform } from "../handed-in.ts";
import type { Handed } from "../handed-in.ts";
import { checkedVectors } from "../model/answer.ts";
import type { EmbedderLike } from "../model/model.ts";
import { lockFolder } from "../search/folder.ts";
import { best, Gathered, neighbouring } from "../search/rank.ts";
import type { RankedMessage } from "../search/rank.ts";
import type { SearchIndex } from "../search/search.ts";
import type { IndexedEntry } from "../search/table.ts";
import { Vectors } from "../search/vectors.ts";
import type { MessageVector } from "../search/vectors.ts";
import { infoIfThere } from "../store/if-there.ts";
import type { Store } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { warnOnce } from "../warn.ts";
import { termsOf } from "../window/recall/terms.ts";
import type { MemoryPassage, MemoryQuery } from "./memory.ts";
import { within } from "./offload/limit.ts";
import { earlierTasks } from "./similar/earlier.ts";
import { similarTasks, wordScores } from "./similar/similar.ts";
import { IndexedStore } from "./store/indexed-store.ts";
import { mostCandidates, passagesOf } from "./store/passages.ts";
import type { StoreMemory, StoreMemoryOptions } from "./store-memory.ts";

/** Options of {@link semanticMemory}. */
export interface SemanticMemoryOptions extends StoreMemoryOptions {
  /** Makes vectors of texts. Those of one without an `id` are kept in memory alone. */
  readonly embedder: EmbedderLike;
  /** The share of words in a score; the rest is meaning. Default 0.6. */
  readonly lexicalShare?: number;
  /** Whether the model understands a text; of others only the words count. Default: it understands all. */
  readonly understands?: (text: string) => boolean;
  /** Whether `similar` weighs meaning too. Default false: where it was measured, words alone found more. */
  readonly similarByMeaning?: boolean;
  /** Most messages that one question has embedded, newest first; {@link SemanticMemory.embed} does all. Default 1,000. */
  readonly mostNew?: number;
  /** Milliseconds that the embedder may take for one batch. Default 10,000. */
  readonly timeout?: number;
  /** Receives why a question was answered by words alone. Default: the process warns once. */
  readonly onFallback?: (reason: string) => void;
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

const understood: Handed<boolean> = {
  name: "`understands`",
  code: "embedder-failed",
  wanted: "true or false, at once",
  otherwise: "Such texts count as understood.",
  read: (answer) => (typeof answer === "boolean" ? answer : undefined),
};

/** Texts of one request to the embedder, and characters of each that it is given. */
const batchSize = 64;
const embeddedCharacters = 2_000;

/**
 * As `storeMemory`, by the sum of two scores: that of words, and the nearness of vectors. Each is spread on neighbours and
 * brought to between 0 and 1. Texts go to the embedder as the store keeps them, masked. Where the embedder fails, words
 * alone answer; each passage says by which signals.
 */
export function semanticMemory(store: Store, options: SemanticMemoryOptions): SemanticMemory {
  const { name = "semantic", lexicalShare = 0.6, understands = () => true } = options;
  const { mostNew = 1_000, similarByMeaning = false, onFallback } = options;
  const sessions = new IndexedStore(store, options);
  const meaning = new Meaning(sessions, options);

  /** The nearness of each message to a text, by number; undefined where it cannot be had. */
  const nearnessOf = async (
    index: SearchIndex,
    text: string,
    entries: readonly IndexedEntry[],
    signal: AbortSignal | undefined,
    asked?: (number: number) => boolean,
  ): Promise<Float64Array | undefined> => {
    if (
      !answerOf(
        understands,
        understood,
        () => understands(text),
        () => true,
      )
    )
      return undefined;
    try {
      const wanted = await meaning.vectorOf(text, signal);
      await meaning.embed(index, entries, { most: mostNew, ...(asked && { asked }) }, signal);
      return meaning.nearness(index, wanted, entries, asked);
    } catch (error) {
      signal?.throwIfAborted();
      const reason = sessions.mask(error instanceof Error ? error.message : String(error));
      const hint = `The memory "${name}" answers by words alone: ${reason} The option \`onFallback\` receives such reasons.`;
      if (onFallback) inform(onFallback, reason, "a fallback to words");
      else warnOnce(options.embedder, "embedder-failed", hint);
      return undefined;
    }
  };

  const memory: SemanticMemory = {
    name,
    readsStore: true,
    receive: async () => undefined,

    query: (query: MemoryQuery, signal?: AbortSignal): Promise<readonly MemoryPassage[]> =>
      sessions.ask(async (index) => {
        const field = sessions.field(index, query.where, query.asking);
        const terms = new Set(termsOf(query.text));
        const words = await new Turns(signal).run(index.scores(terms, field.entries));
        const near = await nearnessOf(index, query.text, field.entries, signal);
        const asked = { ...field, limit: mostCandidates };
        const ranked: readonly RankedMessage[] = near
          ? await new Turns(signal).run(best(asked, combined(field.entries, words, near, lexicalShare), new Gathered()))
          : await new Turns(signal).run(best(asked, words));
        return passagesOf(sessions, index, ranked, query, near ? ["words", "meaning"] : ["words"], signal);
      }, signal),

    earlierTasks: (query, signal) => earlierTasks((asked, limit) => memory.similar(asked, limit), query, signal),

    similar: (query, signal) =>
      similarTasks(
        sessions,
        query,
        async (index, text, entries) => {
          const words = await wordScores(index, text, entries, signal);
          if (!similarByMeaning) return words;
          // A session's task is what its user asked first: nothing else of it is embedded for this.
          const requests = entries.map((entry) => requestOf(index, entry));
          const asked = new Set(requests);
          const near = await nearnessOf(index, text, entries, signal, (number) => asked.has(number));
          if (!near) return words;
          const nearest = requests.map((number) => (number === undefined ? 0 : near[number]!));
          const [top, most] = [largest(words.sessions), largest(nearest)];
          const scores = words.sessions.map(
            (score, place) => (lexicalShare * score) / top + ((1 - lexicalShare) * nearest[place]!) / most,
          );
          return { ...words, sessions: scores, signals: ["words", "meaning"] };
        },
        signal,
      ),

    embed: (signal) =>
      sessions.ask((index) => meaning.embed(index, sessions.field(index).entries, { most: Infinity }, signal), signal),

    close: async () => undefined,
  };
  return memory;

  /** Two scores of messages as one; each spread on neighbours, then from 0 to 1. */
  function combined(
    entries: readonly IndexedEntry[],
    words: Float64Array,
    near: Float64Array,
    share: number,
  ): Float64Array {
    const [one, other] = [neighbouring(entries, words), neighbouring(entries, near)];
    const [top, most] = [largest(one), largest(other)];
    return one.map((score, number) => (share * score) / top + ((1 - share) * other[number]!) / most);
  }
}

/** The number of what a session's user said first. */
function requestOf(index: SearchIndex, { stretches }: IndexedEntry): number | undefined {
  for (const { number, count } of stretches) {
    for (let one = number; one < number + count; one++) if (index.isUser(one)) return one;
  }
  return undefined;
}

/** Messages that are to have vectors. */
interface Wanted {
  /** The most of them. */
  readonly most: number;
  /** Whether a message is one, by its number. Default: each. */
  readonly asked?: (number: number) => boolean;
}

/** The largest of scores from 0 on; at least a number that can be divided by. */
function largest(scores: ArrayLike<number>): number {
  let most = Number.MIN_VALUE;
  for (let place = 0; place < scores.length; place++) most = Math.max(most, scores[place]!);
  return most;
}

/** The vectors of a store's messages, made where they are missing. */
class Meaning {
  readonly #sessions: IndexedStore;
  readonly #embedder: EmbedderLike;
  readonly #timeout: number;
  #vectors: Vectors | undefined;

  constructor(sessions: IndexedStore, { embedder, timeout = 10_000 }: SemanticMemoryOptions) {
    this.#sessions = sessions;
    this.#embedder = embedder;
    this.#timeout = timeout;
  }

  /** The vector of a question. */
  async vectorOf(text: string, signal?: AbortSignal): Promise<Float32Array> {
    const [vector] = await this.#ask([this.#shown(text)], signal);
    return vector!;
  }

  /** Embeds messages that have no vector, newest first; returns how many. */
  async embed(
    index: SearchIndex,
    entries: readonly IndexedEntry[],
    wanted: Wanted,
    signal?: AbortSignal,
  ): Promise<number> {
    // The dimension of the model's vectors says which file has them.
    if (!this.#vectors) await this.#ask(["."], signal);
    this.#vectors?.refresh();
    const missing = this.#missing(index, entries, wanted);
    for (let from = 0; from < missing.length; from += batchSize) {
      signal?.throwIfAborted();
      const batch = missing.slice(from, from + batchSize);
      const messages = await this.#sessions.messages(batch, signal);
      const given = batch.flatMap((hit) => {
        const message = messages.get(hit.number);
        return message ? [{ hit, text: this.#shown(messageText(message)) }] : [];
      });
      if (given.length === 0) continue;
      const vectors = await this.#ask(
        given.map(({ text }) => text),
        signal,
      );
      const made = given.map(({ hit }, place): MessageVector => ({
        sessionId: hit.entry.id,
        seq: hit.seq,
        vector: vectors[place]!,
      }));
      const { folder } = this.#sessions;
      const lock = folder === undefined ? undefined : lockFolder(folder);
      try {
        // A session may have been erased since. While the folder is locked, an erasure takes no vectors out, and is tried again.
        const there = new Set<string>();
        for (const id of new Set(made.map(({ sessionId }) => sessionId))) {
          if (await infoIfThere(this.#sessions.store, this.#sessions.scope, id)) there.add(id);
        }
        this.#vectors?.add(
          made.filter(({ sessionId }) => there.has(sessionId)),
          lock !== undefined,
        );
      } finally {
        lock?.release();
      }
    }
    return missing.length;
  }

  /** How near each message is to a vector, above the mean of all; 0 for those without one. */
  nearness(
    index: SearchIndex,
    wanted: Float32Array,
    entries: readonly IndexedEntry[],
    asked?: (number: number) => boolean,
  ): Float64Array {
    const { dimensions = wanted.length } = this.#vectors ?? {};
    if (dimensions !== wanted.length)
      throw new WindrowError(
        "model-failed",
        `The embedder answered vectors of ${wanted.length} numbers, and then of ${dimensions}.`,
      );
    const near = new Float64Array(index.next);
    let sum = 0;
    let count = 0;
    for (const { id, stretches } of entries) {
      for (const { number, from, count: length } of stretches) {
        for (let one = 0; one < length; one++) {
          const vector = asked?.(number + one) === false ? undefined : this.#vectors?.of(id, from + one);
          if (!vector) continue;
          let product = 0;
          for (let at = 0; at < vector.length; at++) product += vector[at]! * wanted[at]!;
          near[number + one] = product;
          sum += product;
          count++;
        }
      }
    }
    const mean = sum / Math.max(1, count);
    return near.map((product) => (product === 0 ? 0 : Math.max(0, product - mean)));
  }

  #missing(index: SearchIndex, entries: readonly IndexedEntry[], { most, asked }: Wanted): readonly RankedMessage[] {
    const missing: RankedMessage[] = [];
    for (const entry of entries.toSorted((left, right) => right.session.created - left.session.created)) {
      for (const { number, from, count } of entry.stretches.toReversed()) {
        for (let one = count - 1; one >= 0; one--) {
          if (missing.length >= most) return missing;
          if (
            asked?.(number + one) === false ||
            index.charactersOf(number + one) === 0 ||
            this.#vectors?.of(entry.id, from + one)
          )
            continue;
          missing.push({ entry, number: number + one, seq: from + one, score: 0 });
        }
      }
    }
    return missing;
  }

  #shown(text: string): string {
    return this.#sessions.mask(text).slice(0, embeddedCharacters).toWellFormed();
  }

  /** Vectors of length 1; those of another dimension than before begin a file of their own. */
  async #ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const { id } = this.#embedder;
    const answer = await within(this.#timeout, async (limited) => this.#embedder(texts, limited), signal);
    const vectors = checkedVectors(answer, texts.length, id);
    const dimensions = vectors[0]?.length ?? 0;
    if (this.#vectors?.dimensions !== dimensions) {
      this.#vectors = new Vectors(id === undefined ? undefined : this.#sessions.folder, id ?? "", dimensions);
      this.#vectors.refresh();
    }
    return vectors.map((vector) => {
      const length = Math.hypot(...vector) || 1;
      return Float32Array.from(vector, (one) => one / length);
    });
  }
}
