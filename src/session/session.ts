/** A session: one conversation of one agent on one job, journalled as it happens and composed from its log. */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../errors.ts";
import type { JsonValue, Message, NewMessage, ToolCallPart, ToolResultPart, Usage } from "../message/message.ts";
import { toolResults } from "../message/message.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import type { FinalStatus, Lock, Scope, SessionMetadata, SessionState, Store } from "../store/store.ts";
import { countMessage } from "../tokens/counter.ts";
import type { TokenCounter } from "../tokens/counter.ts";
import { openCalls } from "../ops/log.ts";
import type { OpenCall } from "../ops/log.ts";
import { Composer } from "../window/epoch.ts";
import type { ComposeOptions, ComposerOptions } from "../window/epoch.ts";
import type { Explanation } from "../window/explain.ts";
import type { Recalled, RecallQuery } from "../window/recall.ts";
import type { Composed } from "../window/window.ts";
import { epochRecord } from "../window/epoch-record.ts";
import { tell } from "./events.ts";
import type { Listener } from "./events.ts";
import { explainSession } from "./explain.ts";
import { recallFromStore } from "./recall.ts";
import { toolRecord } from "./tool-record.ts";

/** What a manager opens a session with. */
export interface SessionParts {
  readonly store: Store;
  readonly scope: Scope;
  readonly lock: Lock;
  readonly metadata: SessionMetadata;
  readonly state: SessionState;
  readonly composer: ComposerOptions;
  /** Tokens; what `compose` takes when it is given none. */
  readonly budget: number | undefined;
  /** Checks messages that were not typed. */
  readonly check: (message: unknown) => NewMessage;
  readonly now: () => Date;
  /** Told once, when the session is closed or finished. */
  readonly closed: () => void;
  readonly on?: Listener;
}

/** What `compose` is given. */
export type SessionComposeOptions = Omit<ComposeOptions, "budget"> & { readonly budget?: number };

/** A tool run that was started and not yet finished. */
export interface ToolRun {
  readonly callId: string;
  /**
   * Records the result: a `tool` message for the window and a line of `tools.jsonl`.
   *
   * @param result - the content of the tool message: text, or parts; or a host's whole tool message, kept as it came
   * @param options - `durationMs` where the caller measured it; default: since `startTool`
   */
  finish(
    result: ToolResultPart["content"] | NewMessage,
    options?: { readonly isError?: boolean; readonly durationMs?: number },
  ): Promise<Message>;
}

/** A session in numbers. */
export interface SessionStats {
  readonly messages: number;
  /** Tokens of all messages, by the session's counter. */
  readonly tokens: number;
  readonly epoch: number;
  readonly state: SessionState;
}

/** One conversation. Made by a SessionManager; not constructed by hand. */
export class Session {
  readonly id: string;
  readonly metadata: SessionMetadata;
  readonly #parts: SessionParts;
  readonly #composer: Composer;
  readonly #counter: TokenCounter;
  #state: SessionState;
  #messages = 0;
  #tokens = 0;
  #recordedEpoch: number;
  #queue: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  readonly #running = new Set<string>();
  #touched: number;
  #closed = false;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(parts: SessionParts) {
    this.id = parts.metadata.uuid;
    this.metadata = parts.metadata;
    this.#parts = parts;
    this.#composer = new Composer(parts.composer);
    this.#counter = parts.composer.counter;
    this.#state = parts.state;
    this.#recordedEpoch = this.#composer.state.epoch;
    this.#touched = parts.now().getTime();
  }

  /** @internal When it was last used, in milliseconds since 1970; undefined while something is under way. */
  get idleSince(): number | undefined {
    return this.#running.size > 0 || this.#inFlight > 0 ? undefined : this.#touched;
  }

  /** @internal Whether it takes calls. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  /** @internal Feeds the window what the log holds. */
  restore(seq: number, message: Message): void {
    this.#composer.push(seq, message);
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
    const messages = list.map((message) => this.#complete(message));
    const records = messages.map((message) => this.#messageRecord(message));
    await this.#write(records, messages, signal);
    return Array.isArray(given) ? messages : (messages[0] as Message);
  }

  /**
   * Records that a tool is about to run, so that a crash in between leaves it in doubt and not unseen.
   *
   * @param call - as it stands in the assistant's message; a missing callId is made
   */
  async startTool(call: {
    readonly callId?: string;
    readonly name: string;
    readonly args: JsonValue;
  }): Promise<ToolRun> {
    const started = this.#parts.now();
    const callId = call.callId ?? randomUUID();
    const part: Pick<ToolCallPart, "callId" | "name" | "args"> = { callId, name: call.name, args: call.args };
    const record: NewRecord = {
      kind: "call",
      callId,
      toolName: call.name,
      arguments: call.args,
      timestamp: started.toISOString(),
    };
    await this.#write([record], []);
    this.#running.add(callId);
    tell(this.#parts.on, { type: "tool-started", sessionId: this.id, callId, toolName: call.name });
    return { callId, finish: (result, options) => this.#finishTool(part, started, result, options) };
  }

  /**
   * The window for the next model call. Opens an epoch where the budget is reached and records it before it returns.
   * Never asks a model.
   *
   * @throws WindrowError `over-budget` or `budget-too-small` with the size of each block; `bad-option`
   */
  async compose(options: SessionComposeOptions = {}): Promise<Composed> {
    this.#open();
    const budget = options.budget ?? this.#parts.budget;
    if (budget === undefined) {
      throw new WindrowError("bad-option", "No budget: give compose a `budget`, or open the manager with a `model`.");
    }
    return this.#inTurn(async () => {
      const composed = this.#composer.compose({ ...options, budget });
      if (composed.state.epoch !== this.#recordedEpoch) {
        const timestamp = this.#parts.now().toISOString();
        const epoch = { state: composed.state, historyTokens: this.#tokens };
        await this.#store([epochRecord(epoch, composed.report, timestamp)]);
        this.#recordedEpoch = composed.state.epoch;
        this.#state = { ...this.#state, compressionCount: this.#state.compressionCount + 1 };
        tell(this.#parts.on, { type: "epoch-opened", sessionId: this.id, report: composed.report });
      }
      this.#state = { ...this.#state, currentContextTokens: composed.tokens };
      tell(this.#parts.on, { type: "window-composed", sessionId: this.id, report: composed.report });
      return composed;
    });
  }

  /** Records what a model call used. After every model call. */
  async endStep({ usage = {}, model }: { readonly usage?: Usage; readonly model?: string } = {}): Promise<void> {
    const timestamp = this.#parts.now().toISOString();
    await this.#write(
      [{ kind: "usage", purpose: "turn", ...(model !== undefined && { model }), usage, timestamp }],
      [],
    );
    await this.#setState((state) => ({
      llmCallCount: state.llmCallCount + 1,
      totalTokensUsed: state.totalTokensUsed + (usage.input ?? 0) + (usage.output ?? 0),
      lastActivity: "llm_call",
    }));
  }

  /**
   * Brings back what left the window, or anything else of the log: by id, by words, or by range.
   *
   * @param options - `maxTokens` defaults to 4,000
   * @throws WindrowError `not-found`, `bad-option`
   */
  async recall(query: RecallQuery, options: { readonly maxTokens?: number } = {}): Promise<Recalled> {
    this.#open();
    const { store, scope } = this.#parts;
    return recallFromStore(store, scope, this.id, this.#messages, query, { ...options, counter: this.#counter });
  }

  /**
   * Every message's fate in the window as it stands: kept, stubbed, replaced or dropped, by which pass, why, and what it
   * costs. Worked out when asked, from the log and the edits in force; writes nothing.
   *
   * @param options - `epoch`: an earlier epoch's window, as it was when that epoch opened
   * @throws WindrowError `not-found` for an epoch the log does not hold, `closed`
   */
  async explain(options: { readonly epoch?: number } = {}): Promise<Explanation> {
    this.#open();
    return this.#inTurn(() => explainSession({ ...this.#parts, id: this.id }, this.#composer, options.epoch));
  }

  /**
   * Tool runs that an earlier process began and whose result was never recorded. Nobody knows whether they took effect;
   * Windrow never runs them again, and the window shows them as interrupted.
   */
  async inDoubt(): Promise<readonly OpenCall[]> {
    this.#open();
    const open = await openCalls(this.#parts.store, this.#parts.scope, this.id);
    return open.filter(({ callId }) => !this.#running.has(callId));
  }

  /** What its windows are made with; `budget` in tokens, undefined where each `compose` brings its own. */
  get settings(): Pick<ComposerOptions, "strategy" | "profile" | "counter"> & { readonly budget: number | undefined } {
    const { strategy, profile, counter } = this.#parts.composer;
    return { strategy, profile, counter, budget: this.#parts.budget };
  }

  /** The log's messages, oldest first, as the store keeps them. Streams. */
  async *messages(range: { readonly from?: number; readonly to?: number } = {}): AsyncIterable<Message> {
    this.#open();
    const { store, scope } = this.#parts;
    for await (const { message } of store.read(scope, this.id, { kind: "message", ...range })) yield message;
  }

  /** The session in numbers. */
  stats(): SessionStats {
    return { messages: this.#messages, tokens: this.#tokens, epoch: this.#composer.state.epoch, state: this.#state };
  }

  /** Ends the session. It stays readable and is written no more. */
  async finish(status: FinalStatus, error?: string): Promise<void> {
    this.#open();
    await this.#inTurn(async () => {
      const now = this.#parts.now().toISOString();
      const state = { ...this.#state, status, updatedAt: now, completedAt: now, error: error ?? null };
      await this.#parts.store.finish(this.#parts.lock, state);
      this.#state = state;
      this.#closed = true;
    });
    this.#parts.closed();
    tell(this.#parts.on, { type: "session-finished", sessionId: this.id, status, error: error ?? null });
  }

  /** Lets go of the session without ending it; `resume` goes on. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue;
    try {
      await this.#parts.store.setState(this.#parts.lock, this.#state);
    } finally {
      await this.#parts.lock.release();
      this.#parts.closed();
    }
  }

  #complete(given: NewMessage): Message {
    const message = this.#parts.check(given);
    return {
      ...message,
      id: message.id ?? randomUUID(),
      timestamp: message.timestamp ?? this.#parts.now().toISOString(),
    };
  }

  #messageRecord(message: Message): NewRecord {
    const timestamp = message.timestamp ?? this.#parts.now().toISOString();
    return { kind: "message", message, tokenCount: countMessage(this.#counter, message), timestamp };
  }

  async #finishTool(
    call: Pick<ToolCallPart, "callId" | "name" | "args">,
    started: Date,
    given: ToolResultPart["content"] | NewMessage,
    options: { readonly isError?: boolean; readonly durationMs?: number } = {},
  ): Promise<Message> {
    const ended = this.#parts.now();
    const durationMs = Math.max(0, Math.round(options.durationMs ?? ended.getTime() - started.getTime()));
    const made = (content: ToolResultPart["content"]): ToolResultPart => ({
      type: "tool-result",
      callId: call.callId,
      name: call.name,
      content,
      ...(options.isError === true && { isError: true }),
    });
    const whole = typeof given === "object" && "role" in given;
    const message = this.#complete(whole ? given : { role: "tool", parts: [made(given)] });
    const part = toolResults(message).find(({ callId }) => callId === call.callId) ?? made([]);
    // The line names the message by its number, which is only certain when nothing else is on its way.
    while (this.#inFlight > 0) await this.#queue;
    const times = { durationMs, timestamp: ended.toISOString() };
    const record = toolRecord(call, part, { ...times, messageSeq: this.#messages + 1 });
    await this.#write([this.#messageRecord(message), record], [message]);
    this.#running.delete(call.callId);
    await this.#setState((state) => ({ toolCallCount: state.toolCallCount + 1, lastActivity: "tool_execution" }));
    tell(this.#parts.on, { type: "tool-finished", sessionId: this.id, callId: call.callId, durationMs });
    return message;
  }

  /** Hands records to the store at once, so that it can sync several together, and takes them over in their order. */
  #write(records: readonly NewRecord[], messages: readonly Message[], signal?: AbortSignal): Promise<void> {
    this.#open();
    if (signal?.aborted) throw new WindrowError("aborted", "The append was aborted before anything was written.");
    this.#inFlight++;
    const written = this.#store(records);
    // Its turn may come long after it was refused; until then nobody else would hear of it.
    written.catch(() => undefined);
    return this.#inTurn(async () => {
      const stored = (await written).filter((record) => record.kind === "message");
      for (const [index, { seq, tokenCount }] of stored.entries()) {
        // The window keeps what the host gave; what was masked on its way to disk is the store's.
        this.restore(seq, messages[index] as Message);
        this.counted(seq, tokenCount);
        tell(this.#parts.on, { type: "message-appended", sessionId: this.id, seq, tokens: tokenCount });
      }
    }).finally(() => this.#inFlight--);
  }

  async #store(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    try {
      return await this.#parts.store.append(this.#parts.lock, records);
    } catch (error) {
      if (isWindrowError(error)) tell(this.#parts.on, { type: "append-failed", sessionId: this.id, error });
      throw error;
    }
  }

  async #setState(change: (state: SessionState) => Partial<SessionState>): Promise<void> {
    await this.#inTurn(async () => {
      const now = this.#parts.now().toISOString();
      this.#state = { ...this.#state, ...change(this.#state), status: "processing", updatedAt: now };
      await this.#parts.store.setState(this.#parts.lock, this.#state);
    });
  }

  /** One thing after another: appends and compositions see each other whole. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#touched = this.#parts.now().getTime();
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  #open(): void {
    if (this.#closed)
      throw new WindrowError("closed", `Session ${this.id} is closed; resume it to go on.`, { id: this.id });
  }
}
