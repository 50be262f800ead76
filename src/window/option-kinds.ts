/** The kinds of options that strategies share with the presets built on them. */
import { fieldsOf, kinds, locale, oneOf, part, recordOf, share, whole } from "./options.ts";
import type { Kind } from "./options.ts";
import type { SummarisingOptions } from "./summary/strategy-hooks.ts";

/** The kinds of options of every summarising strategy. */
export const summarisingKinds = {
  maxSummaryTokens: whole(1),
  message: fieldsOf({ role: oneOf("user", "assistant", "system"), prefix: kinds.text, locale }),
  prompt: kinds.text,
  keepImportance: part,
  locale,
} as const satisfies Record<keyof SummarisingOptions, Kind>;

/** The kinds of a summary by turns. */
export const rollingKinds = {
  threshold: whole(1),
  oldest: whole(1),
  compressionModel: kinds.text,
  ...summarisingKinds,
} as const;

/** The kinds of a summary at a share of the budget. */
export const thresholdKinds = {
  ratio: share,
  minMessages: whole(1),
  keepRecent: whole(0),
  mode: oneOf("any", "all"),
  ...summarisingKinds,
} as const;

/** The kinds of a state that stands for the conversation. */
export const entityKinds = {
  schema: recordOf(kinds.text),
  extract: kinds.action,
  role: oneOf("user", "system"),
} as const;

/** The kinds of the three layers. */
export const layerKinds = {
  keepRecentToolResults: whole(0),
  keepRecentThinking: whole(0),
  keepRecentMessages: whole(0),
  headLines: whole(0),
  tailLines: whole(0),
} as const;
