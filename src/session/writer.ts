/** The writer of a session: it orders work in turns, hands records to the store at once, and keeps the session's state. */
import { isWindrowError, WindrowError } from "../errors.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import { checkEnd, isFinal } from "../store/shared/rules.ts";
import { endedRecord } from "../store/shared/state-count.ts";
import type { FinalStatus, SessionState } from "../store/store.ts";
import type { SessionOptions } from "./context.ts";
import { tell } from "./events.ts";
import type { CloseReason } from "./events.ts";

/** The options of a session that its writer needs. */
export type WriterOptions = Pick<SessionOptions, "store" | "lock" | "state" | "now" | "closed" | "on">;

/** Writes the records and the state of one session. */
export class SessionWriter {
  readonly #id: string;
  readonly #options: WriterOptions;
  #state: SessionState;
  #queue: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  #touched: number;
  #closed = false;
  /** Whether the store has a state of this process. */
  #begun = false;
  /** Whether a model is asked for a summary. */
  #asking = false;
  #closing: Promise<void> | undefined;

  constructor(id: string, options: WriterOptions) {
    this.#id = id;
    this.#options = options;
    this.#state = options.state;
    this.#touched = options.now().getTime();
  }

  /** The session's state, with changes that are not at the store yet. */
  get state(): SessionState {
    return this.#state;
  }

  /** The time of the last call, in milliseconds since 1970; undefined while a write is under way. */
  get idleSince(): number | undefined {
    return this.#inFlight > 0 ? undefined : this.#touched;
  }

  /** Whether the session accepts calls. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  /** @throws WindrowError `closed` */
  checkOpen(): void {
    const id = this.#id;
    if (this.#closed) throw new WindrowError("closed", `Session ${id} is closed; resume it to go on.`, { id });
  }

  /** @throws WindrowError `closed`; `bad-option` for an end that no state can say */
  checkEnd(status: FinalStatus, error: string | null): void {
    this.checkOpen();
    checkEnd(status, error);
  }

  /** Runs work when all work that was given before it has ended. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#touched = this.#options.now().getTime();
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Waits until no write is under way. */
  async settled(): Promise<void> {
    while (this.#inFlight > 0) await this.#queue;
  }

  /** Hands records to the store at once, so that it can sync several calls together; `taken` runs in the order of calls. */
  write(
    records: readonly NewRecord[],
    taken: (stored: readonly StoredRecord[]) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    this.checkOpen();
    if (signal?.aborted) throw new WindrowError("aborted", "The append was aborted before anything was written.");
    this.#inFlight++;
    const written = this.store(records);
    // The turn that reports a refusal may come later: without this the process would see an unhandled rejection.
    written.catch(() => undefined);
    return this.inTurn(async () => taken(await written)).finally(() => this.#inFlight--);
  }

  /** Hands records to the store. Called inside a turn. */
  async store(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    try {
      return await this.#options.store.append(this.#options.lock, records);
    } catch (error) {
      if (isWindrowError(error)) tell(this.#options.on, { type: "append-failed", sessionId: this.#id, error });
      throw error;
    }
  }

  /** Changes the state in memory; the next {@link SessionWriter.setState} hands it to the store. */
  note(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
  }

  /** Says in the state, at the store, that a model is asked for a summary; until {@link SessionWriter.answered}. */
  async asking(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    await this.setState(() => ({ lastActivity: "summary" }));
  }

  /** Says in the state that no model is asked any more. */
  async answered(): Promise<void> {
    if (!this.#asking) return;
    this.#asking = false;
    await this.setState(() => ({}));
  }

  /**
   * Notes the numbers of a window; before the first model call, and where an epoch opened, the store gets them at once.
   * Called inside a turn.
   */
  async composed(change: Pick<SessionState, "currentContextTokens" | "epochCount">): Promise<void> {
    const opened = change.epochCount !== this.#state.epochCount;
    this.note(change);
    if (opened || !this.#begun) await this.keepState({});
  }

  /**
   * Changes the state and hands it to the store. A refusal is an event: the records of the same call are at the store, and
   * a caller who tried again would write them twice. The next state, or the end of the session, has the change too.
   */
  async setState(change: (state: SessionState) => Partial<SessionState>): Promise<void> {
    await this.inTurn(() => this.keepState(change(this.#state)));
  }

  /** As {@link SessionWriter.setState}. Called inside a turn. */
  async keepState(change: Partial<SessionState>): Promise<void> {
    const now = this.#options.now().toISOString();
    const { status: known } = this.#state;
    const status = isFinal(known) ? known : this.#asking ? "compressing" : "processing";
    this.#begun = true;
    this.#state = { ...this.#state, ...change, status, updatedAt: now };
    try {
      await this.#options.store.setState(this.#options.lock, this.#state);
    } catch (error) {
      if (!isWindrowError(error)) throw error;
      tell(this.#options.on, { type: "append-failed", sessionId: this.#id, error });
    }
  }

  /** Ends the session in its store. */
  async finish(status: FinalStatus, error: string | null): Promise<void> {
    this.checkOpen();
    await this.inTurn(async () => {
      const now = this.#options.now().toISOString();
      // The log tells it first: a lost state is made again from it. Where it cannot be told, the session ends all the same.
      if (error !== null) await this.store([endedRecord({ status, error }, now)]).catch(() => undefined);
      const state = { ...this.#state, status, updatedAt: now, completedAt: now, error };
      await this.#options.store.finish(this.#options.lock, state);
      this.#state = state;
      this.#closed = true;
    });
    this.#options.closed();
  }

  /** Releases the session's lock. Idempotent. */
  close(reason: CloseReason): Promise<void> {
    this.#closing ??= this.#release(reason);
    return this.#closing;
  }

  /** The state of a session that nobody touched for long: a resume makes it `processing` again. */
  get #atRest(): SessionState {
    return { ...this.#state, status: "closed", lastActivity: "idle", updatedAt: this.#options.now().toISOString() };
  }

  async #release(reason: CloseReason): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue;
    let isTaken = false;
    try {
      await this.#options.store.setState(this.#options.lock, reason === "idle" ? this.#atRest : this.#state);
    } catch (error) {
      // What was acknowledged is in the log, and the session is no longer this process's.
      if (!isWindrowError(error, "fenced")) throw error;
      isTaken = true;
      tell(this.#options.on, { type: "append-failed", sessionId: this.#id, error });
    } finally {
      await this.#letGo();
      // Another holder has the session open: it is not closed.
      if (!isTaken) tell(this.#options.on, { type: "session-closed", sessionId: this.#id, reason });
    }
  }

  async #letGo(): Promise<void> {
    try {
      await this.#options.lock.release();
    } finally {
      this.#options.closed();
    }
  }
}
