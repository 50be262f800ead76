/** layered: older results are cut first, then older reasoning leaves, and only then older messages. */
import { dropReasoning } from "../passes/drop-reasoning.ts";
import { headTailLines } from "../passes/head-tail-lines.ts";
import type { HeadTailOptions } from "../passes/head-tail-lines.ts";
import { keepRecent } from "../passes/keep-recent.ts";
import type { Strategy } from "../window.ts";

/** Options of {@link layered}. */
export interface LayeredOptions {
  /** Newest results that stay whole. Default 6. */
  readonly keepRecentToolResults?: number;
  /** Newest answers that keep their reasoning. Default 1. */
  readonly keepRecentThinking?: number;
  /** Whether a tool loop that is still open keeps all its reasoning, as providers that sign it require. Default true. */
  readonly openLoop?: boolean;
  /** Newest messages the last layer leaves alone. Default 20. */
  readonly keepRecentMessages?: number;
  /** Lines kept at the head of a result. Default 3. */
  readonly headLines?: number;
  /** Lines kept at its tail. Default 2. */
  readonly tailLines?: number;
  /** Share of the budget an epoch brings the window down to. Default 0.6. */
  readonly lowWater?: number;
}

/**
 * The three layers of preset `pi`, run at the budget in one batch, so that the provider's cache lasts between epochs.
 * Results keep their error lines, and long lines are cut. Preset `pi` runs them on every call.
 */
export function layered({ lowWater = 0.6, ...options }: LayeredOptions = {}): Strategy {
  return {
    name: "layered",
    passes: layers(options, { when: "over-target", errorLines: 4, maxLineChars: 400 }, true),
    trigger: { ratio: 1 },
    lowWater,
    keepFirstUser: true,
  };
}

/** The three passes, as the strategy and preset `pi` use them. */
export function layers(
  {
    keepRecentToolResults = 6,
    keepRecentThinking = 1,
    openLoop = true,
    keepRecentMessages = 20,
    headLines = 3,
    tailLines = 2,
  }: Omit<LayeredOptions, "lowWater">,
  results: HeadTailOptions,
  note: boolean,
): Strategy["passes"] {
  return [
    headTailLines({ keepRecent: keepRecentToolResults, headLines, tailLines, ...results }),
    dropReasoning({ keep: keepRecentThinking, openLoop }),
    keepRecent({ messages: keepRecentMessages, note }),
  ];
}
