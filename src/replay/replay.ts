/** Replay: a recorded session through strategies, call by call, and what each would have cost and lost. */
import { setImmediate } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { checkBudget } from "../window/budget.ts";
import { Composer } from "../window/composer.ts";
import { profileOf } from "../window/provider/profile.ts";
import type { Profile } from "../window/provider/profile.ts";
import { strategyOf } from "../window/by-name.ts";
import type { Composed, Strategy } from "../window/window.ts";
import type { InputPrices } from "./cost-metric.ts";
import { readRecording, WindowTally } from "./measure.ts";
import type { Recording, WindowFigures } from "./measure.ts";
import { isBroken } from "./shape-metric.ts";

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
export interface ReplayResult extends WindowFigures {
  readonly strategy: string;
  readonly profile: string;
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
  const recording = readRecording(transcript, options.counter, options.farDistance);
  const { messages, calls } = recording;
  const budgets = options.budgets.map(checkBudget);
  const plans = options.strategies
    .map(strategyOf)
    .flatMap((strategy): readonly Plan[] =>
      strategy.passes.length === 0
        ? [{ strategy, limit: Infinity, budgets }]
        : budgets.map((budget) => ({ strategy, limit: budget, budgets: [budget] })),
    );
  const pacer = new Pacer(calls.length * plans.length, options.onProgress, signal);
  const results: ReplayResult[] = [];
  for (const plan of plans) results.push(...(await runPlan(recording, plan, options, pacer)));
  return {
    id: transcript.id,
    format: transcript.format,
    model: transcript.model ?? null,
    messages: messages.length,
    calls: calls.length,
    brokenRaw: calls.filter((index) => isBroken(messages.slice(0, index))).length,
    historyTokens: recording.tokens.sum(messages),
    farDistance: recording.farDistance,
    counter: options.counter.name,
    results,
  };
}

/** A strategy at a limit; one without a limit is held against several budgets at once. */
interface Plan {
  readonly strategy: Strategy;
  readonly limit: number;
  readonly budgets: readonly number[];
}

async function runPlan(
  recording: Recording,
  { strategy, limit, budgets }: Plan,
  options: ReplayOptions,
  pacer: Pacer,
): Promise<readonly ReplayResult[]> {
  const { counter } = options;
  const profile = profileOf(options.profile);
  const composer = new Composer({ strategy, profile, counter });
  const tally = new WindowTally(recording, budgets);
  let pushed = 0;
  for (const index of recording.calls) {
    for (; pushed < index; pushed++) composer.push(pushed + 1, recording.messages[pushed] as Message);
    const composed = composeOrRefuse(composer, limit);
    if (composed) options.onWindow?.({ strategy: strategy.name, budget: limit, index, composed });
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
    await pacer.step();
  }
  const names = { strategy: strategy.name, profile: profile.name };
  const { series } = tally;
  return tally.results(options.prices).map((result) => ({ ...names, ...result, ...(options.series && { series }) }));
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
