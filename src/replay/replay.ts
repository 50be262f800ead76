/** Replay: a recorded session through strategies, call by call, and what each would have cost and lost. */
import { setImmediate } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { checkBudget } from "../window/budget.ts";
import { Composer } from "../window/epoch.ts";
import { profileOf } from "../window/profile.ts";
import type { Profile } from "../window/profile.ts";
import { strategyOf } from "../window/strategy.ts";
import type { Composed, Strategy } from "../window/window.ts";
import { CostTally, MessageTokens } from "./cost-metric.ts";
import type { Cost, InputPrices } from "./cost-metric.ts";
import { OneHop } from "./one-hop.ts";
import { AtomReader, farDistanceFor, findReferences, LookbackTally } from "./recall-metric.ts";
import type { Lookback, Reference } from "./recall-metric.ts";
import { essentials, isBroken } from "./shape-metric.ts";

/** What a replay runs, and how it counts. */
export interface ReplayOptions {
  /** Names, or strategies of one's own. One without passes is composed without a limit, its calls above it counted. */
  readonly strategies: readonly (string | Strategy)[];
  /** Tokens a request may use; each strategy runs at each. */
  readonly budgets: readonly number[];
  readonly profile: string | Profile;
  readonly counter: TokenCounter;
  /** The model's input prices, in dollars a million tokens. Absent: dollars are null. */
  readonly prices?: InputPrices;
  /** How far back a reference must lie to count as far, in tokens. Default by the size of the history. */
  readonly farDistance?: number;
  /** Whether results carry the tokens of every request. Default false. */
  readonly series?: boolean;
  /** Told after every composition. */
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Given every composition, in the order of the calls. */
  readonly onWindow?: (window: ReplayedWindow) => void;
}

/** How far a replay has come, in compositions. */
export interface ReplayProgress {
  readonly done: number;
  readonly total: number;
}

/** One composition of a replay. */
export interface ReplayedWindow {
  readonly strategy: string;
  /** Infinity for a strategy without passes. */
  readonly budget: number;
  /** Index, in the transcript's messages, of the assistant message that answered this request. */
  readonly index: number;
  readonly composed: Composed;
}

/** A session's results. */
export interface ReplayedSession {
  readonly id: string;
  readonly format: string;
  readonly model: string | null;
  readonly messages: number;
  /** Requests: assistant messages with something before them to answer. */
  readonly calls: number;
  /** Requests that would have been broken with the history sent as it was recorded, unrepaired. */
  readonly brokenRaw: number;
  /** Tokens of the whole history. */
  readonly historyTokens: number;
  /** What counted as far, in tokens. */
  readonly farDistance: number;
  /** The counter behind all token figures. */
  readonly counter: string;
  readonly results: readonly ReplayResult[];
}

/** What one strategy at one budget did to a session. */
export interface ReplayResult {
  readonly strategy: string;
  readonly budget: number;
  readonly profile: string;
  /** Input tokens of all requests, of the mean and of the largest one. */
  readonly tokens: { readonly total: number; readonly average: number; readonly peak: number };
  readonly cost: Cost;
  /** Share of all input tokens that was in the provider's cache, 0 to 1. */
  readonly cachedShare: number;
  /** How often the window changed elsewhere than at its end. */
  readonly epochs: number;
  readonly lookback: Lookback;
  /** Requests with an orphan result, an unanswered call, a leading message not the user's, an empty one, or none. */
  readonly broken: number;
  /** Requests above the budget though system, task and newest step fit. */
  readonly overBudget: number;
  /** Calls for which there is no window: what may never be left out does not fit, and the composition says so. */
  readonly refused: number;
  /** Rules of the profile that windows broke, all together. */
  readonly faults: number;
  /** Tokens of every request, 0 for a refused one; where asked for. */
  readonly series?: readonly number[];
}

/**
 * Runs a recorded session through every strategy at every budget: one composition before every assistant message, the
 * state carried from call to call, as a live agent would.
 *
 * @throws WindrowError `unknown-strategy`, `unknown-profile`, `bad-option`, `budget-too-small`, `aborted`
 */
export async function replay(
  transcript: Transcript,
  options: ReplayOptions,
  signal?: AbortSignal,
): Promise<ReplayedSession> {
  const { messages } = transcript;
  const tokens = new MessageTokens(options.counter);
  const historyTokens = tokens.sum(messages);
  const reader = new AtomReader();
  const run: Run = {
    messages,
    profile: profileOf(options.profile),
    counter: options.counter,
    tokens,
    reader,
    references: findReferences(messages, options.counter, reader),
    oneHop: new OneHop(options.counter),
    farDistance: options.farDistance ?? farDistanceFor(historyTokens),
    calls: callsOf(messages),
    options,
  };
  const budgets = options.budgets.map(checkBudget);
  const plans = options.strategies
    .map(strategyOf)
    .flatMap((strategy): readonly Plan[] =>
      strategy.passes.length === 0
        ? [{ strategy, limit: Infinity, budgets }]
        : budgets.map((budget) => ({ strategy, limit: budget, budgets: [budget] })),
    );
  const pacer = new Pacer(run.calls.length * plans.length, options.onProgress, signal);
  const results: ReplayResult[] = [];
  for (const plan of plans) results.push(...(await runPlan(run, plan, pacer)));
  return {
    id: transcript.id,
    format: transcript.format,
    model: transcript.model ?? null,
    messages: messages.length,
    calls: run.calls.length,
    brokenRaw: run.calls.filter((index) => isBroken(messages.slice(0, index))).length,
    historyTokens,
    farDistance: run.farDistance,
    counter: options.counter.name,
    results,
  };
}

interface Run {
  readonly messages: readonly Message[];
  readonly profile: Profile;
  readonly counter: TokenCounter;
  readonly tokens: MessageTokens;
  readonly reader: AtomReader;
  readonly references: ReadonlyMap<number, readonly Reference[]>;
  readonly oneHop: OneHop;
  readonly farDistance: number;
  /** Indices of the assistant messages. */
  readonly calls: readonly number[];
  readonly options: ReplayOptions;
}

/** A strategy at a limit; one without a limit is held against several budgets at once. */
interface Plan {
  readonly strategy: Strategy;
  readonly limit: number;
  readonly budgets: readonly number[];
}

function callsOf(messages: readonly Message[]): readonly number[] {
  const first = messages.findIndex((message) => message.role !== "system");
  return messages.flatMap((message, index) => (message.role === "assistant" && index > first ? [index] : []));
}

async function runPlan(run: Run, plan: Plan, pacer: Pacer): Promise<readonly ReplayResult[]> {
  const { strategy, limit, budgets } = plan;
  const { messages, profile, counter, options } = run;
  const composer = new Composer({ strategy, profile, counter });
  const cost = new CostTally(run.tokens);
  const lookback = new LookbackTally(run.reader, run.farDistance);
  const overBudget = budgets.map(() => 0);
  const series: number[] = [];
  let [pushed, epochs, broken, refused, faults] = [0, 0, 0, 0, 0];
  for (const index of run.calls) {
    for (; pushed < index; pushed++) composer.push(pushed + 1, messages[pushed] as Message);
    const composed = composeOrRefuse(composer, limit);
    const references = run.references.get(index) ?? [];
    const window = composed?.messages ?? [];
    const history = messages.slice(0, index);
    if (composed) {
      options.onWindow?.({ strategy: strategy.name, budget: limit, index, composed });
      cost.add(window);
      if (composed.report.opened) epochs++;
      if (isBroken(window)) broken++;
      faults += composed.report.faults.length;
    } else refused++;
    lookback.add(references, window, run.oneHop.forCall(history, composer.state.edits, window));
    const tokens = composed?.tokens ?? 0;
    series.push(tokens);
    budgets.forEach((budget, place) => {
      const within = composed !== undefined && tokens <= budget;
      if (!within && run.tokens.sum(essentials(history)) <= budget) overBudget[place] = (overBudget[place] ?? 0) + 1;
    });
    await pacer.step();
  }
  const total = series.reduce((sum, tokens) => sum + tokens, 0);
  const sent = run.calls.length - refused;
  return budgets.map((budget, place) => ({
    strategy: strategy.name,
    budget,
    profile: profile.name,
    tokens: {
      total,
      average: sent === 0 ? 0 : Math.round(total / sent),
      peak: series.reduce((peak, tokens) => Math.max(peak, tokens), 0),
    },
    cost: cost.result(options.prices),
    cachedShare: cost.cachedShare,
    epochs,
    lookback: lookback.result(),
    broken,
    overBudget: overBudget[place] ?? 0,
    refused,
    faults,
    ...(options.series && { series }),
  }));
}

function composeOrRefuse(composer: Composer, budget: number): Composed | undefined {
  try {
    return composer.compose({ budget });
  } catch (error) {
    if (isWindrowError(error, "over-budget")) return undefined;
    throw error;
  }
}

/** Longest stretch of work without a look at the event loop, in milliseconds. */
const stretchMs = 30;

class Pacer {
  readonly #total: number;
  readonly #onProgress: ReplayOptions["onProgress"];
  readonly #signal: AbortSignal | undefined;
  #done = 0;
  #rested = performance.now();

  constructor(total: number, onProgress: ReplayOptions["onProgress"], signal: AbortSignal | undefined) {
    this.#total = total;
    this.#onProgress = onProgress;
    this.#signal = signal;
    this.#check();
  }

  async step(): Promise<void> {
    this.#done++;
    this.#onProgress?.({ done: this.#done, total: this.#total });
    if (performance.now() - this.#rested < stretchMs) return;
    await setImmediate();
    this.#rested = performance.now();
    this.#check();
  }

  #check(): void {
    if (this.#signal?.aborted) throw new WindrowError("aborted", "The replay was aborted; nothing was written.");
  }
}
