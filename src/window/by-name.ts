/** Strategies and presets by name, and strategies of modules that a config or a `plugin.json` names. */
import { WindrowError } from "../errors.ts";
import type { JsonObject } from "../message/message.ts";
import { isObject, jsonFault, parseJson } from "../message/json.ts";
import { nearest } from "../nearest.ts";
import {
  anyOf,
  checkGiven,
  fieldsOf,
  having,
  kinds,
  listOf,
  locale,
  oneOf,
  orAbsent,
  part,
  recordOf,
  share,
  whole,
} from "./options.ts";
import type { Kind } from "./options.ts";
import {
  codingAgent,
  miki,
  mikiSizes,
  openstarryEntity,
  openstarrySliding,
  openstarrySummary,
  piPreset,
  stateManager,
} from "./strategies/presets.ts";
import {
  adaptive,
  entityState,
  importance,
  layered,
  none,
  rollingSummary,
  slidingWindow,
  summaryAtThreshold,
} from "./strategies/strategies.ts";
import type { ImportanceOptions } from "./strategies/strategies.ts";
import type { Strategy, StrategyChoice } from "./window.ts";

/** Makes a strategy; checks the names and the values of its options. */
type Maker = (owner: string, options: object) => Strategy;

/** A maker with the kinds of its options; the compiler asks for every name of `Options`. */
function maker<Options extends object>(
  make: (options?: Options) => Strategy,
  table: Readonly<Record<keyof Options, Kind>>,
): Maker {
  return (owner, options) => {
    checkGiven(owner, options, table);
    return make(options as Options);
  };
}

/** The kinds of options of every summarising strategy. */
const summarisingKinds = {
  maxSummaryTokens: whole(1),
  message: fieldsOf({ role: oneOf("user", "assistant", "system"), prefix: kinds.text, locale }),
  prompt: kinds.text,
  keepImportance: part,
  score: anyOf(kinds.action, oneOf("model")),
  locale,
} as const;

/** The kinds of a summary by turns. */
const rollingKinds = {
  threshold: whole(1),
  oldest: whole(1),
  compressionModel: kinds.text,
  ...summarisingKinds,
} as const;

/** The kinds of a summary at a share of the budget. */
const thresholdKinds = {
  ratio: share,
  minMessages: whole(1),
  keepRecent: whole(0),
  mode: oneOf("any", "all"),
  ...summarisingKinds,
} as const;

/** The kinds of a state that stands for the conversation. */
const entityKinds = {
  schema: recordOf(kinds.text),
  extract: kinds.action,
  compressionModel: kinds.text,
  role: oneOf("user", "system"),
} as const;

/** The kinds of the three layers. */
const layerKinds = {
  keepRecentToolResults: whole(0),
  keepRecentThinking: whole(0),
  openLoop: kinds.flag,
  keepRecentMessages: whole(0),
  headLines: whole(0),
  tailLines: whole(0),
} as const;

const weightKinds = {
  base: kinds.number,
  error: kinds.number,
  completion: kinds.number,
  planning: kinds.number,
  screenshot: kinds.number,
  refetchable: kinds.number,
} as const satisfies Record<keyof NonNullable<ImportanceOptions["weights"]>, Kind>;

const strategies: Readonly<Record<string, Maker>> = {
  "none": maker(none, {}),
  "adaptive": maker(adaptive, {
    lowWater: share,
    tailShare: share,
    floor: whole(1),
  }),
  "sliding-window": maker(slidingWindow, {
    lowWater: share,
    keepFirstUser: kinds.flag,
    note: kinds.flag,
  }),
  "rolling-summary": maker(rollingSummary, rollingKinds),
  "summary-at-threshold": maker(summaryAtThreshold, thresholdKinds),
  "entity-state": maker(entityState, { ...entityKinds, note: kinds.flag }),
  "importance": maker(importance, {
    messages: whole(1),
    keepRecentRatio: part,
    weights: fieldsOf(weightKinds),
    ties: oneOf("newest", "oldest"),
    score: kinds.action,
    lowWater: share,
  }),
  "layered": maker(layered, { ...layerKinds, lowWater: share }),
};

const mikiKinds = {
  size: oneOf(...Object.keys(mikiSizes)),
  tools: listOf(kinds.text),
  maxMessages: whole(1),
  maxTextChars: whole(1),
  maxDataChars: whole(1),
  maxUiNodes: whole(0),
  maxUiDepth: whole(0),
  maxUiChildren: whole(0),
  maxWebElements: whole(0),
  maxActions: whole(0),
} as const;

const presets: Readonly<Record<string, Maker>> = {
  "miki": maker(miki, mikiKinds),
  "coding-agent": maker(codingAgent, thresholdKinds),
  "openstarry-sliding": maker(openstarrySliding, {}),
  "openstarry-summary": maker(openstarrySummary, rollingKinds),
  "openstarry-entity": maker(openstarryEntity, entityKinds),
  "pi": maker(piPreset, { ...layerKinds, contextRatio: share, locale }),
  "state-manager": maker(stateManager, {
    ...summarisingKinds,
    ratio: share,
    keepTurns: whole(0),
  }),
};

/** The names of the presets: strategies with the literal numbers of the designs in docs/presets.md. */
export const presetNames: readonly string[] = Object.keys(presets);

/** The names `strategy` accepts: strategies, then presets. */
export const strategyNames: readonly string[] = [...Object.keys(strategies), ...presetNames];

/** The base folder of a preset's store, by its name; undefined for other names, and where it has none. */
export function presetFolder(name: string): string | undefined {
  return presetNames.includes(name) ? strategyOf(name).settings?.folder : undefined;
}

/**
 * A strategy by name, or by name with options; a Strategy is handed back as it is. A preset's has the preset's counter
 * and the rest of it under `settings`.
 *
 * @throws WindrowError `unknown-strategy` with the nearest name, `bad-option` for an option it does not have
 */
export function strategyOf(strategy: string | Strategy | StrategyChoice): Strategy {
  if (typeof strategy !== "string" && !isChoice(strategy)) {
    const fault = strategyFault(strategy);
    if (fault === undefined) return strategy;
    throw new WindrowError(
      "bad-option",
      `\`strategy\` is a name, an object with \`use\`, or a Strategy; this one ${fault}.`,
    );
  }
  const { use, ...options } = typeof strategy === "string" ? { use: strategy } : strategy;
  const isPreset = presetNames.includes(use);
  const found = isPreset ? presets[use] : Object.hasOwn(strategies, use) ? strategies[use] : undefined;
  if (!found) {
    throw new WindrowError("unknown-strategy", `There is no strategy "${use}".${nearest(use, strategyNames)}`, {
      strategy: use,
      known: strategyNames,
    });
  }
  return withOptions(found(`${isPreset ? "Preset" : "Strategy"} ${use}`, options), options);
}

/** A strategy that says which options it was made with; functions among them are none that can be kept. */
function withOptions(strategy: Strategy, options: Readonly<Record<string, unknown>>): Strategy {
  const kept = Object.entries(options).filter(([, value]) => jsonFault(value, { whole: true }) === undefined);
  return kept.length === 0 ? strategy : { ...strategy, options: Object.fromEntries(kept) as JsonObject };
}

/**
 * The strategy that a session's metadata names, with the options it was made with; undefined where it names none.
 *
 * @throws WindrowError `unknown-strategy` where it is not one of Windrow's, `bad-option` for options it does not have
 */
export function strategyIn({ strategy: name, strategy_options: options, floor }: JsonObject): Strategy | undefined {
  if (typeof name !== "string") return undefined;
  const strategy = strategyOf({ ...(isObject(options) && options), use: name });
  return typeof floor === "number" ? { ...strategy, floor } : strategy;
}

/**
 * A strategy of a command line: its name, or JSON with `use` and options.
 *
 * @throws WindrowError as {@link strategyOf}
 */
export function strategyFrom(text: string): Strategy {
  return strategyOf(text.startsWith("{") ? ((parseJson(text) ?? text) as string | StrategyChoice) : text);
}

function isChoice(strategy: Strategy | StrategyChoice): strategy is StrategyChoice {
  return typeof strategy === "object" && strategy !== null && "use" in strategy && typeof strategy.use === "string";
}

const ownName: Kind = { is: "a text, not empty", fits: (value) => typeof value === "string" && value !== "" };

const strategyKinds = {
  name: ownName,
  passes: listOf(having("{ name, plan }", { name: ownName, plan: kinds.action })),
  trigger: kinds.object,
  lowWater: share,
  keepFirstUser: kinds.flag,
  floor: orAbsent(whole(1)),
} as const satisfies Partial<Record<keyof Strategy, Kind>>;

/** The fault of a value that should be a strategy, as the end of a sentence; undefined for a strategy. */
export function strategyFault(value: unknown): string | undefined {
  if (!isObject(value)) return "is none of these";
  const wrong = Object.entries(strategyKinds).find(([name, kind]) => !kind.fits(value[name]));
  return wrong && `has no \`${wrong[0]}\` that is ${wrong[1].is}`;
}
