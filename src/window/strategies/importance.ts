/** importance: the newest steps and the most important older ones, UI dumps as their interactive elements. */
import { keepImportant } from "../passes/keep-important.ts";
import type { KeepImportantOptions } from "../passes/keep-important.ts";
import { pruneUiTree } from "../passes/prune-ui-tree.ts";
import { supersede } from "../passes/supersede.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link importance}. */
export interface ImportanceOptions extends Omit<KeepImportantOptions, "note"> {
  /** Share of the budget an epoch brings the window down to. Default 0.6. */
  readonly lowWater?: number;
}

/**
 * At the budget, older dumps of screens shrink to their interactive elements, older results of repeated calls give way,
 * and then the least important steps leave. The literal numbers, on every call, are preset `miki`.
 */
export function importance({ lowWater = 0.6, ...options }: ImportanceOptions = {}): Strategy {
  return {
    name: "importance",
    passes: [supersede(), pruneUiTree({ when: "over-target" }), keepImportant(options)],
    trigger: options.messages === undefined ? { ratio: 1 } : { ratio: 1, messages: options.messages },
    lowWater,
    keepFirstUser: true,
  };
}
