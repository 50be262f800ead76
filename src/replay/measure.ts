/** The measures of a recorded session's windows, whoever composed them. */
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Edit } from "../window/window.ts";
import { CostTally, MessageContents, MessageTokens } from "./cost-metric.ts";
import type { Cost, CostConditions } from "./cost-metric.ts";
import { namedFiles, OneHop } from "./one-hop.ts";
import type { Named } from "./one-hop.ts";
import { AtomReader, farDistanceFor, findReferences, LookbackTally } from "./recall-metric.ts";
import type { Lookback, Reference } from "./recall-metric.ts";
import { BrokenRequests, essentials } from "./shape-metric.ts";

/** A session with the indexes that the metrics share. */
export interface Recording {
  readonly messages: readonly Message[];
  /** Indices of the assistant messages that answer something. Each is a request. */
  readonly calls: readonly number[];
  readonly tokens: MessageTokens;
  readonly contents: MessageContents;
  /** The distance from which a reference counts as far, in tokens. */
  readonly farDistance: number;
  readonly reader: AtomReader;
  readonly references: ReadonlyMap<number, readonly Reference[]>;
  readonly oneHop: OneHop;
}

/**
 * Reads a session once, for any number of tallies.
 *
 * @param farDistance - in tokens; default by the size of the history, {@link farDistanceFor}
 */
export function readRecording(
  { messages }: { readonly messages: readonly Message[] },
  counter: TokenCounter,
  farDistance?: number,
): Recording {
  const tokens = new MessageTokens(counter);
  const reader = new AtomReader();
  return {
    messages,
    calls: callsOf(messages),
    tokens,
    contents: new MessageContents(),
    farDistance: farDistance ?? farDistanceFor(tokens.sum(messages)),
    reader,
    references: findReferences(messages, tokens, reader),
    oneHop: new OneHop(messages, counter),
  };
}

/** Indices of the assistant messages that answer something. Each is a request. */
export function callsOf(messages: readonly Message[]): readonly number[] {
  const first = messages.findIndex((message) => message.role !== "system");
  return messages.flatMap((message, index) => (message.role === "assistant" && index > first ? [index] : []));
}

/** One measured request of the session. */
export interface MeasuredWindow {
  readonly messages: readonly Message[];
  /** Tokens of the whole request. */
  readonly tokens: number;
  /** The edits in force, for one-hop recall. */
  readonly edits: readonly Edit[];
  /** Whether the window changed elsewhere than at its end. */
  readonly opened: boolean;
  /** The number of provider rules that the window breaks. */
  readonly faults: number;
}

/** The figures of a session's windows at one budget. */
export interface WindowFigures {
  readonly budget: number;
  /** Input tokens: of all requests, of the mean one, and of the largest one. */
  readonly tokens: { readonly total: number; readonly average: number; readonly peak: number };
  readonly cost: Cost;
  /** The share of all input tokens in the provider's cache, 0 to 1. */
  readonly cachedShare: number;
  /** The number of changes of the window elsewhere than at its end. */
  readonly epochs: number;
  readonly lookback: Lookback;
  /** The files that had left at the epochs, and how many of them the window named; over all epochs. */
  readonly named: Named;
  /**
   * Requests with an orphan result, an unanswered call, an empty message, no message, or a first message not the
   * user's.
   */
  readonly broken: number;
  /** Requests above the budget although system, task and newest step fit. */
  readonly overBudget: number;
  /** Calls without a window, because the parts that may never be left out do not fit. */
  readonly refused: number;
  /** The number of profile rules that all windows broke. */
  readonly faults: number;
  /** Tokens of every request; 0 for a refused one. */
  readonly series: readonly number[];
}

/** The conditions that every request of a session was sent under. */
export interface RequestConditions extends CostConditions {
  /** Indices of the assistant messages whose request found the provider's cache cold. */
  readonly cold?: ReadonlySet<number>;
}

/**
 * Measures the windows of one session, call by call. A window without a limit is compared with several budgets at once.
 */
export class WindowTally {
  readonly #recording: Recording;
  readonly #cost: CostTally;
  readonly #lookback: LookbackTally;
  readonly #conditions: RequestConditions;
  readonly #requests = new BrokenRequests();
  readonly #overBudget: Map<number, number>;
  readonly #series: number[] = [];
  #named: Named = { named: 0, total: 0 };
  #epochs = 0;
  #broken = 0;
  #refused = 0;
  #faults = 0;

  constructor(recording: Recording, budgets: readonly number[], conditions: RequestConditions = {}) {
    this.#recording = recording;
    this.#conditions = conditions;
    this.#cost = new CostTally(recording.tokens, conditions, recording.contents);
    this.#lookback = new LookbackTally(recording);
    this.#overBudget = new Map(budgets.map((budget) => [budget, 0]));
  }

  /**
   * Counts one call. Calls come in order.
   *
   * @param index - of the assistant message that answered
   * @param window - undefined where there was none to send
   */
  add(index: number, window: MeasuredWindow | undefined): void {
    const { messages, references, oneHop, tokens } = this.#recording;
    const shown = window?.messages ?? [];
    if (window) {
      this.#cost.add(shown, this.#conditions.cold?.has(index), messages[index]);
      if (window.opened) {
        this.#epochs++;
        const { named, total } = namedFiles(oneHop, messages, index, window.edits, shown);
        this.#named = { named: this.#named.named + named, total: this.#named.total + total };
      }
      if (this.#requests.isBroken(shown)) this.#broken++;
      this.#faults += window.faults;
    } else this.#refused++;
    this.#lookback.add(references.get(index) ?? [], shown, oneHop.recallsFor(index, window?.edits ?? [], shown));
    this.#series.push(window ? window.tokens + (this.#conditions.overhead ?? 0) : 0);
    for (const [budget, calls] of this.#overBudget) {
      const within = window !== undefined && window.tokens <= budget;
      if (!within && tokens.sum(essentials(messages.slice(0, index))) <= budget)
        this.#overBudget.set(budget, calls + 1);
    }
  }

  /** The figures so far, for each budget. */
  results(): readonly WindowFigures[] {
    const total = this.#series.reduce((sum, tokens) => sum + tokens, 0);
    const sent = this.#series.length - this.#refused;
    return [...this.#overBudget].map(([budget, overBudget]) => ({
      budget,
      tokens: {
        total,
        average: sent === 0 ? 0 : Math.round(total / sent),
        peak: this.#series.reduce((peak, tokens) => Math.max(peak, tokens), 0),
      },
      cost: this.#cost.result(),
      cachedShare: this.#cost.cachedShare,
      epochs: this.#epochs,
      lookback: this.#lookback.result(),
      named: this.#named,
      broken: this.#broken,
      overBudget,
      refused: this.#refused,
      faults: this.#faults,
      series: this.#series,
    }));
  }
}
