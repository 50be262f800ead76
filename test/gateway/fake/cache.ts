/** A model of the providers' prompt caches, and of their prices, so that the cost of two ways can be compared. */
import { hash, tokensOf } from "./json.ts";
import type { Reading } from "./reading.ts";

/** In tokens of the fake's estimate. The four add up to the request and its answer. */
export interface Usage {
  readonly fresh: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
}

/** Prices beside that of a fresh token of input. */
const price = { fresh: 1, read: 0.1, written: 1.25, output: 5 };

/** Below this a provider caches nothing. */
const smallest = 1024;
/** Anthropic looks this many blocks back from a mark. */
const lookBack = 20;

/** Cost in fresh input tokens. */
export const costOf = (usage: Usage): number =>
  Object.entries(price).reduce((sum, [name, factor]) => sum + factor * usage[name as keyof Usage], 0);

export interface PromptCache {
  /** Takes a request in, and says what of it was read, written and neither. */
  take(reading: Reading): Omit<Usage, "output">;
}

export function promptCache(): PromptCache {
  const known = new Set<string>();
  return {
    take(reading) {
      const { api, blocks, tools, system, marksBefore } = reading;
      const parts = [tools, system, ...blocks.map(({ value }) => value)];
      let chain = reading.model;
      let tokens = 0;
      const places = parts.map((part, index) => {
        chain = hash(`${chain}\n${part}`);
        tokens += tokensOf(Buffer.byteLength(part));
        const isMarked = index < 2 ? index === 1 && marksBefore > 0 : blocks[index - 2]!.isMarked;
        return { chain, tokens, isMarked, index };
      });
      const ends = api === "anthropic" ? places.filter(({ isMarked }) => isMarked) : places;
      const reachable =
        api === "anthropic"
          ? places.filter(({ index }) => ends.some((mark) => index <= mark.index && index > mark.index - lookBack))
          : places;
      const read = reachable.findLast((place) => known.has(place.chain) && place.tokens >= smallest)?.tokens ?? 0;
      const last = ends.at(-1)?.tokens ?? 0;
      for (const place of ends) known.add(place.chain);
      // Only Anthropic charges for writing.
      const written = api === "anthropic" && last >= smallest ? Math.max(0, last - read) : 0;
      return { read, written, fresh: tokens - read - written };
    },
  };
}
