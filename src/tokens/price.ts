/** The price of a model call, by the tokens that it used. */
import type { Usage } from "../message/message.ts";
import type { ModelPrices } from "./models.ts";

/** An hour in Anthropic's cache costs twice the price of input (its page on prompt caching); the table has five minutes'. */
const hourFactor = 2;

/** A call's price at prices a million tokens: in US dollars at those of the table. A count that is absent is 0. */
export function priceOf(usage: Usage, prices: ModelPrices): number {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWriteHour = 0 } = usage;
  const hour = Math.min(cacheWrite, cacheWriteHour);
  const plain = Math.max(0, input - cacheRead - cacheWrite) + hourFactor * hour;
  const cached = cacheRead * prices.cacheRead + (cacheWrite - hour) * prices.cacheWrite;
  return (plain * prices.input + cached + output * prices.output) / 1e6;
}
