/** The strategies: which passes run, when, and down to which size. */
import { defined } from "../../message/json.ts";
import type { Strategy } from "../window.ts";
import { digest } from "../passes/digest.ts";
import { dropOldest, keepRecent } from "../passes/dropping.ts";
import { summarisingStrategy } from "../summary/strategy.ts";
import type { SummarisingOptions } from "../summary/summary.ts";
import { checkedExtract, keepState } from "../passes/keep-state.ts";
import type { ExtractState } from "../passes/keep-state.ts";
import { extractEntities, fitEntities, recordEntities } from "../summary/entities.ts";
import type { EntitySchema } from "../summary/entities.ts";
import { keepImportant } from "../passes/importance.ts";
import type { KeepImportantOptions } from "../passes/importance.ts";
import { pruneUiTree } from "../passes/prune-ui-tree.ts";
import { supersede } from "../passes/supersede.ts";
import { dropReasoning } from "../passes/drop-reasoning.ts";
import { headTailLines } from "../passes/head-tail-lines.ts";
import type { HeadTailOptions } from "../passes/head-tail-lines.ts";

/** The whole history on every call. */
export function none(): Strategy {
  return { name: "none", passes: [], trigger: {}, lowWater: 1, keepFirstUser: false };
}

/** Options of {@link adaptive}. */
export interface AdaptiveOptions {
  /**
   * Share of the budget an epoch brings the window down to. Default: 0.5 or more, by how many calls the budget holds.
   */
  readonly lowWater?: number;
  /** Share of that mark for the newest steps, whole. Default 0.15. */
  readonly tailShare?: number;
  /** The least tokens of windows that size themselves, as {@link Strategy.floor}. Default: they have their budget. */
  readonly floor?: number;
}

/**
 * Composes append-only until the budget is reached; then everything but the task and the newest steps becomes one labelled
 * message, the digest: what was done, with ids for recall, and the lines of it that are worth most. From there the window
 * grows again.
 */
export function adaptive({ lowWater, floor, ...options }: AdaptiveOptions = {}): Strategy {
  return {
    name: "adaptive",
    passes: [digest({ ...options, elastic: lowWater === undefined })],
    trigger: { ratio: 1 },
    lowWater: lowWater ?? 0.5,
    ...defined({ floor }),
    keepFirstUser: true,
    keepTask: true,
  };
}

/** Options of {@link slidingWindow}. */
export interface SlidingWindowOptions {
  /** Share of the budget an epoch brings the window down to. Default 1. */
  readonly lowWater?: number;
  /** Whether the first user message stays. Default false. */
  readonly keepFirstUser?: boolean;
  /** Whether a labelled message stands for what left. Default true; presets leave none. */
  readonly note?: boolean;
}

/**
 * The newest steps get the room beside system, tools and dynamic text; earlier ones leave. No more leaves than the next
 * call needs, so at the budget nearly every step opens an epoch and rewrites the provider's cache. For comparison, and
 * for providers without a cache.
 */
export function slidingWindow({
  lowWater = 1,
  keepFirstUser = false,
  note = true,
}: SlidingWindowOptions = {}): Strategy {
  return {
    name: "sliding-window",
    passes: [dropOldest({ note })],
    trigger: { ratio: 1 },
    lowWater,
    keepFirstUser,
  };
}

/** Options of {@link rollingSummary}. */
export interface RollingSummaryOptions extends SummarisingOptions {
  /** Turns that stand verbatim before the earliest are summarised. Default 10. */
  readonly threshold?: number;
  /** How many of the earliest turns one summary takes in. Default 5. */
  readonly oldest?: number;
  /** The model's name in the preset's configuration, for the host that makes the session's summarizer. */
  readonly compressionModel?: string;
}

/**
 * After a step, beyond the threshold, the earliest turns are worked into one running summary; by the session's summarizer,
 * or of the messages' own sentences. Where no summary comes of it in time, the oldest steps leave at the budget under a
 * message that names them, and the next summary takes them in.
 */
export function rollingSummary({ threshold = 10, oldest = 5, ...options }: RollingSummaryOptions = {}): Strategy {
  const due = `the earliest ${oldest} of more than ${threshold} turns`;
  return summarisingStrategy("rolling-summary", due, {
    ...options,
    trigger: { turns: threshold },
    turns: oldest,
    keepMessages: 0,
  });
}

/** Options of {@link summaryAtThreshold}. */
export interface SummaryAtThresholdOptions extends SummarisingOptions {
  /**
   * Share of the budget at which a summary is due. Default 0.95: it is looked at after a step, before its results come in,
   * and before a window where the host calls `session.prepare()`.
   */
  readonly ratio?: number;
  /** Fewest messages without a summary. Default 10. */
  readonly minMessages?: number;
  /** Newest messages that no summary takes in. Default 5. */
  readonly keepRecent?: number;
  /** Whether both conditions must hold (`all`, default), or one is enough (`any`). */
  readonly mode?: "any" | "all";
}

/**
 * The window is filled by priority: system block, the latest summary, then messages from the newest back to the first
 * that does not fit. Without a model, the summary is made of the messages' own sentences.
 */
export function summaryAtThreshold({
  ratio = 0.95,
  minMessages = 10,
  keepRecent = 5,
  mode = "all",
  ...options
}: SummaryAtThresholdOptions = {}): Strategy {
  const both = mode === "all" ? "and" : "or";
  const due = `over ${Math.round(ratio * 100)} % of the budget ${both} ${minMessages} messages, all but the newest ${keepRecent} messages`;
  return summarisingStrategy("summary-at-threshold", due, {
    ...options,
    trigger: { messages: minMessages - 1, ratio, mode },
    keepMessages: keepRecent,
  });
}

/** Options of {@link entityState}. */
export interface EntityStateOptions {
  /** The fields of the state and the type of each, for example `{ destination: "string: the city", guests: "integer" }`. */
  readonly schema?: EntitySchema;
  /** Updates the state from what the user wrote, without a model. Pure. */
  readonly extract?: ExtractState;
  /** The model that reads the state, by name, for a host that makes the session's summarizer of it. */
  readonly compressionModel?: string;
  /** The role that carries the object. Default `user`. */
  readonly role?: "user" | "system";
  /** Whether a labelled message stands for what left for want of room. Default true; the preset leaves none. */
  readonly note?: boolean;
}

/**
 * With `extract`, every call sees the state, the current user message and the newest step; with a `schema` and the
 * session's summarizer, `session.prepare()` brings the state up to date once for each user message, the first one too.
 * `session.entities()` gives it to the host. Without these there is no state that could stand for the conversation: it stays
 * until the budget is reached, and the report says so.
 */
export function entityState({ schema, extract, role = "user", note = true }: EntityStateOptions = {}): Strategy {
  const base = { name: "entity-state", lowWater: 1, keepFirstUser: false };
  const room = dropOldest({ keepNotes: true, note, reason: "no room, and no state stands for it" });
  if (extract) {
    const read = checkedExtract(extract);
    const update: ExtractState = schema ? (state, text) => fitEntities(schema, state, read(state, text)).state : read;
    return {
      ...base,
      passes: [keepState({ extract: update, role }), room],
      trigger: { messages: 0 },
      beforeCompose: (context) => recordEntities(context, update),
    };
  }
  return {
    ...base,
    passes: [room],
    trigger: { ratio: 1 },
    ...(schema && { beforeCompose: (context, signal) => extractEntities(context, schema, role, signal) }),
    note:
      "There is no model: without a schema and a summarizer (asked in `session.prepare()`), or an `extract`, nothing reads the state: the " +
      "conversation stays until the budget is reached, and then the oldest steps leave.",
  };
}

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
