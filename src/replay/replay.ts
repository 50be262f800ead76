/** Replay: runs a recorded session through strategies, call by call, and measures the cost and loss of each. */
import { setImmediate } from "node:timers/promises";
import { WindrowError, isWindrowError } from "../errors.ts";
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { checkBudget } from "../window/budget.ts";
import type { ComposeOptions } from "../window/compose-options.ts";
import { Composer } from "../window/composer.ts";
import { profileOf } from "../window/provider/profile.ts";
import type { Profile } from "../window/provider/profile.ts";
import { strategyOf } from "../window/by-name.ts";
import type { Composed, Strategy } from "../window/window.ts";
import type { InputPrices } from "./cost-metric.ts";
import { readRecording, WindowTally } from "./measure.ts";
import type { Recording, WindowFigures } from "./measure.ts";
import { isBroken } from "./shape-metric.ts";

/** Options of a replay. */
export interface ReplayOptions {
  /**
   * Strategies by name or as objects. A strategy without passes has no limit; its calls above the budget are counted.
   */
  readonly strategies: readonly (string | Strategy)[];
  /** Tokens of a request. Each strategy runs at each budget. */
  readonly budgets: readonly number[];
  readonly profile: string | Profile;
  readonly counter: TokenCounter;
  /** The model's input prices, in dollars a million tokens. Absent: dollars are null. */
  readonly prices?: InputPrices;
  /** The distance from which a reference counts as far, in tokens. Default: by the size of the history. */
  readonly farDistance?: number;
  /** Whether results carry the tokens of every request. Default false. */
  readonly series?: boolean;
  /** Called after every composition. */
  readonly onProgress?: (progress: ReplayProgress) => void;
  /** Called with every composition, in the order of the calls. */
  readonly onWindow?: (window: ReplayedWindow) => void;
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
  /** The system prompt and the tools that every request is measured with; absent where the recording has none. */
  readonly sent?: { readonly system: boolean; readonly tools: number };
  readonly results: readonly ReplayResult[];
}

/** The result of one strategy at one budget. */
export interface ReplayResult extends WindowFigures {
  readonly strategy: string;
  readonly profile: string;
  /** Tokens of every request when asked for; 0 for a refused one. */
  readonly series?: readonly number[];
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
  const { sent = [] } = transcript;
  const newest = sent.at(-1);
  for (const plan of plans) results.push(...(await runPlan(recording, { ...plan, sent }, options, pacer)));
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
    ...(newest && { sent: { system: newest.system !== undefined, tools: newest.tools?.length ?? 0 } }),
    results,
  };
}

/** A strategy at a limit. One without a limit is compared with several budgets at once. */
interface Plan {
  readonly strategy: Strategy;
  readonly limit: number;
  readonly budgets: readonly number[];
}

async function runPlan(
  recording: Recording,
  { strategy, limit, budgets, sent }: Plan & Required<Pick<Transcript, "sent">>,
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
    const { at: _at, ...blocks } = sent.findLast(({ at }) => at <= pushed) ?? sent[0] ?? { at: 0 };
    const composed = composeOrRefuse(composer, { ...blocks, budget: limit });
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
