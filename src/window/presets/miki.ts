/** Preset miki, with the literal numbers of docs/presets.md. */
import { keepImportant } from "../passes/keep-important.ts";
import { pruneUiTree } from "../passes/prune-ui-tree.ts";
import { uiToolNames } from "../passes/importance.ts";
import type { Strategy } from "../window.ts";

/** The preset's eight limits (its HISTORY_CONFIG), in characters, elements and levels. */
export const mikiLimits = {
  /** Most messages in the window. */
  maxMessages: 24,
  /** Longest text in a dump. */
  maxTextChars: 1_000,
  /** Longest data string of a dump. */
  maxDataChars: 2_000,
  /** Most elements of one list of a dump. */
  maxUiNodes: 200,
  /** Deepest level of a dump, the top being 0. */
  maxUiDepth: 2,
  /** Most children of one element. */
  maxUiChildren: 20,
  /** Most elements of a web page. */
  maxWebElements: 200,
  /** Most actions of one element. */
  maxActions: 8,
};

/** Values of the limits. */
export type MikiLimits = Readonly<typeof mikiLimits>;

/** The preset's advice for `maxMessages`: fewest and most, by the size of the job. */
export const mikiSizes = { short: [12, 16], normal: [20, 24], complex: [30, 40] } as const;

/** Options of {@link miki}. */
export interface MikiOptions extends Partial<MikiLimits> {
  /** Takes the most messages that are advised for jobs of a size. Default `normal`: 24. */
  readonly size?: keyof typeof mikiSizes;
  /** Tools whose results are dumps. Default `elementsJson`, `webElements`. */
  readonly tools?: readonly string[];
}

/**
 * On every call, dumps of the two tools are cut to the limits; beyond 24 messages the newest 40 % stay (10 of 24) and of
 * the older ones the most important.
 */
export function miki({ size = "normal", tools = uiToolNames, ...options }: MikiOptions = {}): Strategy {
  const given = { ...mikiLimits, maxMessages: mikiSizes[size][1], ...options };
  const { maxMessages, maxUiNodes: maxNodes, maxUiDepth: maxDepth, maxUiChildren: maxChildren, ...cuts } = given;
  return {
    name: "miki",
    passes: [
      pruneUiTree({ rule: "limits", limits: { ...cuts, maxNodes, maxDepth, maxChildren }, tools }),
      keepImportant({ messages: maxMessages, keepRecentRatio: 0.4, note: false }),
    ],
    trigger: { messages: 0 },
    lowWater: 1,
    keepFirstUser: false,
    settings: { counter: "chars4-ceil", imageTokens: 100, locale: "ja" },
  };
}
