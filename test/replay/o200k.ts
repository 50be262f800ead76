/** The exact counter that the published figures are in. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { TokenCounter } from "windrow";

export const o200k: TokenCounter = {
  name: "o200k",
  count: (text) => countTokens(text, { disallowedSpecial: new Set() }),
};
