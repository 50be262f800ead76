/** Preset miki, with the literal numbers of docs/presets.md. */
import { keepImportant } from "../passes/keep-important.ts";
import { pruneUiTree } from "../passes/prune-ui-tree.ts";
import { uiToolNames } from "../passes/importance.ts";
import { uiLimits } from "../ui/limits.ts";
import type { Strategy } from "../window.ts";

/** The preset's eight limits, in one place (its HISTORY_CONFIG). */
export interface MikiLimits {
  /** Most messages in the window. */
  readonly maxMessages: number;
  /** Longest text in a dump, in characters. */
  readonly maxTextChars: number;
  /** Longest data string of a dump, in characters. */
  readonly maxDataChars: number;
  /** Most elements of one list of a dump. */
  readonly maxUiNodes: number;
  /** Deepest level of a dump, the top being 0. */
  readonly maxUiDepth: number;
  /** Most children of one element. */
  readonly maxUiChildren: number;
  /** Most elements of a web page. */
  readonly maxWebElements: number;
  /** Most actions of one element. */
  readonly maxActions: number;
}

/** The preset's limits: 24/1000/2000/200/2/20/200/8. */
export const mikiLimits: MikiLimits = {
  maxMessages: 24,
  maxTextChars: uiLimits.maxTextChars,
  maxDataChars: uiLimits.maxDataChars,
  maxUiNodes: uiLimits.maxNodes,
  maxUiDepth: uiLimits.maxDepth,
  maxUiChildren: uiLimits.maxChildren,
  maxWebElements: uiLimits.maxWebElements,
  maxActions: uiLimits.maxActions,
};

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
  const limits = { ...mikiLimits, maxMessages: mikiSizes[size][1], ...options };
  const { maxTextChars, maxDataChars, maxWebElements, maxActions } = limits;
  const cuts = { maxTextChars, maxDataChars, maxWebElements, maxActions };
  const { maxUiNodes: maxNodes, maxUiDepth: maxDepth, maxUiChildren: maxChildren } = limits;
  return {
    name: "miki",
    passes: [
      pruneUiTree({ rule: "limits", limits: { ...cuts, maxNodes, maxDepth, maxChildren }, tools }),
      keepImportant({ messages: limits.maxMessages, keepRecentRatio: 0.4, note: false }),
    ],
    trigger: { messages: 0 },
    lowWater: 1,
    keepFirstUser: false,
    settings: { counter: "chars4-ceil", imageTokens: 100, locale: "ja" },
  };
}
