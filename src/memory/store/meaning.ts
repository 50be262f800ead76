/** The nearness of a store's messages to a text, by vectors that are made where they are missing. */
import { WindrowError } from "../../errors.ts";
import { messageText } from "../../message/message.ts";
import { checkedVectors } from "../../model/answer.ts";
import type { EmbedderLike } from "../../model/model.ts";
import { lockFolder } from "../../search/folder.ts";
import type { RankedMessage } from "../../search/rank.ts";
import type { SearchIndex } from "../../search/search.ts";
import type { IndexedEntry } from "../../search/table.ts";
import { Vectors } from "../../search/vectors.ts";
import { infoIfThere } from "../../store/if-there.ts";
import { warnOnce } from "../../warn.ts";
import { within } from "../offload/limit.ts";
import { messagesIn } from "./indexed-store.ts";
import type { IndexedStore } from "./indexed-store.ts";

/** How vectors are made. */
export interface MeaningOptions {
  /** Makes vectors of texts. Those of one without an `id` are kept in memory alone. */
  readonly embedder: EmbedderLike;
  /** Most messages that one question has embedded, newest first; `embed` of the memory does all. Default 1,000. */
  readonly mostNew?: number;
  /** Milliseconds that the embedder may take for one batch. Default 10,000. */
  readonly timeout?: number;
}

/** Texts of one request to the embedder, and characters of each that it is given. */
const batchSize = 64;
const embeddedCharacters = 2_000;

/** Whether a message is compared, by its number. */
type Asked = (number: number) => boolean;

/** The meaning of a store's messages. */
export class Meaning {
  readonly #sessions: IndexedStore;
  readonly #options: MeaningOptions;
  #vectors: Vectors | undefined;

  constructor(sessions: IndexedStore, options: MeaningOptions) {
    this.#sessions = sessions;
    this.#options = options;
  }

  /**
   * How near each message is to a text, above the mean of all, by number; 0 for those without a vector. Undefined if the
   * embedder fails; the process then warns once.
   */
  async nearness(
    index: SearchIndex,
    text: string,
    entries: readonly IndexedEntry[],
    signal?: AbortSignal,
    asked?: Asked,
  ): Promise<Float64Array | undefined> {
    const { embedder, mostNew = 1_000 } = this.#options;
    try {
      const [wanted] = await this.#ask([text], signal);
      await this.#embed(this.#missing(index, entries, mostNew, asked), signal);
      return this.#compared(index, wanted!, entries, asked);
    } catch (error) {
      signal?.throwIfAborted();
      const reason = this.#sessions.mask(error instanceof Error ? error.message : String(error));
      warnOnce(embedder, "embedder-failed", `The memory "semantic" answers by words alone: ${reason}`);
      return undefined;
    }
  }

  /** Embeds messages that have no vector, newest first; returns how many. */
  async embed(index: SearchIndex, entries: readonly IndexedEntry[], signal?: AbortSignal): Promise<number> {
    // The dimension of the model's vectors says which file has them.
    if (!this.#vectors) await this.#ask(["."], signal);
    const missing = this.#missing(index, entries, Infinity);
    await this.#embed(missing, signal);
    return missing.length;
  }

  async #embed(missing: readonly RankedMessage[], signal: AbortSignal | undefined): Promise<void> {
    const { folder } = this.#sessions;
    for (let from = 0; from < missing.length; from += batchSize) {
      signal?.throwIfAborted();
      const batch = missing.slice(from, from + batchSize);
      const messages = await this.#sessions.messages(batch, signal);
      const given = batch.filter(({ number }) => messages.has(number));
      if (given.length === 0) continue;
      const texts = given.map(({ number }) => messageText(messages.get(number)!));
      const vectors = await this.#ask(texts, signal);
      const made = given.map(({ entry, seq }, at) => ({ sessionId: entry.id, seq, vector: vectors[at]! }));
      const lock = folder === undefined ? undefined : lockFolder(folder);
      try {
        // A session may have been erased since. While the folder is locked, an erasure takes no vectors out, and is tried again.
        const there = new Set<string>();
        for (const id of new Set(made.map(({ sessionId }) => sessionId))) {
          if (await infoIfThere(this.#sessions.store, this.#sessions.scope, id)) there.add(id);
        }
        const kept = made.filter(({ sessionId }) => there.has(sessionId));
        this.#vectors?.add(kept, lock !== undefined);
      } finally {
        lock?.release();
      }
    }
  }

  /** The messages that have no vector, newest first. */
  #missing(
    index: SearchIndex,
    entries: readonly IndexedEntry[],
    most: number,
    asked?: Asked,
  ): readonly RankedMessage[] {
    this.#vectors?.refresh();
    const missing: RankedMessage[] = [];
    for (const entry of entries.toSorted((left, right) => right.session.created - left.session.created)) {
      for (const { number, seq } of [...messagesIn(entry)].toReversed()) {
        if (missing.length >= most) return missing;
        const isWanted = asked?.(number) !== false && index.charactersOf(number) > 0;
        if (isWanted && !this.#vectors?.of(entry.id, seq)) missing.push({ entry, number, seq, score: 0 });
      }
    }
    return missing;
  }

  #compared(index: SearchIndex, wanted: Float32Array, entries: readonly IndexedEntry[], asked?: Asked): Float64Array {
    const { dimensions = wanted.length } = this.#vectors ?? {};
    if (dimensions !== wanted.length) {
      const message = `The embedder answered vectors of ${wanted.length} numbers, and then of ${dimensions}.`;
      throw new WindrowError("model-failed", message);
    }
    const near = new Float64Array(index.next);
    let sum = 0;
    let count = 0;
    for (const entry of entries) {
      for (const { number, seq } of messagesIn(entry)) {
        const vector = asked?.(number) === false ? undefined : this.#vectors?.of(entry.id, seq);
        if (!vector) continue;
        let product = 0;
        for (let at = 0; at < vector.length; at++) product += vector[at]! * wanted[at]!;
        near[number] = product;
        sum += product;
        count++;
      }
    }
    const mean = sum / Math.max(1, count);
    return near.map((product) => (product === 0 ? 0 : Math.max(0, product - mean)));
  }

  /** Vectors of length 1; those of another dimension than before begin a file of their own. */
  async #ask(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const { embedder, timeout = 10_000 } = this.#options;
    const shown = texts.map((text) => this.#sessions.mask(text).slice(0, embeddedCharacters).toWellFormed());
    const answer = await within(timeout, async (limited) => embedder(shown, limited), signal);
    const vectors = checkedVectors(answer, texts.length, embedder.id);
    const dimensions = vectors[0]?.length ?? 0;
    if (this.#vectors?.dimensions !== dimensions) {
      const folder = embedder.id === undefined ? undefined : this.#sessions.folder;
      this.#vectors = new Vectors(folder, embedder.id ?? "", dimensions);
      this.#vectors.refresh();
    }
    return vectors.map((vector) => {
      const length = Math.hypot(...vector) || 1;
      return Float32Array.from(vector, (one) => one / length);
    });
  }
}
