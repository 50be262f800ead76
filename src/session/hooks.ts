/**
 * A strategy's hooks: the only place where a session may ask a model. One at a time; what fails leaves a record and nothing
 * else, and after three failures in a row they rest.
 */
import { WindrowError } from "../errors.ts";
import type { JsonObject } from "../message/message.ts";
import type { NewRecord, StoredRecord, StoredRecordOf } from "../message/record.ts";
import type { NumberedMessage } from "../message/step.ts";
import type { Model } from "../model/model.ts";
import type { Scope, Store } from "../store/store.ts";
import type { SessionComposer } from "./session-parts.ts";
import type { StrategyContext, StrategyHook } from "../window/window.ts";
import { tell } from "./events.ts";
import type { Listener } from "./events.ts";
import type { Epochs } from "./epochs.ts";
import type { Held } from "./state/state.ts";

/** What the hooks work on. */
export interface HooksParts {
  readonly id: string;
  readonly store: Store;
  readonly scope: Scope;
  readonly composer: SessionComposer;
  readonly epochs: Epochs;
  readonly held: Held;
  readonly summarizer?: Model;
  /** Tokens; undefined where each `compose` brings its own. */
  readonly budget: number | undefined;
  readonly on?: Listener;
  readonly timestamp: () => string;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told after each commit. */
  readonly committed: () => void;
  readonly write: (records: readonly NewRecord[]) => Promise<readonly StoredRecord[]>;
}

/** Failures in a row after which the hooks rest, and steps they rest for. */
const mostFailures = 3;
const rest = 20;

/** The window a hook runs behind: its tokens and its budget. */
export interface HookWindow {
  readonly tokens: number;
  readonly budget: number;
}

/** What `compact` does for a strategy that has no hook of its own. */
const compactAnyway: StrategyHook = async (context, signal) => {
  const { summariseStep } = await import("../window/summary/hook.ts");
  await summariseStep(context, {}, signal);
};

/** Which hook runs. */
export type HookName = "beforeCompose" | "afterStep" | "compact";

/** Runs a session's hooks. */
export class Hooks {
  readonly #parts: HooksParts;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #failures = 0;
  #resting = 0;
  #committed = false;
  #reason = "";

  constructor(parts: HooksParts) {
    this.#parts = parts;
  }

  /** Failures since the last success, and whether the hooks rest because of them. */
  get breaker(): { readonly failures: number; readonly open: boolean } {
    return { failures: this.#failures, open: this.#resting > 0 };
  }

  /**
   * Runs a hook and waits for it; while another one runs, that one. Never rejects but for `compact` by hand.
   */
  run(name: HookName, last: HookWindow | undefined, signal?: AbortSignal): Promise<void> {
    const window = last ?? this.#nextWindow();
    const { strategy } = this.#parts.composer;
    const hook = name === "compact" ? (strategy.compact ?? strategy.afterStep ?? compactAnyway) : strategy[name];
    if (!hook) return Promise.resolve();
    if (name === "compact") return this.#byHand(hook, window, signal);
    if (this.#resting > 0) {
      if (--this.#resting === 0) this.#failures = mostFailures - 1;
      return Promise.resolve();
    }
    const run = (): Promise<void> => this.#guarded(() => hook(this.#context(window), this.#signal(signal)));
    return this.#running ?? this.#queue(run);
  }

  async #byHand(hook: StrategyHook, window: HookWindow, signal: AbortSignal | undefined): Promise<void> {
    this.#resting = 0;
    const before = this.#failures;
    await this.#queue(() => this.#guarded(() => hook(this.#context(window), this.#signal(signal))));
    if (this.#failures <= before) return;
    const { id } = this.#parts;
    throw new WindrowError("model-failed", `Session ${id} was not summarised: ${this.#reason}. Nothing else changed.`, {
      id,
    });
  }

  #queue(run: () => Promise<void>): Promise<void> {
    const before = this.#running ?? Promise.resolve();
    const running = before.then(run).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** What the next window would be, where none was composed. */
  #nextWindow(): HookWindow {
    const { tokens } = this.#parts.epochs.composer.view();
    return { tokens, budget: this.#parts.budget ?? tokens };
  }

  /** Stops what runs and waits until it has stopped. */
  async close(): Promise<void> {
    this.#abort.abort(new WindrowError("closed", "The session was closed."));
    await this.#running;
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#abort.signal]) : this.#abort.signal;
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    const before = this.#failures;
    try {
      await work();
      // A hook that had nothing to do neither failed nor succeeded.
      if (this.#failures === before && this.#committed) this.#failures = 0;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      await this.#fail(error instanceof Error ? error.message : "the hook failed", {});
    } finally {
      this.#committed = false;
    }
  }

  async #fail(reason: string, data: JsonObject): Promise<void> {
    this.#failures++;
    this.#reason = reason;
    if (this.#failures >= mostFailures) this.#resting = rest;
    const { id, on } = this.#parts;
    const record: NewRecord = {
      kind: "edit",
      type: "summary-failed",
      data: { ...data, reason, failures: this.#failures },
      timestamp: this.#parts.timestamp(),
    };
    await this.#parts.inTurn(() => this.#parts.write([record]));
    tell(on, { type: "summary-failed", sessionId: id, reason, ...this.breaker });
  }

  #context({ tokens, budget }: { readonly tokens: number; readonly budget: number }): StrategyContext {
    const { id, store, scope, epochs, held, summarizer, composer } = this.#parts;
    const timestamp = this.#parts.timestamp();
    return {
      view: epochs.composer.view(),
      budget,
      tokens,
      last: epochs.composer.last,
      counter: composer.counter,
      profile: composer.profile,
      mask: composer.mask,
      timestamp,
      ...(summarizer && { summarizer }),
      pins: held.pins(timestamp).map(({ text }) => text),
      commit: (edits, records) =>
        this.#parts.inTurn(async () => {
          const committed = await epochs.commit(edits, "summary", records);
          this.#committed ||= committed;
          if (committed) this.#parts.committed();
          if (committed)
            tell(this.#parts.on, { type: "summary-committed", sessionId: id, epoch: epochs.composer.state.epoch });
          return committed;
        }),
      fail: (reason, data = {}) => this.#fail(reason, data),
      spend: async (purpose, usage, model) => {
        const record: NewRecord = {
          kind: "usage",
          purpose,
          usage,
          ...(model !== undefined && { model }),
          timestamp: this.#parts.timestamp(),
        };
        await this.#parts.inTurn(() => this.#parts.write([record]));
      },
      read: async (from, to) => {
        const messages: NumberedMessage[] = [];
        for await (const { seq, message } of store.read(scope, id, { kind: "message", from, to })) {
          messages.push({ seq, message });
        }
        return messages;
      },
      summaries: async (last) => {
        const records: StoredRecordOf<"summary">[] = [];
        for await (const record of store.read(scope, id, { kind: "summary", last })) records.push(record);
        return records;
      },
    };
  }
}
