/** What the windows of a recorded session are measured by, whoever composed them. */
import type { Message } from "../message/message.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import type { Edit } from "../window/window.ts";
import { CostTally, MessageTokens } from "./cost-metric.ts";
import type { Cost, InputPrices } from "./cost-metric.ts";
import { HistoryLines } from "./lines.ts";
import { OneHop } from "./one-hop.ts";
import { findQuotes, QuoteReader, QuoteTally } from "./quote-metric.ts";
import type { Quote } from "./quote-metric.ts";
import { AtomReader, farDistanceFor, findReferences, LookbackTally } from "./recall-metric.ts";
import type { Lookback, Reference } from "./recall-metric.ts";
import { essentials, isBroken } from "./shape-metric.ts";
import { StaleTally } from "./stale-metric.ts";

/** A session with all that is looked up in it again and again. */
export interface Recording {
  readonly messages: readonly Message[];
  /** Indices of the assistant messages that answer something: each is a request. */
  readonly calls: readonly number[];
  readonly tokens: MessageTokens;
  /** What counts as far, in tokens. */
  readonly farDistance: number;
  readonly reader: AtomReader;
  readonly references: ReadonlyMap<number, readonly Reference[]>;
  readonly history: HistoryLines;
  readonly quoteReader: QuoteReader;
  readonly quotes: ReadonlyMap<number, readonly Quote[]>;
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
  const quoteReader = new QuoteReader();
  const first = messages.findIndex((message) => message.role !== "system");
  return {
    messages,
    calls: messages.flatMap((message, index) => (message.role === "assistant" && index > first ? [index] : [])),
    tokens,
    farDistance: farDistance ?? farDistanceFor(tokens.sum(messages)),
    reader,
    references: findReferences(messages, counter, reader),
    history: new HistoryLines(messages),
    quoteReader,
    quotes: findQuotes(messages, tokens, quoteReader),
    oneHop: new OneHop(counter),
  };
}

/** One request. */
export interface MeasuredWindow {
  readonly messages: readonly Message[];
  /** Of the whole request. */
  readonly tokens: number;
  /** The edits in force, for one-hop recall. */
  readonly edits: readonly Edit[];
  /** Whether it changed elsewhere than at its end. */
  readonly opened: boolean;
  /** Rules of the provider's that it breaks. */
  readonly faults: number;
}

/** What the windows of a session were, at one budget. */
export interface WindowFigures {
  readonly budget: number;
  /** Input tokens of all requests, of the mean and of the largest one. */
  readonly tokens: { readonly total: number; readonly average: number; readonly peak: number };
  readonly cost: Cost;
  /** Share of all input tokens that was in the provider's cache, 0 to 1. */
  readonly cachedShare: number;
  /** How often the window changed elsewhere than at its end. */
  readonly epochs: number;
  readonly lookback: Lookback;
  /**
   * Of the lines that digests show under a file, those gone from the file when the digest was made, 0 to 1. Counted
   * whenever an epoch opens, where reads, edits and writes tell what the file holds; null where nothing could be counted.
   */
  readonly staleShare: number | null;
  /** The lines that `staleShare` is a share of. */
  readonly digestLines: number;
  /** Requests with an orphan result, an unanswered call, a leading message not the user's, an empty one, or none. */
  readonly broken: number;
  /** Requests above the budget though system, task and newest step fit. */
  readonly overBudget: number;
  /** Calls for which there is no window: what may never be left out does not fit, and the composition says so. */
  readonly refused: number;
  /** Rules of the profile that windows broke, all together. */
  readonly faults: number;
}

/** Measures the windows of one session, call by call; one that has no limit is held against several budgets at once. */
export class WindowTally {
  readonly #recording: Recording;
  readonly #cost: CostTally;
  readonly #lookback: LookbackTally;
  readonly #quotes: QuoteTally;
  readonly #stale = new StaleTally();
  readonly #overBudget: Map<number, number>;
  readonly #series: number[] = [];
  #pushed = 0;
  #epochs = 0;
  #broken = 0;
  #refused = 0;
  #faults = 0;

  constructor(recording: Recording, budgets: readonly number[]) {
    this.#recording = recording;
    this.#cost = new CostTally(recording.tokens);
    this.#lookback = new LookbackTally(recording.reader, recording.farDistance, recording.history);
    this.#quotes = new QuoteTally(recording.quoteReader, recording.farDistance);
    this.#overBudget = new Map(budgets.map((budget) => [budget, 0]));
  }

  /**
   * Counts one call; calls come in their order.
   *
   * @param index - of the assistant message that answered
   * @param window - undefined where there was none to send
   */
  add(index: number, window: MeasuredWindow | undefined): void {
    const { messages, references, quotes, oneHop, tokens } = this.#recording;
    for (; this.#pushed < index; this.#pushed++) this.#stale.push(messages[this.#pushed] as Message);
    const history = messages.slice(0, index);
    const shown = window?.messages ?? [];
    if (window) {
      this.#cost.add(shown);
      if (window.opened) {
        this.#epochs++;
        this.#stale.add(shown);
      }
      if (isBroken(shown)) this.#broken++;
      this.#faults += window.faults;
    } else this.#refused++;
    this.#lookback.add(references.get(index) ?? [], shown, oneHop.forCall(history, window?.edits ?? [], shown));
    this.#quotes.add(quotes.get(index) ?? [], shown);
    this.#series.push(window?.tokens ?? 0);
    for (const [budget, calls] of this.#overBudget) {
      const within = window !== undefined && window.tokens <= budget;
      if (!within && tokens.sum(essentials(history)) <= budget) this.#overBudget.set(budget, calls + 1);
    }
  }

  /** Tokens of every request so far, 0 for a refused one. */
  get series(): readonly number[] {
    return this.#series;
  }

  /**
   * The figures so far, for each budget.
   *
   * @param prices - the model's, in dollars a million tokens
   */
  results(prices?: InputPrices): readonly WindowFigures[] {
    const total = this.#series.reduce((sum, tokens) => sum + tokens, 0);
    const sent = this.#series.length - this.#refused;
    return [...this.#overBudget].map(([budget, overBudget]) => ({
      budget,
      tokens: {
        total,
        average: sent === 0 ? 0 : Math.round(total / sent),
        peak: this.#series.reduce((peak, tokens) => Math.max(peak, tokens), 0),
      },
      cost: this.#cost.result(prices),
      cachedShare: this.#cost.cachedShare,
      epochs: this.#epochs,
      lookback: { ...this.#lookback.result(), quotes: this.#quotes.result() },
      staleShare: this.#stale.result(),
      digestLines: this.#stale.lines,
      broken: this.#broken,
      overBudget,
      refused: this.#refused,
      faults: this.#faults,
    }));
  }
}
