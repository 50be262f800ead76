/** Money for a model call at list prices. */
import type { ModelPrices } from "./models.ts";

/** The input tokens of a call, by how they are paid for. */
export interface PricedInput {
  /** All input tokens, cached ones included. */
  readonly input: number;
  /** Those that were read from the provider's cache. */
  readonly cacheRead: number;
  /** Those that were written to it. */
  readonly cacheWrite: number;
  /** Those of `cacheWrite` that the cache keeps for an hour. */
  readonly longWrite: number;
}

/** An hour in Anthropic's cache costs twice the price of input (its page on prompt caching); the table has five minutes'. */
const longWriteFactor = 2;

/**
 * A call's price in US dollars.
 *
 * @param output - output tokens, reasoning included
 */
export function dollarsOf(use: PricedInput, output: number, prices: ModelPrices): number {
  const plain = Math.max(0, use.input - use.cacheRead - use.cacheWrite);
  const short = use.cacheWrite - use.longWrite;
  const input = plain * prices.input + use.cacheRead * prices.cacheRead + short * prices.cacheWrite;
  return (input + use.longWrite * longWriteFactor * prices.input + output * prices.output) / 1e6;
}
