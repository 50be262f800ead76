/** A session: one conversation of one agent on one job, journalled as it happens and composed from its log. */
import { WindrowError } from "../errors.ts";
import type { JsonObject, Message, NewMessage, Usage } from "../message/message.ts";
import type { EditRecord, NewRecord, StoredRecord, StoredRecordOf } from "../message/record.ts";
import type { FinalStatus, SessionMetadata } from "../store/store.ts";
import { editRecords, openCalls } from "./log.ts";
import type { OpenCall } from "./log.ts";
import { diffExplanations } from "../window/diff.ts";
import type { WindowDiff } from "../window/diff.ts";
import type { Explanation } from "../window/explain.ts";
import type { Recalled, RecallQuery } from "../window/recall/recall.ts";
import type { Composed } from "../window/window.ts";
import { Epochs } from "./epochs.ts";
import { completeMessage, messageRecord } from "./new-message.ts";
import { Hooks } from "./hooks.ts";
import type { HookWindow } from "./hooks.ts";
import type { Meter } from "./meter.ts";
import { tell } from "./events.ts";
import type { HostRecords } from "./host-records.ts";
import { explainSession } from "./explain.ts";
import { recallFromStore } from "./recall.ts";
import type { Goal } from "./state/goal.ts";
import type { Held } from "./state/state.ts";
import { missingPins } from "./state/pins.ts";
import type { Pin, PinOptions } from "./state/pins.ts";
import type { ContextSnapshot, SnapshotUpdate } from "./state/snapshot.ts";
import { offloadAtEnd } from "./offload.ts";
import type { RecallOptions, SessionComposeOptions, SessionParts } from "./session-parts.ts";
import type { SessionSettings, SessionStats } from "./session-parts.ts";
import { ToolRuns } from "./tool-run.ts";
import type { StartedCall, StartOptions, ToolRun } from "./tool-run.ts";
import { SessionWriter } from "./writer.ts";

/** One conversation. Made by a SessionManager; not constructed by hand. */
export class Session {
  readonly id: string;
  readonly metadata: SessionMetadata;
  /** Records of an adapter's own in the session's log. */
  readonly records: HostRecords;
  readonly #attached = new Map<symbol, unknown>();
  readonly #parts: SessionParts;
  readonly #epochs: Epochs;
  readonly #held: Held;
  readonly #writer: SessionWriter;
  #messages = 0;
  #tokens = 0;
  /** The last window's tokens and budget. */
  #window: HookWindow | undefined;
  readonly #runs: ToolRuns;
  readonly #hooks: Hooks;
  readonly #meter: Meter;

  /** @internal */
  constructor(parts: SessionParts) {
    this.id = parts.metadata.uuid;
    this.metadata = parts.metadata;
    this.#parts = parts;
    this.#held = parts.held;
    this.#writer = new SessionWriter({ ...parts, id: this.id });
    this.#runs = new ToolRuns({
      now: parts.now,
      tell: (event) => tell(parts.on, { ...event, sessionId: this.id }),
      write: (record) => this.#write([record], []),
      placeholders: (args) => this.#held.placeholdersIn(args),
      finish: async (given, recordsOf) => {
        const message = completeMessage(this.#parts, given);
        // The line names the message by its number, which is only certain when nothing else is on its way.
        await this.#writer.settled();
        const ended = recordsOf(this.#messages + 1);
        await this.#write([messageRecord(this.#parts, message), ...ended], [message]);
        const more = { lastActivity: "tool_execution" } as const;
        await this.#writer.setState((state) => ({ ...more, toolCallCount: state.toolCallCount + ended.length }));
        return message;
      },
    });
    this.#meter = parts.meter;
    const writing = {
      ...parts,
      id: this.id,
      timestamp: () => parts.now().toISOString(),
      write: (records: readonly NewRecord[]) => this.#writer.store(records),
    };
    this.records = {
      append: (type, data) =>
        this.#writer.write([{ kind: "edit", type, data, timestamp: writing.timestamp() }], () => undefined),
      read: (type) => editRecords(parts.store, parts.scope, this.id, type),
    };
    const held = (): JsonObject => ({ ...parts.held.toJSON(), calibration: parts.meter.toJSON() });
    this.#epochs = new Epochs({ ...writing, historyTokens: () => this.#tokens, heldData: held }, parts.recorded);
    const inTurn: SessionWriter["inTurn"] = (work) => this.#writer.inTurn(work);
    this.#hooks = new Hooks({ ...writing, epochs: this.#epochs, inTurn, committed: () => this.#writer.compressed() });
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

  /** @internal When it was last used, in milliseconds since 1970; undefined while something is under way. */
  get idleSince(): number | undefined {
    return this.#runs.running.size > 0 ? undefined : this.#writer.idleSince;
  }

  /** @internal Whether it takes calls. */
  get isOpen(): boolean {
    return this.#writer.isOpen;
  }

  /** @internal Feeds the window what the log holds. */
  restore(seq: number, message: Message): void {
    this.#epochs.restore(seq, message);
  }

  /** @internal Counts what the log holds. */
  counted(seq: number, tokens: number): void {
    this.#messages = Math.max(this.#messages, seq);
    this.#tokens += tokens;
  }

  /**
   * Adds a message, or several at once, at the end of the log. When it resolves they are on disk.
   *
   * @returns the message as it was stored, with its id and timestamp
   * @throws WindrowError `bad-message`, `not-durable`, `fenced`, `closed`, `aborted`
   */
  append(message: NewMessage, signal?: AbortSignal): Promise<Message>;
  append(messages: readonly NewMessage[], signal?: AbortSignal): Promise<readonly Message[]>;
  async append(given: NewMessage | readonly NewMessage[], signal?: AbortSignal): Promise<Message | readonly Message[]> {
    const list: readonly NewMessage[] = Array.isArray(given) ? given : [given as NewMessage];
    const messages = list.map((message) => completeMessage(this.#parts, message));
    const records = messages.map((message) => messageRecord(this.#parts, message));
    await this.#write(records, messages, signal);
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
    const budget = options.budget ?? this.#parts.budget;
    if (budget === undefined) {
      throw new WindrowError("bad-option", "No budget: give compose a `budget`, or open the manager with a `model`.");
    }
    return this.#writer.inTurn(async () => {
      const now = this.#parts.now().toISOString();
      const pinned = this.#held.blocks(now, this.#parts.composer.strategy.keepFirstUser);
      const counted = this.#parts.calibrate ? this.#meter.countFor(budget) : budget;
      const call = { ...options, budget: counted, pinned };
      const { composed, opened } = await this.#epochs.compose(call, signal);
      this.#meter.composed(composed);
      this.#window = { tokens: composed.tokens, budget };
      if (opened) {
        this.#writer.compressed();
        tell(this.#parts.on, { type: "epoch-opened", sessionId: this.id, report: composed.report });
      }
      const missing = missingPins(this.#held.pins(now), composed.messages);
      if (missing.length > 0) {
        tell(this.#parts.on, { type: "pins-missing", sessionId: this.id, pins: missing.map(({ id }) => id) });
      }
      this.#writer.note({ currentContextTokens: composed.tokens });
      tell(this.#parts.on, { type: "window-composed", sessionId: this.id, report: composed.report });
      return composed;
    });
  }

  /**
   * Takes the newest epoch back: what it took out of the window is in it again, as far as the budget allows. May be called
   * several times, also after later turns. The log only gains a record.
   *
   * @throws WindrowError `not-found` where nothing is left to take back
   */
  async undo(): Promise<{ readonly undone: number; readonly epoch: number }> {
    this.#writer.checkOpen();
    return this.#writer.inTurn(async () => {
      const result = await this.#epochs.undo();
      tell(this.#parts.on, { type: "epoch-undone", sessionId: this.id, ...result });
      return result;
    });
  }

  /**
   * Puts a text into every window from now on, verbatim, whatever leaves: in a fixed slot before the history from the next
   * epoch on, and until then at the end.
   *
   * @param options - `budget`: most tokens it may take; `until`: a time, `{ turns }` or `{ steps }`. Default: for good
   * @returns the pin's id, for `unpin`
   * @throws WindrowError `bad-option` for an empty text, a wrong option, or a text over its own budget
   */
  async pin(text: string, options: PinOptions = {}): Promise<string> {
    return this.#hold((time) => {
      const { record, id } = this.#held.planPin(text, options, time, this.#parts.composer.counter);
      return { record, result: id };
    });
  }

  /**
   * Takes a pin off.
   *
   * @throws WindrowError `not-found`
   */
  async unpin(id: string): Promise<void> {
    await this.#hold((time) => ({ record: this.#held.planUnpin(id, time), result: undefined }));
  }

  /** The pins that hold now. */
  pins(): readonly Pin[] {
    return this.#held.pins(this.#parts.now().toISOString());
  }

  /** What the session is for: the first user message, and what {@link Session.setGoal} set since. */
  get goal(): Goal {
    return this.#held.goal;
  }

  /**
   * Revises the goal. It stands in every window from now on, in these words, and so does the original.
   *
   * @throws WindrowError `bad-option` for an empty text
   */
  async setGoal(text: string): Promise<void> {
    await this.#hold((time) => ({ record: this.#held.planGoal(text, time), result: undefined }));
  }

  /** The state of the job as its agent told it, or undefined where it told none. */
  get snapshot(): ContextSnapshot | undefined {
    return this.#held.snapshot;
  }

  /**
   * Updates the snapshot: fields that are named replace their old values, the others stay (seed 000).
   *
   * @throws WindrowError `bad-option` for an unknown field or a wrong type
   */
  async updateSnapshot(update: SnapshotUpdate): Promise<ContextSnapshot> {
    await this.#hold((time) => ({ record: this.#held.planSnapshot(update, time), result: undefined }));
    return this.#held.snapshot as ContextSnapshot;
  }

  /** Writes a record of what the session holds, planned in its turn, and takes it over. */
  #hold<T>(planned: (time: string) => { readonly record: NewRecord; readonly result: T }): Promise<T> {
    this.#writer.checkOpen();
    return this.#writer.inTurn(async () => {
      const { record, result } = planned(this.#parts.now().toISOString());
      await this.#writer.store([record]);
      this.#held.apply(record);
      return result;
    });
  }

  /** Lets the strategy ask its model before a window is composed; most never do. What fails is a record and an event. */
  async prepare(signal?: AbortSignal): Promise<void> {
    this.#writer.checkOpen();
    await this.#hooks.run("beforeCompose", this.#window, signal);
  }

  /**
   * Records what a model call used, and lets the strategy prepare a summary where one is due: in the background, or, with
   * `compaction: "blocking"`, before this resolves. After every model call.
   */
  async endStep(
    { usage = {}, model }: { readonly usage?: Usage; readonly model?: string } = {},
    signal?: AbortSignal,
  ): Promise<void> {
    const timestamp = this.#parts.now().toISOString();
    await this.#write(
      [{ kind: "usage", purpose: "turn", ...(model !== undefined && { model }), usage, timestamp }],
      [],
    );
    const warning = this.#meter.used(usage);
    if (warning !== undefined) tell(this.#parts.on, { type: "usage-ignored", sessionId: this.id, warning });
    await this.#writer.setState((state) => ({
      llmCallCount: state.llmCallCount + 1,
      totalTokensUsed: state.totalTokensUsed + (usage.input ?? 0) + (usage.output ?? 0),
      lastActivity: "llm_call",
    }));
    const done = this.#hooks.run("afterStep", this.#window, signal);
    if (this.#parts.compaction === "blocking") await done;
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
    await this.#hooks.run("compact", this.#window, signal);
    return this.#epochs.composer.state.epoch > epoch;
  }

  /**
   * Brings back what left the window, or anything else of the log: by id, by words, or by range.
   *
   * @param options - `maxTokens` defaults to 4,000
   * @throws WindrowError `not-found`, `bad-option`, `aborted`
   */
  async recall(query: RecallQuery, options: RecallOptions = {}, signal?: AbortSignal): Promise<Recalled> {
    this.#writer.checkOpen();
    const { counter, mask } = this.#parts.composer;
    const session = { ...this.#parts, id: this.id, length: this.#messages };
    return recallFromStore(session, query, { ...options, counter, mask }, signal);
  }

  /**
   * Every message's fate in the window as it stands: kept, stubbed, replaced or dropped, by which pass, why, and what it
   * costs. Worked out when asked, from the log and the edits in force; writes nothing.
   *
   * @param options - `epoch`: an earlier epoch's window, as it was when that epoch opened
   * @throws WindrowError `not-found` for an epoch the log does not hold, `closed`
   */
  async explain(options: { readonly epoch?: number } = {}): Promise<Explanation> {
    this.#writer.checkOpen();
    return this.#writer.inTurn(() =>
      explainSession({ ...this.#parts, id: this.id }, this.#epochs.composer, options.epoch),
    );
  }

  /**
   * What changed between two windows: messages whose fate is another, and what it saved or cost.
   *
   * @param from - the epoch whose window is the older one, as it was when that epoch opened
   * @param to - another epoch. Default: the window as it stands
   * @throws WindrowError `not-found`, `closed`
   */
  async diff(from: number, to?: number): Promise<WindowDiff> {
    const before = await this.explain({ epoch: from });
    return diffExplanations(before, await this.explain(to === undefined ? {} : { epoch: to }));
  }

  /**
   * Tool runs that an earlier process began and whose result was never recorded. Nobody knows whether they took effect;
   * Windrow never runs them again, and the window shows them as interrupted.
   */
  async inDoubt(): Promise<readonly OpenCall[]> {
    this.#writer.checkOpen();
    const open = await openCalls(this.#parts.store, this.#parts.scope, this.id);
    return open.filter(({ callId }) => !this.#runs.running.has(callId));
  }

  /** What its windows are made with; `budget` in tokens, undefined where each `compose` brings its own. */
  get settings(): SessionSettings {
    const { state: _state, ...composer } = this.#parts.composer;
    const { budget, secretRules, store } = this.#parts;
    return { ...composer, budget, secretRules, liveMask: store.capabilities.liveMask === true };
  }

  /** The log's messages, oldest first, as the store keeps them. Streams. */
  async *messages(range: { readonly from?: number; readonly to?: number } = {}): AsyncIterable<Message> {
    this.#writer.checkOpen();
    const { store, scope } = this.#parts;
    for await (const { message } of store.read(scope, this.id, { kind: "message", ...range })) yield message;
  }

  /** The session in numbers. */
  stats(): SessionStats {
    return {
      messages: this.#messages,
      tokens: this.#tokens,
      epoch: this.#epochs.composer.state.epoch,
      state: this.#writer.state,
      breaker: this.#hooks.breaker,
      cost: this.#meter.cost,
      reported: this.#meter.corrected(this.#window?.tokens ?? 0),
    };
  }

  /** Ends the session: its memory gets its log, once, and it is written no more. It stays readable. */
  async finish(status: FinalStatus, error?: string): Promise<void> {
    await this.#hooks.close();
    const write = (record: EditRecord): Promise<void> => this.#hold(() => ({ record, result: undefined }));
    await offloadAtEnd({ ...this.#parts, id: this.id, write });
    await this.#writer.finish(status, error ?? null);
    tell(this.#parts.on, { type: "session-finished", sessionId: this.id, status, error: error ?? null });
  }

  /** Lets go of the session without ending it; `resume` goes on. Idempotent. */
  async close(): Promise<void> {
    await this.#hooks.close();
    return this.#writer.close();
  }

  /** Writes records and takes their messages over, in their order. */
  #write(records: readonly NewRecord[], messages: readonly Message[], signal?: AbortSignal): Promise<void> {
    const taken = (stored: readonly StoredRecord[]): void => {
      for (const [index, record] of stored.filter(({ kind }) => kind === "message").entries()) {
        const { seq, tokenCount, message } = record as StoredRecordOf<"message">;
        // The window keeps what the host gave; what was masked on its way to disk is the store's.
        const shown = this.#parts.store.capabilities.liveMask ? message : (messages[index] as Message);
        this.#epochs.push(seq, this.#held.take(seq, shown, message.masks));
        this.counted(seq, tokenCount);
        tell(this.#parts.on, { type: "message-appended", sessionId: this.id, seq, tokens: tokenCount });
      }
    };
    return this.#writer.write(records, taken, signal);
  }
}
