/** Replay: runs a recorded session through strategies, call by call, and measures the cost and loss of each. */
import { setImmediate } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../errors.ts";
import { isObject } from "../message/json.ts";
import type { Message } from "../message/message.ts";
import { shown } from "../shown.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { findModel } from "../tokens/models.ts";
import type { ModelPrices } from "../tokens/models.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { budgetOf, checkBudget, smallBudget } from "../window/budget.ts";
import type { ComposeOptions, Shown } from "../window/compose-options.ts";
import { Composer } from "../window/composer.ts";
import { anyOf, checkGiven, count, kinds, listOf } from "../window/options.ts";
import type { Budget, Kind } from "../window/options.ts";
import { profileOf } from "../window/provider/profile.ts";
import type { Profile } from "../window/provider/profile.ts";
import { strategyOf } from "../window/by-name.ts";
import { sizedBy } from "../window/settings.ts";
import type { Composed, ForcedEpoch, Report, Strategy } from "../window/window.ts";
import type { CostConditions, PricesOf } from "./cost-metric.ts";
import { callsOf, readRecording, WindowTally } from "./measure.ts";
import type { Recording, WindowFigures } from "./measure.ts";
import { missesOf } from "./misses.ts";
import type { Miss } from "./misses.ts";
import { calibratedCounter, calibrationOf, recordedUse, rememberingCounter } from "./recorded.ts";
import type { Calibration, RecordedUse } from "./recorded.ts";
import { BrokenRequests } from "./shape-metric.ts";

/** Options of a replay. */
export interface ReplayOptions {
  /**
   * Strategies by name or as objects. A strategy without passes has no limit; its calls above the budget are counted.
   */
  readonly strategies: readonly (string | Strategy)[];
  /**
   * Tokens of a request. Each strategy runs at each budget. With `"auto"` its windows size themselves, up to what the session's
   * model takes (200,000 tokens where that is not known), and its name ends so.
   */
  readonly budgets: readonly Budget[];
  readonly profile: string | Profile;
  readonly counter: TokenCounter;
  /** Prices of every call, in dollars a million tokens. Default: those of the model that answered it, as the table has them. */
  readonly prices?: ModelPrices;
  /** The distance from which a reference counts as far, in tokens. Default: by the size of the history. */
  readonly farDistance?: number;
  /**
   * Whether the session's own usage corrects the counts, adds what each request had beyond its messages, and tells where
   * the cache was cold. Default true. What was added stands in every figure of tokens and cost, and not in the budget.
   */
  readonly calibrate?: boolean;
  /** Called after every composition. */
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Called with every composition, in the order of the calls. */
  readonly onWindow?: (window: ReplayedWindow) => void;
  /** Called with each reference that a window does not answer by itself, behind its `onWindow`. Default: none is looked for. */
  readonly onMiss?: (miss: ReplayedMiss) => void;
}

/** The progress of a replay, in compositions. */
export interface ReplayProgress {
  readonly done: number;
  readonly total: number;
}

/** One composition of a replay. */
export interface ReplayedWindow {
  readonly strategy: string;
  /** The budget; Infinity for a strategy without passes. */
  readonly budget: number;
  /** The index of the assistant message that answered this request. */
  readonly index: number;
  readonly composed: Composed;
  /** The window's messages as the log numbers them, and what was mended in it. Valid during the call. */
  readonly shown: () => Shown;
}

/** One reference that a window of a replay does not answer by itself. */
export interface ReplayedMiss extends Miss {
  readonly strategy: string;
  /** As {@link ReplayedWindow.budget}. */
  readonly budget: number;
  /** As {@link ReplayedWindow.index}. */
  readonly index: number;
}

/** The results of one replayed session. */
export interface ReplayedSession {
  readonly id: string;
  readonly format: string;
  readonly model: string | null;
  readonly messages: number;
  /** The number of requests: assistant messages with something before them to answer. */
  readonly calls: number;
  /** Requests that would be broken with the recorded history sent unrepaired. */
  readonly brokenRaw: number;
  /** Tokens of the whole history. */
  readonly historyTokens: number;
  /** The distance that counted as far, in tokens. */
  readonly farDistance: number;
  /** The counter of all token figures. */
  readonly counter: string;
  /** The usage that the file itself reports; absent where it reports none. */
  readonly recorded?: RecordedUse;
  /** The correction of all figures by that usage, and by the times of the calls; absent where nothing is corrected. */
  readonly calibration?: ReplayCalibration;
  /** How often the recorded program itself cut or summarised its history, where the format tells. */
  readonly compactions?: number;
  /** The system prompt and the tools that every request is measured with; absent where the recording has none. */
  readonly sent?: { readonly system: boolean; readonly tools: number };
  readonly results: readonly ReplayResult[];
}

/** The correction of a replay by the session's own usage and times. */
export interface ReplayCalibration extends Omit<Calibration, "cold"> {
  /** Calls that found the provider's cache cold. */
  readonly coldCalls: number;
}

/** The result of one strategy at one budget. */
export interface ReplayResult extends WindowFigures {
  readonly strategy: string;
  readonly profile: string;
  /** Set where epochs came every third call or sooner over the whole session: as in a window's report. */
  readonly tooSmall?: NonNullable<Report["tooSmall"]>;
}

/**
 * Runs a recorded session through every strategy at every budget. It composes before every assistant message, with the
 * system prompt and the tools that went with that request where the recording has them, and carries the state along, as a
 * live agent does.
 *
 * @throws WindrowError `unknown-strategy`, `unknown-profile`, `bad-option`, `budget-too-small`, `aborted`
 */
export async function replay(
  transcript: Transcript,
  options: ReplayOptions,
  signal?: AbortSignal,
): Promise<ReplayedSession> {
  checkReplay(transcript, options);
  const { messages, sent = [] } = transcript;
  const calls = callsOf(messages);
  const facts = transcript.model === undefined ? undefined : findModel(transcript.model);
  const most = facts ? budgetOf(facts) : unknownMost;
  const budgets = options.budgets.map((budget) => (budget === "auto" ? most : checkBudget(budget)));
  const base = rememberingCounter(options.counter);
  const plans = options.strategies.map(strategyOf).flatMap((strategy): readonly Plan[] =>
    strategy.passes.length === 0
      ? [{ strategy, limit: Infinity, budgets }]
      : budgets.map((budget, at) => {
          const isAuto = options.budgets[at] === "auto";
          const sized = isAuto ? { ...sizedBy(strategy, "auto"), name: `${strategy.name} auto` } : strategy;
          return { strategy: sized, limit: budget, budgets: [budget] };
        }),
  );
  const pricesOf: PricesOf = ({ model = transcript.model }) =>
    options.prices ?? (model === undefined ? undefined : findModel(model)?.prices);
  const costs = { pricesOf, others: transcript.otherCalls ?? [] };
  const recorded = recordedUse(transcript, pricesOf);
  const calibrates = options.calibrate !== false;
  const passes = plans.length + (recorded && calibrates ? 1 : 0);
  const step = pacer(calls.length * passes, options.onProgress, signal);
  const calibration = calibrates
    ? await calibrationFor(transcript, recorded !== undefined, { ...options, counter: base }, step)
    : undefined;
  const counter = calibration ? calibratedCounter(base, calibration) : base;
  const recording = readRecording(transcript, counter, options.farDistance);
  const results: ReplayResult[] = [];
  for (const plan of plans)
    results.push(...(await runPlan(recording, { ...plan, sent, costs, calibration }, { ...options, counter }, step)));
  const newest = sent.at(-1);
  const raw = new BrokenRequests();
  const { compactions } = transcript.meta ?? {};
  return {
    id: transcript.id,
    format: transcript.format,
    model: transcript.model ?? null,
    messages: messages.length,
    calls: calls.length,
    brokenRaw: calls.filter((index) => raw.isBroken(messages.slice(0, index))).length,
    historyTokens: recording.tokens.sum(messages),
    farDistance: recording.farDistance,
    counter: options.counter.name,
    ...(recorded && { recorded }),
    ...(calibration && { calibration: reportedCalibration(calibration) }),
    ...(Array.isArray(compactions) && { compactions: compactions.length }),
    ...(newest && { sent: { system: newest.system !== undefined, tools: newest.tools?.length ?? 0 } }),
    results,
  };
}

/** The most tokens of a window that sizes itself, where the session's model is not known. */
const unknownMost = 200_000;

const optionKinds = {
  strategies: listOf(kinds.any),
  budgets: listOf(kinds.any),
  profile: anyOf(kinds.text, kinds.object),
  counter: kinds.counter,
  prices: kinds.object,
  farDistance: count,
  calibrate: kinds.flag,
  onProgress: kinds.action,
  onWindow: kinds.action,
  onMiss: kinds.action,
} as const satisfies Record<keyof ReplayOptions, Kind>;

/** Refuses what an untyped caller hands in place of a transcript, or of its options. */
function checkReplay(transcript: unknown, options: ReplayOptions): void {
  const messages = isObject(transcript) ? transcript["messages"] : undefined;
  if (!Array.isArray(messages)) {
    const hint = "const [transcript] = await readTranscripts(path), or { id, format, messages, problems: [] }";
    throw new WindrowError("bad-option", `replay takes a transcript, not ${shown(transcript)}: ${hint}.`);
  }
  checkGiven("replay", options, optionKinds);
  for (const option of ["strategies", "budgets", "profile", "counter"] as const) {
    if (options[option] !== undefined) continue;
    const message = `replay needs \`${option}\`: { strategies: ["adaptive"], budgets: [32_000], profile, counter }.`;
    throw new WindrowError("bad-option", message, { option });
  }
}

/** A strategy at a limit. One without a limit is compared with several budgets at once. */
interface Plan {
  readonly strategy: Strategy;
  readonly limit: number;
  readonly budgets: readonly number[];
}

/** The facts that all plans share, beside the recording. */
interface Shared extends Required<Pick<Transcript, "sent">> {
  readonly costs: Pick<CostConditions, "pricesOf" | "others">;
  readonly calibration: Calibration | undefined;
}

/** Compares the usage of the calls with the requests of a strategy that sends everything. */
async function calibrationFor(
  transcript: Transcript,
  reported: boolean,
  options: ReplayOptions,
  step: Step,
): Promise<Calibration | undefined> {
  const { messages } = transcript;
  const calls = callsOf(messages);
  const counted = new Map(calls.map((index) => [index, 0]));
  if (reported) {
    const composer = composerOf(strategyOf("none"), options);
    for (const { index, composed } of requestsOf(transcript, calls, composer, Infinity)) {
      counted.set(index, composed?.tokens ?? 0);
      await step();
    }
  }
  const calibration = calibrationOf(messages, counted);
  return calibration.reported || calibration.cold.size > 0 ? calibration : undefined;
}

function reportedCalibration({ rate, cold, ...rest }: Calibration): ReplayCalibration {
  return { ...rest, rate: Math.round(1_000 * rate) / 1_000, coldCalls: cold.size };
}

async function runPlan(
  recording: Recording,
  { strategy, limit, budgets, sent, costs, calibration }: Plan & Shared,
  options: ReplayOptions,
  step: Step,
): Promise<readonly ReplayResult[]> {
  const composer = composerOf(strategy, options);
  const tally = new WindowTally(recording, budgets, { ...calibration, ...costs });
  const forced: ForcedEpoch[] = [];
  for (const { index, composed } of requestsOf(
    { messages: recording.messages, sent },
    recording.calls,
    composer,
    limit,
  )) {
    const about = { strategy: strategy.name, budget: limit, index };
    if (composed?.report.opened?.reason === "over-budget") forced.push(...(composed.state.forced ?? []).slice(-1));
    if (composed) options.onWindow?.({ ...about, composed, shown: () => composer.shown() });
    if (options.onMiss) {
      const window = { messages: composed?.messages ?? [], edits: composer.state.edits };
      for (const miss of missesOf(recording, index, window)) options.onMiss({ ...about, ...miss });
    }
    tally.add(
      index,
      composed && {
        messages: composed.messages,
        tokens: composed.tokens,
        edits: composer.state.edits,
        opened: composed.report.opened !== undefined,
        faults: composed.report.faults.length,
      },
    );
    await step();
  }
  const names = { strategy: strategy.name, profile: profileOf(options.profile).name };
  const advice = { ...names, ...smallBudget(forced, limit, strategy.lowWater) };
  return tally.results().map((result) => ({ ...advice, ...result }));
}

function composerOf(strategy: Strategy, { profile, counter }: ReplayOptions): Composer {
  return new Composer({ strategy, profile: profileOf(profile), counter });
}

/** The composed request before each call; undefined where it cannot fit. */
function* requestsOf(
  { messages, sent = [] }: Pick<Transcript, "messages" | "sent">,
  calls: readonly number[],
  composer: Composer,
  budget: number,
): Generator<{ readonly index: number; readonly composed: Composed | undefined }> {
  let pushed = 0;
  for (const index of calls) {
    for (; pushed < index; pushed++) composer.push(pushed + 1, messages[pushed] as Message);
    const { at: _at, ...blocks } = sent.findLast(({ at }) => at <= pushed) ?? sent[0] ?? { at: 0 };
    yield { index, composed: composeOrRefuse(composer, { ...blocks, budget }) };
  }
}

function composeOrRefuse(composer: Composer, options: ComposeOptions): Composed | undefined {
  try {
    return composer.compose(options);
  } catch (error) {
    if (isWindrowError(error, "over-budget")) return undefined;
    throw error;
  }
}

/** The longest work without a turn for the event loop, in milliseconds. */
const stretchMs = 30;

/** Ends one composition: it reports the progress, and gives the event loop a turn if that is due. */
type Step = () => Promise<void>;

function pacer(total: number, onProgress: ReplayOptions["onProgress"], signal: AbortSignal | undefined): Step {
  const check = (): void => {
    if (signal?.aborted) throw new WindrowError("aborted", "The replay was aborted; nothing was written.");
  };
  check();
  let [done, rested] = [0, performance.now()];
  return async () => {
    onProgress?.({ done: ++done, total });
    if (performance.now() - rested < stretchMs) return;
    await setImmediate();
    rested = performance.now();
    check();
  };
}
