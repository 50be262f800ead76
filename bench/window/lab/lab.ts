/**
 * The measures of windows that only who changes a strategy looks at: exact quotes, strict recall, and lines that files no
 * longer have.
 */
import type { Message } from "../../../src/message/message.ts";
import type { Recording } from "../../../src/replay/measure.ts";
import { editQuotes, findQuotes, patchQuotes, QuoteReader, QuoteTally } from "./quote-metric.ts";
import type { Quote, QuoteRecall } from "./quote-metric.ts";
import { StaleTally } from "./stale-metric.ts";
import type { RemovedShown } from "./stale-metric.ts";
import { StrictTally } from "./strict-metric.ts";
import type { StrictRecall, StrictRecording } from "./strict-metric.ts";

/** A session with what its windows are measured by. */
export interface LabRecording extends Pick<Recording, "messages" | "farDistance"> {
  readonly reader: QuoteReader;
  readonly strict: StrictRecording;
  readonly quotes: ReadonlyMap<number, readonly Quote[]>;
  readonly hunks: ReadonlyMap<number, readonly Quote[]>;
}

/** Reads a session once, for any number of tallies. */
export function readLab(recording: Recording): LabRecording {
  const { messages, tokens, farDistance } = recording;
  const reader = new QuoteReader();
  return {
    ...{ messages, farDistance, reader, strict: recording },
    quotes: findQuotes(messages, tokens, reader, editQuotes),
    hunks: findQuotes(messages, tokens, reader, patchQuotes),
  };
}

/** The figures of a session's windows. */
export interface LabFigures {
  /** Old texts of edits from far back that stood whole in the window. */
  readonly quotes: QuoteRecall;
  /** The same of the context and the removed lines of patches. */
  readonly hunks: QuoteRecall;
  /** Far recall without Windrow's own words. */
  readonly strict: StrictRecall;
  /** Lines of digests under a file that has them or had them, and how many of them the file had lost. */
  readonly lines: number;
  readonly stale: number;
  /** Lines of digests that a call took out of a file, and that nothing showed since; counted at each epoch. */
  readonly removed: RemovedShown;
}

/** Measures the windows of one session, call by call. */
export class LabTally {
  readonly #recording: LabRecording;
  readonly #quotes: QuoteTally;
  readonly #hunks: QuoteTally;
  readonly #strict: StrictTally;
  readonly #stale = new StaleTally();
  #pushed = 0;

  constructor(recording: LabRecording) {
    this.#recording = recording;
    this.#quotes = new QuoteTally(recording.reader, recording.farDistance);
    this.#hunks = new QuoteTally(recording.reader, recording.farDistance);
    this.#strict = new StrictTally(recording.strict);
  }

  /**
   * Counts one call. Calls come in order.
   *
   * @param window - the messages composed for it; none where there was no window
   * @param opened - whether an epoch opened
   */
  add(index: number, window: readonly Message[], opened: boolean): void {
    const { messages, quotes, hunks } = this.#recording;
    if (opened) {
      for (; this.#pushed < index; this.#pushed++) this.#stale.push(messages[this.#pushed] as Message);
      this.#stale.add(window);
    }
    this.#quotes.add(quotes.get(index) ?? [], window);
    this.#hunks.add(hunks.get(index) ?? [], window);
    this.#strict.add(index, window);
  }

  result(): LabFigures {
    const { lines, stale, removed } = this.#stale;
    const strict = this.#strict.result();
    return { quotes: this.#quotes.result(), strict, hunks: this.#hunks.result(), lines, stale, removed };
  }
}

/** The figures of every strategy and budget over several sessions. */
export class LabTotals {
  readonly #figures = new Map<string, LabFigures[]>();

  /** Begins a session: the function takes its windows, call by call, and `end` adds them up. */
  begin(recording: LabRecording): {
    add(strategy: string, budget: number, ...call: Parameters<LabTally["add"]>): void;
    end(): void;
  } {
    const tallies = new Map<string, LabTally>();
    return {
      add(strategy, budget, ...call) {
        const key = `${strategy} ${budget}`;
        const tally = tallies.get(key) ?? new LabTally(recording);
        tallies.set(key, tally);
        tally.add(...call);
      },
      end: () => {
        for (const [key, tally] of tallies) this.#figures.set(key, [...(this.#figures.get(key) ?? []), tally.result()]);
      },
    };
  }

  /** The sums of a strategy; one without a limit has the same at every budget. */
  of(strategy: string, budget: number | null): LabFigures {
    const figures = this.#figures.get(`${strategy} ${budget}`) ?? this.#figures.get(`${strategy} Infinity`) ?? [];
    const sum = (value: (one: LabFigures) => number): number => figures.reduce((all, one) => all + value(one), 0);
    const quotes = (of: "quotes" | "hunks"): QuoteRecall => ({
      found: sum((one) => one[of].found),
      total: sum((one) => one[of].total),
    });
    return {
      quotes: quotes("quotes"),
      hunks: quotes("hunks"),
      strict: { shares: sum((one) => one.strict.shares), steps: sum((one) => one.strict.steps) },
      lines: sum((one) => one.lines),
      stale: sum((one) => one.stale),
      removed: {
        titled: sum((one) => one.removed.titled),
        of: sum((one) => one.removed.of),
        elsewhere: sum((one) => one.removed.elsewhere),
      },
    };
  }
}
