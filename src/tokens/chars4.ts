/**
 * The counters `chars4-ceil` and `chars4-floor`: four characters are one token, and framing is free. Far too low on CJK,
 * base64 and hex; for presets.
 */
import type { TokenCounter } from "./counter.ts";

/**
 * `ceil(length / 4)` over UTF-16 code units, 100 tokens an image, and of calls and results their JSON. The counter of
 * preset `miki` (docs/presets.md).
 */
export const chars4Ceil: TokenCounter = {
  name: "chars4-ceil",
  imageTokens: 100,
  framingTokens: 0,
  jsonCalls: true,
  count: (text) => Math.ceil(text.length / 4),
};

/**
 * `floor(length / 4)` over UTF-16 code units, and at least 1 for a text that is not empty. The counter of preset
 * `coding-agent` (docs/presets.md).
 */
export const chars4Floor: TokenCounter = {
  name: "chars4-floor",
  framingTokens: 0,
  count: (text) => (text === "" ? 0 : Math.max(1, Math.floor(text.length / 4))),
};
