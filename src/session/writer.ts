/**
 * The writer of a session: it completes messages, orders work in turns, hands records to the store at once, feeds the
 * session's windows and state with what the store took, and keeps the session's numbers.
 */
import { randomUUID } from "node:crypto";
import { isWindrowError, WindrowError } from "../errors.ts";
import { isObject, jsonFault } from "../message/json.ts";
import { withParts } from "../message/message.ts";
import type { GivenMessage, GivenPart, Message } from "../message/message.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import { isFinal } from "../store/shared/rules.ts";
import { endedRecord } from "../store/shared/state-count.ts";
import type { FinalStatus, SessionState } from "../store/store.ts";
import { countOnce } from "../tokens/counter.ts";
import type { SessionContext } from "./context.ts";
import type { Epochs } from "./epochs.ts";
import { tell } from "./events.ts";
import type { CloseReason } from "./events.ts";
import { resumedRecord } from "./log.ts";

/** Writes the records and the state of one session. */
export class SessionWriter {
  readonly #context: SessionContext;
  readonly #epochs: () => Epochs;
  /** The session's state, with changes that are not at the store yet. */
  state: SessionState;
  #queue: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  #touched: number;
  /** Whether the session accepts calls. */
  isOpen = true;
  /** Whether the store has a state of this process. */
  #begun = false;
  /** Whether a model is asked for a summary. */
  #asking = false;
  #closing: Promise<void> | undefined;
  /** Messages in the log, and the tokens of all of them. */
  messages = 0;
  tokens = 0;

  /** @param epochs - gives the windows that are fed, once they are there */
  constructor(context: SessionContext, epochs: () => Epochs) {
    this.#context = context;
    this.#epochs = epochs;
    this.state = context.state;
    this.#touched = context.now().getTime();
  }

  /** The time of the last call, in milliseconds since 1970; undefined while a write is under way. */
  get idleSince(): number | undefined {
    return this.#inFlight > 0 ? undefined : this.#touched;
  }

  /** @throws WindrowError `closed` */
  checkOpen(): void {
    const { id } = this.#context;
    if (!this.isOpen) throw new WindrowError("closed", `Session ${id} is closed; resume it to go on.`, { id });
  }

  /** Runs work when all work that was given before it has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#touched = this.#context.now().getTime();
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Counts messages that the log already has, up to `seq`. */
  counted(seq: number, tokens: number): void {
    this.messages = Math.max(this.messages, seq);
    this.tokens += tokens;
  }

  /**
   * The message with an id and a timestamp, checked. A result that names its call as a window shows it gets the log's id.
   *
   * @throws WindrowError `bad-message`
   */
  complete(given: GivenMessage): Message {
    const message = this.#context.check(filled(given));
    const timestamp = message.timestamp ?? this.#now();
    const parts = message.parts.map((part) => {
      if (part.type !== "tool-result") return part;
      const callId = this.hostIdOf(part.callId);
      return callId === part.callId ? part : { ...part, callId };
    });
    return withParts({ ...message, id: message.id ?? randomUUID(), timestamp }, parts);
  }

  /** The log's id of a call that windows show under `callId`; `callId` itself where they show none. */
  hostIdOf(callId: string): string {
    return this.#epochs().composer.hostIdOf(callId);
  }

  /**
   * Hands complete messages, and other records behind them, to the store at once, so that it can sync several calls
   * together; what it took feeds the session in the order of the calls.
   *
   * @throws WindrowError `closed`, `aborted`; what the store refuses
   */
  append(messages: readonly Message[], others: readonly NewRecord[] = [], signal?: AbortSignal): Promise<void> {
    this.checkOpen();
    if (signal?.aborted) throw new WindrowError("aborted", "The append was aborted before anything was written.");
    const { counter } = this.#context.composer;
    const records = messages.map((message): NewRecord => {
      const { timestamp = this.#now() } = message;
      return { kind: "message", message, tokenCount: countOnce(counter, message), timestamp };
    });
    this.#inFlight++;
    const written = this.store([...records, ...others]);
    // The turn that reports a refusal may come later: without this the process would see an unhandled rejection.
    written.catch(() => undefined);
    return this.inTurn(async () => this.#take(await written, messages)).finally(() => this.#inFlight--);
  }

  /** Appends a message behind everything under way, with records that name it by its number. */
  async appendLast(message: Message, recordsOf: (seq: number) => readonly NewRecord[]): Promise<void> {
    while (this.#inFlight > 0) await this.#queue;
    await this.append([message], recordsOf(this.messages + 1));
  }

  #take(stored: readonly StoredRecord[], messages: readonly Message[]): void {
    const { id: sessionId, store, conversation, on } = this.#context;
    let index = 0;
    for (const record of stored) {
      if (record.kind !== "message") continue;
      const { seq, tokenCount, message } = record;
      // The window shows the host's own message unless the store masks live windows too.
      const shown = store.capabilities.liveMask ? message : (messages[index++] as Message);
      conversation.push(seq, shown, message.masks);
      this.#epochs().push(seq, shown, message);
      this.counted(seq, tokenCount);
      tell(on, { type: "message-appended", sessionId, seq, role: message.role, tokens: tokenCount });
    }
  }

  /** Hands records to the store. Called inside a turn. */
  async store(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    try {
      return await this.#context.store.append(this.#context.lock, records);
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  /**
   * Takes the session out of its rest where it has one, and writes who goes on with it. What cannot be written keeps nobody
   * from resuming.
   */
  async resumed(isRested: boolean): Promise<void> {
    const { store, lock } = this.#context;
    try {
      // First, so that no session at rest has records of a writer whom nobody looks for.
      const woken = isRested ? store.setState(lock, this.state) : undefined;
      if (store.capabilities.inOrder !== true) await woken;
      await Promise.all([woken, store.append(lock, [resumedRecord(lock, this.#now())])]);
    } catch (error) {
      if (!this.#refused(error)) throw error;
    }
  }

  /** Changes the state in memory; the next {@link SessionWriter.setState} hands it to the store. */
  note(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
  }

  /** Says in the state, at the store, whether a model is asked for a summary. */
  async asking(isAsked: boolean): Promise<void> {
    if (this.#asking === isAsked) return;
    this.#asking = isAsked;
    await this.setState(() => (isAsked ? { lastActivity: "summary" } : {}));
  }

  /**
   * Notes the numbers of a window; before the first model call, and where an epoch opened, the store gets them at once.
   * Called inside a turn.
   */
  async composed(change: Pick<SessionState, "currentContextTokens" | "epochCount">): Promise<void> {
    const opened = change.epochCount !== this.state.epochCount;
    this.note(change);
    if (opened || !this.#begun) await this.keepState({});
  }

  /**
   * Changes the state and hands it to the store. A refusal is an event: the records of the same call are at the store, and
   * a caller who tried again would write them twice. The next state, or the end of the session, has the change too.
   */
  async setState(change: (state: SessionState) => Partial<SessionState>): Promise<void> {
    await this.inTurn(() => this.keepState(change(this.state)));
  }

  /** As {@link SessionWriter.setState}. Called inside a turn. */
  async keepState(change: Partial<SessionState>): Promise<void> {
    const { status: known } = this.state;
    const status = isFinal(known) ? known : this.#asking ? "compressing" : "processing";
    this.#begun = true;
    this.note({ ...change, status, updatedAt: this.#now() });
    try {
      await this.#context.store.setState(this.#context.lock, this.state);
    } catch (error) {
      if (!this.#refused(error)) throw error;
    }
  }

  /** Ends the session in its store. */
  async finish(status: FinalStatus, error: string | null): Promise<void> {
    await this.inTurn(async () => {
      const now = this.#now();
      // The log tells it first: a lost state is made again from it. Where it cannot be told, the session ends all the same.
      if (error !== null) await this.store([endedRecord({ status, error }, now)]).catch(() => undefined);
      const state = { ...this.state, status, updatedAt: now, completedAt: now, error };
      await this.#context.store.finish(this.#context.lock, state);
      this.state = state;
      this.isOpen = false;
    });
    this.#context.closed();
  }

  /** Releases the session's lock. Idempotent. */
  close(reason: CloseReason): Promise<void> {
    this.#closing ??= this.#release(reason);
    return this.#closing;
  }

  async #release(reason: CloseReason): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.#queue;
    const { id: sessionId, store, lock, closed, on } = this.#context;
    // A session that nobody touched for long is at rest: a resume makes it `processing` again.
    if (reason === "idle") this.note({ status: "closed", lastActivity: "idle", updatedAt: this.#now() });
    let isTaken = false;
    try {
      await store.setState(lock, this.state);
    } catch (error) {
      // What was acknowledged is in the log, and the session is no longer this process's.
      isTaken = isWindrowError(error, "fenced") && this.#refused(error);
      if (!isTaken) throw error;
    } finally {
      await lock.release().finally(closed);
      // Another holder has the session open: it is not closed.
      if (!isTaken) tell(on, { type: "session-closed", sessionId, reason });
    }
  }

  /** Tells of what the store refused; false for any other failure. */
  #refused(error: unknown): boolean {
    if (!isWindrowError(error)) return false;
    tell(this.#context.on, { type: "append-failed", sessionId: this.#context.id, error });
    return true;
  }

  #now(): string {
    return this.#context.now().toISOString();
  }
}

/** A message as a host may give it: a call without an id gets one, and a result may be any JSON value. */
function filled(given: GivenMessage): unknown {
  const { parts } = (given ?? {}) as { readonly parts?: unknown };
  if (!Array.isArray(parts)) return given;
  const full = (parts as readonly GivenPart[]).map((part): unknown => {
    if (part?.type === "tool-call") return part.callId === undefined ? { ...part, callId: randomUUID() } : part;
    return part?.type === "tool-result" ? { ...part, content: resultText(part.content) } : part;
  });
  return { ...given, parts: full };
}

/** The content of a result: a text, or parts, as they are; any other JSON value as its text. */
function resultText(content: unknown): unknown {
  if (content === undefined || typeof content === "string" || jsonFault(content) !== undefined) return content;
  const isParts = Array.isArray(content) && content.every((item) => isObject(item) && typeof item["type"] === "string");
  return isParts ? content : JSON.stringify(content);
}
