/**
 * The hooks of a session's strategy, the only place where a session asks a model. They run one at a time; a failure leaves
 * one record and changes nothing else, and three failures in a row make them rest.
 */
import { WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import type { JsonObject } from "../message/message.ts";
import { countsOf, usedTokens } from "../message/parts.ts";
import type { UsageRecord } from "../message/record.ts";
import { checkedModel } from "../model/answer.ts";
import type { Model, ModelLike } from "../model/model.ts";
import type { SessionContext } from "./context.ts";
import { summaryHooks } from "../window/summary/strategy.ts";
import type { StrategyContext } from "../window/window.ts";
import { tell, usageRecorded } from "./events.ts";
import type { Epochs } from "./epochs.ts";
import { recordsOf } from "./log.ts";
import type { WindowNumbers } from "./usage.ts";
import type { SessionWriter } from "./writer.ts";

/** Failures in a row after which the hooks rest. */
const mostFailures = 3;
/** Steps that the hooks rest for. */
const rest = 20;

/** The name of a hook. */
export type HookName = "beforeCompose" | "afterStep" | "compact";

/** Runs the hooks of a session. */
export class Hooks {
  readonly #context: SessionContext;
  readonly #epochs: Epochs;
  readonly #writer: SessionWriter;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #failures = 0;
  #resting = 0;
  #committed = false;
  #reason = "";

  constructor(context: SessionContext, epochs: Epochs, writer: SessionWriter) {
    this.#context = context;
    this.#epochs = epochs;
    this.#writer = writer;
  }

  /** Failures since the last success, and whether the hooks rest because of them. */
  get breaker(): { readonly failures: number; readonly open: boolean } {
    return { failures: this.#failures, open: this.#resting > 0 };
  }

  /**
   * Runs a hook, the one after a step only while no other runs.
   *
   * @throws WindrowError `model-failed` where `compact` came to nothing
   */
  async run(name: HookName, signal?: AbortSignal): Promise<void> {
    const { id, composer, meter } = this.#context;
    const { strategy } = composer;
    const isByHand = name === "compact";
    const hook = isByHand ? (strategy.compact ?? strategy.afterStep ?? summaryHooks().compact) : strategy[name];
    if (!hook) return;
    if (isByHand) this.#resting = 0;
    else if (this.#resting > 0) {
      if (--this.#resting === 0) this.#failures = mostFailures - 1;
      return;
    }
    const before = this.#failures;
    const window = meter.numbers ?? this.#nextWindow();
    // A window that is about to be composed waits for its own hook: the one that runs may serve another.
    const running = name === "afterStep" ? this.#running : undefined;
    const work = (): Promise<void> => {
      const { signal: closed } = this.#abort;
      return hook(this.#strategyContext(window), signal ? AbortSignal.any([signal, closed]) : closed);
    };
    await (running ?? this.#queue(() => this.#guarded(work)));
    if (!isByHand || this.#failures <= before) return;
    const message = `Session ${id} was not summarised: ${this.#reason}. Nothing else changed.`;
    throw new WindrowError("model-failed", message, { id });
  }

  #queue(run: () => Promise<void>): Promise<void> {
    const running = (this.#running ?? Promise.resolve()).then(run).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  /** The window as it would be composed now, for a session that composed none. */
  #nextWindow(): WindowNumbers {
    const { tokens } = this.#epochs.composer.view();
    const budget = this.#context.budget ?? tokens;
    return { tokens, budget, room: budget };
  }

  /** Aborts the running hook and waits until it has ended. */
  async close(): Promise<void> {
    this.#abort.abort(new WindrowError("closed", "The session was closed."));
    await this.#running;
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    const before = this.#failures;
    try {
      await work();
      // A hook that committed nothing leaves the count of failures as it is.
      if (this.#failures === before && this.#committed) this.#failures = 0;
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      // A log that takes no record of it is told of by an event.
      await this.#fail(error instanceof Error ? error.message : "the hook failed", {}).catch(() => undefined);
    } finally {
      this.#committed = false;
      await this.#writer.asking(false);
    }
  }

  async #fail(reason: string, data: JsonObject): Promise<void> {
    this.#failures++;
    this.#reason = reason;
    if (this.#failures >= mostFailures) this.#resting = rest;
    const { id, on } = this.#context;
    const about = { ...data, reason, failures: this.#failures };
    const record = { kind: "edit", type: "summary-failed", data: about, timestamp: this.#timestamp() } as const;
    await this.#context.inTurn(() => this.#context.write([record]));
    const { problem } = data;
    const why = typeof problem === "string" && { problem };
    tell(on, { type: "summary-failed", sessionId: id, reason, ...why, ...this.breaker });
  }

  #timestamp(): string {
    return this.#context.now().toISOString();
  }

  /** A model whose requests the session's state shows: an answer may take minutes. */
  #shown(model: ModelLike): Model {
    const checked = checkedModel(model);
    const asked: Model = async (request, signal) => {
      await this.#writer.asking(true);
      return checked(request, signal);
    };
    return Object.assign(asked, checked);
  }

  #strategyContext({ tokens, budget, room }: WindowNumbers): StrategyContext {
    const { id, composer, on, conversation: state, maxSummaryTokens } = this.#context;
    const epochs = this.#epochs;
    const summarizer = this.#context.summarizer && this.#shown(this.#context.summarizer);
    const timestamp = this.#timestamp();
    return {
      view: epochs.composer.view(),
      budget,
      tokens,
      room,
      get edits() {
        return epochs.composer.state.edits;
      },
      last: epochs.composer.last,
      counter: composer.counter,
      mask: composer.mask,
      timestamp,
      ...defined({ summarizer, maxSummaryTokens, entities: state.entities }),
      commit: (edits, records) =>
        this.#context.inTurn(async () => {
          const committed = await epochs.commit(edits, "summary", records);
          this.#committed ||= committed;
          if (!committed) return false;
          const summaries = records.filter((record) => record.kind === "summary");
          const compressionCount = this.#writer.state.compressionCount + Math.min(1, summaries.length);
          await this.#writer.keepState({ ...epochs.numbers, compressionCount });
          const event = { type: "summary-committed", sessionId: id, epoch: epochs.composer.state.epoch } as const;
          for (const { originalTokens, summaryTokens } of summaries)
            tell(on, { ...event, originalTokens, summaryTokens });
          if (summaries.length === 0) tell(on, event);
          return true;
        }),
      record: (records) =>
        this.#context.inTurn(async () => {
          await this.#context.write(records);
          for (const record of records) state.apply(record);
        }),
      fail: (reason, data = {}) => this.#fail(reason, data),
      spend: async (purpose, reported, model) => {
        const usage = countsOf(reported);
        const timestamp = this.#timestamp();
        const record: UsageRecord = { kind: "usage", purpose, usage, ...defined({ model }), timestamp };
        await this.#context.inTurn(async () => {
          await this.#context.write([record]);
          tell(on, usageRecorded(id, record));
          const { totalTokensUsed } = this.#writer.state;
          this.#writer.note({ totalTokensUsed: totalTokensUsed + usedTokens(usage) });
        });
      },
      read: (from, to) => recordsOf(this.#context, { kind: "message", from, to }),
      summaries: (last) => recordsOf(this.#context, { kind: "summary", last }),
    };
  }
}
