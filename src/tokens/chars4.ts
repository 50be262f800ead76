/** The two counters of the seeds: four characters are one token. Far too low on CJK, base64 and hex; kept for presets. */
import type { TokenCounter } from "./counter.ts";

/**
 * `chars4-ceil`, seed 000's counter: `ceil(length / 4)` over UTF-16 code units, and 100 tokens an image
 * (preset `miki`; conflicts C-01, C-02).
 */
export const chars4Ceil: TokenCounter = {
  name: "chars4-ceil",
  imageTokens: 100,
  count: (text) => Math.ceil(text.length / 4),
};

/**
 * `chars4-floor`, seed 001's counter: `floor(length / 4)` over UTF-16 code units, at least 1 for a text that is not
 * empty (preset `coding-agent`; conflict C-01).
 */
export const chars4Floor: TokenCounter = {
  name: "chars4-floor",
  count: (text) => (text === "" ? 0 : Math.max(1, Math.floor(text.length / 4))),
};
