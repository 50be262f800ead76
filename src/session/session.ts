/** A session: one conversation of one agent on one job, journalled as it happens and composed from its log. */
import { WindrowError } from "../errors.ts";
import { defined } from "../message/json.ts";
import type { GivenMessage, GivenMessages, JsonObject, Message } from "../message/message.ts";
import { usedTokens } from "../message/parts.ts";
import type { NewRecord, StoredRecordOf } from "../message/record.ts";
import { checkEnd } from "../store/shared/rules.ts";
import type { FinalStatus, ReadQuery, SessionMetadata } from "../store/store.ts";
import { Turns } from "../turns.ts";
import { callKinds, initialState } from "../window/compose-options.ts";
import type { ComposeOptions } from "../window/compose-options.ts";
import { checkGiven, kinds } from "../window/options.ts";
import type { Explanation } from "../window/explain.ts";
import type { Recalled, RecallQuery } from "../window/recall/query.ts";
import type { Composed } from "../window/window.ts";
import type { SessionContext, SessionOptions, SessionSettings, SessionStats } from "./context.ts";
import { Epochs } from "./epochs.ts";
import type { Undone } from "./epochs.ts";
import { tell, usageRecorded } from "./events.ts";
import type { CloseReason } from "./events.ts";
import { facetsOf } from "./facets.ts";
import type { SessionGoal, SessionPins, SessionRecords, SessionSnapshot } from "./facets.ts";
import { Hooks } from "./hooks.ts";
import {
  explainEpoch,
  explainStored,
  newestEdits,
  openCalls,
  originalOf,
  recordedEpoch,
  usagesBehind,
  windowRecords,
} from "./log.ts";
import type { NewestEdits, OpenCall, Originals } from "./log.ts";
import { recallOnRecord } from "./recall.ts";
import type { RecallOptions } from "./recall.ts";
import type { PinOptions } from "./state/pins.ts";
import { ConversationState } from "./state/state.ts";
import { ToolRuns } from "./tool-run.ts";
import type { StartedCall, StartOptions, ToolRun } from "./tool-run.ts";
import { checkStep, UsageMeter } from "./usage.ts";
import type { StepUsed } from "./usage.ts";
import { SessionWriter } from "./writer.ts";

/** Options of {@link Session.compose}. */
export type SessionComposeOptions = Omit<ComposeOptions, "budget" | "pinned" | "systemNote"> & {
  readonly budget?: number;
};

/** One conversation. Made by a SessionManager; not constructed by hand. */
export class Session {
  readonly id: string;
  readonly metadata: SessionMetadata;
  /** The pins; {@link Session.pin} adds one. */
  readonly pins: SessionPins;
  /** The goal: the first user message, and its revisions. */
  readonly goal: SessionGoal;
  /** The state of the job as its agent records it. */
  readonly snapshot: SessionSnapshot;
  /** Records of an adapter's own. */
  readonly records: SessionRecords;
  readonly #context: SessionContext;
  readonly #writer: SessionWriter;
  readonly #epochs: Epochs;
  readonly #runs: ToolRuns;
  readonly #hooks: Hooks;
  readonly #attached = new Map<symbol, unknown>();
  /** The end of the session that is under way; never rejects. */
  #finishing: Promise<void> | undefined;

  /** @internal */
  constructor(options: SessionOptions) {
    const { metadata, contextWindow } = options;
    const conversation = new ConversationState();
    const meter = new UsageMeter(contextWindow);
    const context: SessionContext = {
      ...options,
      id: metadata.uuid,
      conversation,
      meter,
      inTurn: (work) => this.#writer.inTurn(work),
      write: (records) => this.#writer.store(records),
    };
    this.id = metadata.uuid;
    this.metadata = metadata;
    this.#context = context;
    this.#writer = new SessionWriter(context, () => this.#epochs);
    this.#epochs = new Epochs(context, () => this.#writer.tokens);
    this.#runs = new ToolRuns(context, this.#writer);
    this.#hooks = new Hooks(context, this.#epochs, this.#writer);
    const facets = facetsOf(context, this.#writer, (plan) => this.#record(plan));
    this.pins = facets.pins;
    this.goal = facets.goal;
    this.snapshot = facets.snapshot;
    this.records = facets.records;
  }

  /** @internal The time of the last call, in milliseconds since 1970; undefined while something is under way. */
  get idleSince(): number | undefined {
    return this.#runs.running.size > 0 || this.#finishing ? undefined : this.#writer.idleSince;
  }

  /** @internal Whether the session accepts calls. */
  get isOpen(): boolean {
    return this.#writer.isOpen;
  }

  /** @internal Restores an earlier process's state: reads the window's messages and those behind its epoch. */
  async restore({ epoch, base, later, pos }: NewestEdits, originals?: Originals): Promise<void> {
    const { id, store, scope, composer, conversation, meter, check } = this.#context;
    const given = (record: StoredRecordOf<"message">): Message => originalOf(record, originals, check);
    const through = epoch?.through ?? epoch?.state.opened ?? 0;
    this.#writer.counted(through, epoch?.historyTokens ?? 0);
    if (epoch) this.#epochs.resumed(epoch, base, given);
    if (epoch?.conversation) conversation.restore(epoch.conversation);
    const { taskSeq: task } = conversation;
    if (task !== undefined) {
      const query = { kind: "message", originals: true, from: task, to: task } as const;
      for await (const record of store.read(scope, id, query)) conversation.begin(record.seq, given(record));
    }
    for (const record of later) conversation.apply(record);
    meter.resumed(epoch?.conversation?.calibration, await usagesBehind(this.#context, pos));
    const turns = new Turns();
    for await (const record of windowRecords(this.#context, composer.state ?? initialState)) {
      await turns.turn();
      const shown = this.#epochs.restore(record, given(record));
      if (record.seq <= through) continue;
      this.#writer.counted(record.seq, record.tokenCount);
      conversation.push(record.seq, shown, record.message.masks);
    }
    // No epoch's line has the snapshot.
    const snapshots = store.read(scope, id, { kind: "snapshot", originals: true, last: 1 });
    for await (const record of snapshots) conversation.apply(record);
  }

  /** @internal Writes who goes on with the session; `isRested`: takes it out of its rest. */
  resumed(isRested: boolean): Promise<void> {
    return this.#writer.resumed(isRested);
  }

  /**
   * A value that belongs to this session, such as an adapter's journal of it. The first call makes it; later calls with
   * the same key return that value.
   *
   * @param key - a symbol of the caller's own, for values of one type
   */
  attach<T>(key: symbol, make: () => T): T {
    if (!this.#attached.has(key)) this.#attached.set(key, make());
    return this.#attached.get(key) as T;
  }

  /**
   * Adds a message, or several at once, at the end of the log. When it resolves they are on disk. A text is a message of
   * the user's.
   *
   * @returns the message as it was stored, with its id and timestamp; a call without an id got one, and a result that is any
   *   other JSON value than a text or parts is its JSON
   * @throws WindrowError `bad-message`, `not-durable`, `fenced`, `closed`, `aborted`
   */
  append(message: string | GivenMessage, signal?: AbortSignal): Promise<Message>;
  append(messages: readonly GivenMessage[], signal?: AbortSignal): Promise<readonly Message[]>;
  async append(given: GivenMessages, signal?: AbortSignal): Promise<Message | readonly Message[]> {
    const list = Array.isArray(given) ? (given as readonly GivenMessage[]) : [given as string | GivenMessage];
    const messages = list.map((one) =>
      this.#writer.complete(typeof one === "string" ? { role: "user", parts: [{ type: "text", text: one }] } : one),
    );
    await this.#writer.append(messages, [], signal);
    return Array.isArray(given) ? messages : (messages[0] as Message);
  }

  /**
   * Records that a tool is about to run, so that a crash in between leaves it in doubt and not unseen.
   * @param call - as it stands in the assistant's message; a missing callId is made
   * @throws WindrowError `masked-value` where its arguments hold the placeholder of a masked secret
   */
  startTool(call: StartedCall, options?: StartOptions): Promise<ToolRun> {
    return this.#runs.start(call, options);
  }

  /**
   * The window for the next model call. Opens an epoch where the budget is reached and records it before it returns.
   * Never asks a model. What is appended meanwhile comes after this window; the event loop gets turns.
   *
   * @throws WindrowError `over-budget` or `budget-too-small` with the size of each block; `bad-option`; `aborted`
   */
  async compose(options: SessionComposeOptions = {}, signal?: AbortSignal): Promise<Composed> {
    this.#writer.checkOpen();
    checkGiven("compose", options, callKinds);
    const { now, on, composer, conversation, meter, calibrate } = this.#context;
    const { budget = this.#context.budget } = options;
    if (budget === undefined) {
      throw new WindrowError("bad-option", "No budget: give compose a `budget`, or open the manager with a `model`.");
    }
    return this.#writer.inTurn(async () => {
      const time = now().toISOString();
      const pinned = conversation.blocks(time, composer.strategy.keepFirstUser);
      const counted = calibrate ? meter.countFor(budget) : budget;
      const request = { ...options, budget: counted, pinned, ...defined({ systemNote: conversation.systemNote }) };
      const { composed, opened } = await this.#epochs.compose(request, signal);
      meter.composed(composed, budget, this.#epochs.composer.last);
      await this.#writer.composed({ currentContextTokens: composed.tokens, epochCount: composed.state.epoch });
      if (opened) tell(on, { type: "epoch-opened", sessionId: this.id, report: composed.report });
      const call = this.#writer.state.llmCallCount + meter.unanswered;
      const { messages, report } = composed;
      const asked = defined({ model: composer.profile.model });
      tell(on, { type: "window-composed", sessionId: this.id, call, ...asked, messages: messages.length, report });
      return composed;
    });
  }

  /**
   * Takes the newest epoch back: what it took out of the window is in it again, as far as the budget allows. May be called
   * several times, also after later turns. The log only gains a record.
   *
   * @param options - `mayLeaveAgain`: the next epoch may take the same out again. Default: it stays as long as anything else can go
   * @throws WindrowError `not-found` where nothing is left to take back
   */
  async undo(options: { readonly mayLeaveAgain?: boolean } = {}): Promise<Undone> {
    this.#writer.checkOpen();
    return this.#writer.inTurn(async () => {
      const result = await this.#epochs.undo(options.mayLeaveAgain ?? false);
      await this.#writer.keepState(this.#epochs.numbers);
      tell(this.#context.on, { type: "epoch-undone", sessionId: this.id, ...result });
      return result;
    });
  }

  /**
   * Puts a text into every window from now on, verbatim, whatever leaves: in a fixed slot before the history from the next
   * epoch on, and until then at the end.
   *
   * @param options - `budget`: most tokens it may take; `until`: a time, `{ turns }` or `{ steps }`. Default: for good
   * @returns the pin's id, for `session.pins.remove`
   * @throws WindrowError `bad-option` for an empty text, a wrong option, or a text over its own budget
   */
  async pin(text: string, options: PinOptions = {}): Promise<string> {
    const { conversation, composer } = this.#context;
    const { data } = await this.#record((time) =>
      conversation.pins.plan(text, options, conversation.moment(time), composer.counter),
    );
    return data.id as string;
  }

  async #record<R extends NewRecord>(plan: (time: string) => R): Promise<R> {
    this.#writer.checkOpen();
    return this.#writer.inTurn(async () => {
      const record = plan(this.#context.now().toISOString());
      await this.#writer.store([record]);
      this.#context.conversation.apply(record);
      return record;
    });
  }

  /** Lets the strategy ask its model before a window is composed; most never do. What fails is a record and an event. */
  async prepare(signal?: AbortSignal): Promise<void> {
    this.#writer.checkOpen();
    await this.#hooks.run("beforeCompose", signal);
  }

  /**
   * Records what a model call used, and lets the strategy prepare a summary where one is due: in the background, or, with
   * `compaction: "blocking"`, before this resolves. After every model call.
   *
   * @throws WindrowError `bad-option` for a usage of other things than counts
   */
  async endStep(used: StepUsed = {}, signal?: AbortSignal): Promise<void> {
    checkStep(used);
    const { usage = {}, toolCalls = 0, ...facts } = used;
    const { meter, on, compaction } = this.#context;
    const timestamp = this.#context.now().toISOString();
    const calls = toolCalls > 0 ? toolCalls : undefined;
    const about = defined({ ...facts, toolCalls: calls, window: meter.window });
    const record = { kind: "usage", purpose: "turn", ...about, usage, timestamp } as const;
    await this.#writer.append([], [record]);
    tell(on, usageRecorded(this.id, record));
    const warning = meter.used(usage);
    if (warning !== undefined) tell(on, { type: "usage-ignored", sessionId: this.id, warning });
    await this.#writer.setState((state) => ({
      llmCallCount: state.llmCallCount + 1,
      toolCallCount: state.toolCallCount + toolCalls,
      totalTokensUsed: state.totalTokensUsed + usedTokens(usage),
      lastActivity: "llm_call",
    }));
    const done = this.#hooks.run("afterStep", signal);
    if (compaction === "blocking") await done;
  }

  /**
   * Summarises now, by hand, whether it is due or not: all but the newest messages, unless the strategy has a rule of its
   * own. With the session's summarizer, else by the messages' own sentences. What it replaces stays in the log.
   *
   * @returns whether anything was summarised
   * @throws WindrowError `model-failed` where it came to nothing; the log has one record more that says so
   */
  async compact(signal?: AbortSignal): Promise<boolean> {
    this.#writer.checkOpen();
    const { epoch } = this.#epochs.composer.state;
    await this.#hooks.run("compact", signal);
    return this.#epochs.composer.state.epoch > epoch;
  }

  /**
   * Brings back what left the window, or anything else of the log: by id, by words, or by range. The log gains a record of
   * the question and of what was found; one that cannot be written keeps nobody from the answer.
   *
   * @param options - `maxTokens` defaults to an eighth of the budget, and to 4,000 at most
   * @throws WindrowError `not-found`, `bad-option`, `aborted`
   */
  async recall(query: RecallQuery, options: RecallOptions = {}, signal?: AbortSignal): Promise<Recalled> {
    this.#writer.checkOpen();
    return recallOnRecord(this.#context, this.#writer.messages, query, options, signal);
  }

  /**
   * Every message's fate in the window as it stands: kept, stubbed, replaced or dropped, by which pass, why, and what it
   * costs. Worked out when asked, from the log and the edits in force; writes nothing.
   *
   * @param options - `epoch`: an earlier epoch's window, as it was when that epoch opened
   * @throws WindrowError `not-found` for an epoch the log does not hold, `bad-option`, `closed`
   */
  async explain(options: { readonly epoch?: number } = {}): Promise<Explanation> {
    this.#writer.checkOpen();
    checkGiven("explain", options, { epoch: kinds.number });
    const context = this.#context;
    return this.#writer.inTurn(async () => {
      if (options.epoch !== undefined) {
        return explainEpoch(context, await recordedEpoch(context, options.epoch), context.composer);
      }
      const { epoch } = await newestEdits(context);
      return explainStored(context, this.#epochs.composer, context.composer, epoch);
    });
  }

  /**
   * Tool runs that an earlier process began and whose result was never recorded. Nobody knows whether they took effect;
   * Windrow never runs them again, and the window shows them as interrupted.
   */
  async inDoubt(): Promise<readonly OpenCall[]> {
    this.#writer.checkOpen();
    const open = await openCalls(this.#context);
    return open.filter(({ callId }) => !this.#runs.running.has(callId));
  }

  /**
   * The facts that the strategy `entity-state` read from what the user wrote: the fields of its schema, null where nothing is
   * known. A copy. Undefined before `prepare()` was called behind the first user message.
   */
  entities(): JsonObject | undefined {
    return structuredClone(this.#context.conversation.entities?.state);
  }

  /** The settings its windows are composed with. */
  get settings(): SessionSettings {
    const { state: _state, ...composer } = this.#context.composer;
    const { budget, secretRules, store } = this.#context;
    return { ...composer, budget, secretRules, liveMask: store.capabilities.liveMask === true };
  }

  /** The log's messages, or some of them, oldest first, as the store keeps them. Streams. */
  async *messages(range: Pick<ReadQuery, "from" | "to" | "last"> = {}): AsyncIterable<Message> {
    this.#writer.checkOpen();
    const { store, scope } = this.#context;
    for await (const { message } of store.read(scope, this.id, { kind: "message", ...range })) yield message;
  }

  /** The session in numbers. */
  stats(): SessionStats {
    return {
      messages: this.#writer.messages,
      tokens: this.#writer.tokens,
      epoch: this.#epochs.composer.state.epoch,
      state: this.#writer.state,
      breaker: this.#hooks.breaker,
      reported: this.#context.meter.corrected,
    };
  }

  /**
   * Ends the session: nothing is written any more, and it stays readable. The manager's memory receives its log behind it.
   *
   * @throws WindrowError `closed` where it was closed or finished before; `bad-option` for a status that ends no session
   */
  finish(status: FinalStatus, error?: string): Promise<void> {
    const finished = (this.#finishing ?? Promise.resolve()).then(() => this.#finish(status, error ?? null));
    const finishing = finished
      .catch(() => undefined)
      .finally(() => {
        if (this.#finishing === finishing) this.#finishing = undefined;
      });
    this.#finishing = finishing;
    return finished;
  }

  async #finish(status: FinalStatus, error: string | null): Promise<void> {
    this.#writer.checkOpen();
    checkEnd(status, error);
    await this.#hooks.close();
    await this.#writer.finish(status, error);
    tell(this.#context.on, { type: "session-finished", sessionId: this.id, status, error });
    await this.#context.ended();
  }

  /**
   * Releases the session without ending it, after a `finish` that is under way; `resume` goes on. Idempotent.
   *
   * @param reason - of the event `session-closed`; a manager says `idle`
   */
  async close(reason: CloseReason = "asked"): Promise<void> {
    await this.#finishing;
    await this.#hooks.close();
    return this.#writer.close(reason);
  }
}
