/** The presets: strategies with the literal numbers of docs/presets.md. */
import { keepImportant, uiToolNames } from "../passes/importance.ts";
import { pruneUiTree } from "../passes/prune-ui-tree.ts";
import type { Strategy, StrategyHook, StrategySettings } from "../window.ts";
import { entityState, layers, rollingSummary, slidingWindow, summaryAtThreshold } from "./strategies.ts";
import type {
  EntityStateOptions,
  LayeredOptions,
  RollingSummaryOptions,
  SummaryAtThresholdOptions,
} from "./strategies.ts";
import type { Locale } from "../../config/locale.ts";
import { summarisingStrategy } from "../summary/strategy.ts";
import type { SummarisingOptions, SummaryMessageOptions } from "../summary/summary.ts";

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

/** Options of {@link codingAgent}. */
export interface CodingAgentOptions extends Omit<SummaryAtThresholdOptions, "ratio"> {
  /** Share of the contextWindow at which a summary is due (compression_threshold). Default 0.7. */
  readonly ratio?: number;
}

/**
 * A summary is due over 0.7 of the contextWindow and 10 messages; the newest 5 stay out of it. The window is the system
 * block, the latest summary, and the newest messages that fit.
 */
export function codingAgent({ ratio, locale = "ja", ...options }: CodingAgentOptions = {}): Strategy {
  return {
    ...summaryAtThreshold({ ...options, locale, ratio: 1 }),
    name: "coding-agent",
    settings: {
      counter: "chars4-floor",
      ratio: ratio ?? 0.7,
      ...(ratio !== undefined && { ratioOption: "ratio" }),
      locale,
      folder: "logs/contexts",
      maskEmail: true,
    },
  };
}

/** Options of {@link openstarrySummary}. */
export type OpenstarrySummaryOptions = RollingSummaryOptions;
/** Options of {@link openstarryEntity}. */
export type OpenstarryEntityOptions = Omit<EntityStateOptions, "note">;

/** Strategy A, the preset's default: what system, tools and dynamic context leave goes to the newest messages. */
export function openstarrySliding(): Strategy {
  return { ...slidingWindow({ note: false }), name: "openstarry-sliding", settings: settings() };
}

/** The recommended one of the three: beyond 10 turns a light model folds the earliest 5 into a running summary. */
export function openstarrySummary({ locale = "zh", ...options }: OpenstarrySummaryOptions = {}): Strategy {
  return { ...rollingSummary({ ...options, locale }), name: "openstarry-summary", settings: settings(locale) };
}

/** Strategy C: no conversation, only the state that a schema describes. */
export function openstarryEntity(options: OpenstarryEntityOptions = {}): Strategy {
  return { ...entityState({ ...options, note: false }), name: "openstarry-entity", settings: settings() };
}

function settings(locale: Locale = "zh"): StrategySettings {
  return { counter: "estimate", locale };
}

/** Options of {@link piPreset}: the preset's six constants, and the language of its mark. */
export interface PiOptions extends Omit<LayeredOptions, "lowWater"> {
  /** Share of the contextWindow that a request may fill (CONTEXT_RATIO). Default 0.75. */
  readonly contextRatio?: number;
  /** The language of the mark for lines left out. Default `zh`. */
  readonly locale?: Locale;
}

/**
 * On every call, results older than the newest 6 and longer than 500 characters keep 3 + 2 lines, and only the newest
 * answer keeps its reasoning. Over 0.75 of the contextWindow, the first user message and the newest 20 messages stay.
 * An open tool loop keeps its reasoning, because providers that sign it require it; `openLoop: false` keeps to the numbers.
 */
export function piPreset({ contextRatio, locale = "zh", ...options }: PiOptions = {}): Strategy {
  return {
    name: "pi",
    passes: layers(options, { minChars: 500, locale }, false),
    trigger: { messages: 0 },
    lowWater: 1,
    keepFirstUser: true,
    settings: {
      counter: "cl100k",
      imageTokens: 85,
      ratio: contextRatio ?? 0.75,
      ...(contextRatio !== undefined && { ratioOption: "contextRatio" }),
      locale,
    },
  };
}

/** Options of {@link stateManager}. */
export interface StateManagerOptions extends SummarisingOptions {
  /** Share of the budget over which a summary is due. Default 0.8. */
  readonly ratio?: number;
  /** Newest turns that no summary takes in. Default 1. */
  readonly keepTurns?: number;
}

/** The first words of a summary, by language; the Japanese ones are the preset's own. */
const prefixes: Readonly<Record<Locale, string>> = {
  ja: "前文の要約：",
  en: "Summary of what went before: ",
  zh: "前文摘要：",
};

/**
 * Over the limit, messages leave from the head, a call never without its result; the system prompt stays. With the
 * session's summarizer, whole turns become a summary before: a system message that begins `前文の要約：`, or so in the language of `locale`.
 */
export function stateManager({
  ratio = 0.8,
  keepTurns = 1,
  locale = "ja",
  ...options
}: StateManagerOptions = {}): Strategy {
  const message: SummaryMessageOptions = { role: "system", prefix: prefixes[locale], ...options.message };
  const hooks = { ...options, locale, message, trigger: { ratio }, keepMessages: 0, keepTurns };
  const strategy = summarisingStrategy("state-manager", "", hooks);
  return {
    ...strategy,
    beforeCompose: withModel(strategy.beforeCompose),
    afterStep: withModel(strategy.afterStep),
    note: `There is no model to summarise: over the budget the oldest steps leave; with one, turns do over ${Math.round(ratio * 100)} %.`,
    settings: { counter: "estimate", locale },
  };
}

/** A hook that does nothing without a summarizer. */
function withModel(hook: StrategyHook): StrategyHook {
  return async (context, signal) => {
    if (context.summarizer) await hook(context, signal);
  };
}
