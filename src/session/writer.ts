/** The writing end of a session: one thing after another, each record handed to the store at once, the state kept. */
import { isWindrowError, WindrowError } from "../errors.ts";
import type { NewRecord, StoredRecord } from "../message/record.ts";
import type { FinalStatus, Lock, SessionState, Store } from "../store/store.ts";
import { tell } from "./events.ts";
import type { Listener } from "./events.ts";

/** What a writer writes to. */
export interface WriterParts {
  readonly id: string;
  readonly store: Store;
  readonly lock: Lock;
  readonly state: SessionState;
  readonly now: () => Date;
  /** Told once, when the session is closed or finished. */
  readonly closed: () => void;
  readonly on?: Listener;
}

/** Writes one session. */
export class SessionWriter {
  readonly #parts: WriterParts;
  #state: SessionState;
  #queue: Promise<unknown> = Promise.resolve();
  #inFlight = 0;
  #touched: number;
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#state = parts.state;
    this.#touched = parts.now().getTime();
  }

  /** The state as it was last set. */
  get state(): SessionState {
    return this.#state;
  }

  /** When it was last used, in milliseconds since 1970; undefined while something is under way. */
  get idleSince(): number | undefined {
    return this.#inFlight > 0 ? undefined : this.#touched;
  }

  /** Whether it takes calls. */
  get isOpen(): boolean {
    return !this.#closed;
  }

  /** @throws WindrowError `closed` */
  checkOpen(): void {
    const { id } = this.#parts;
    if (this.#closed) throw new WindrowError("closed", `Session ${id} is closed; resume it to go on.`, { id });
  }

  /** One thing after another: appends and compositions see each other whole. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#touched = this.#parts.now().getTime();
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Waits until nothing is on its way to the log. */
  async settled(): Promise<void> {
    while (this.#inFlight > 0) await this.#queue;
  }

  /** Hands records to the store at once, so that it can sync several together, and takes them over in their order. */
  write(
    records: readonly NewRecord[],
    taken: (stored: readonly StoredRecord[]) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    this.checkOpen();
    if (signal?.aborted) throw new WindrowError("aborted", "The append was aborted before anything was written.");
    this.#inFlight++;
    const written = this.store(records);
    // Its turn may come long after it was refused; until then nobody else would hear of it.
    written.catch(() => undefined);
    return this.inTurn(async () => taken(await written)).finally(() => this.#inFlight--);
  }

  /** Hands records to the store, in a turn that is already taken. */
  async store(records: readonly NewRecord[]): Promise<readonly StoredRecord[]> {
    try {
      return await this.#parts.store.append(this.#parts.lock, records);
    } catch (error) {
      if (isWindrowError(error)) tell(this.#parts.on, { type: "append-failed", sessionId: this.#parts.id, error });
      throw error;
    }
  }

  /** Changes the state in memory; it goes to the store with the next {@link SessionWriter.setState}. */
  note(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
  }

  /** Counts an epoch or a summary (seed 001's compression_count). */
  compressed(): void {
    this.note({ compressionCount: this.#state.compressionCount + 1 });
  }

  /** Changes the state and hands it to the store. */
  async setState(change: (state: SessionState) => Partial<SessionState>): Promise<void> {
    await this.inTurn(async () => {
      const now = this.#parts.now().toISOString();
      this.#state = { ...this.#state, ...change(this.#state), status: "processing", updatedAt: now };
      await this.#parts.store.setState(this.#parts.lock, this.#state);
    });
  }

  /** Ends the session. */
  async finish(status: FinalStatus, error: string | null): Promise<void> {
    this.checkOpen();
    await this.inTurn(async () => {
      const now = this.#parts.now().toISOString();
      const state = { ...this.#state, status, updatedAt: now, completedAt: now, error };
      await this.#parts.store.finish(this.#parts.lock, state);
      this.#state = state;
      this.#closed = true;
    });
    this.#parts.closed();
  }

  /** Lets go of the session. Idempotent. */
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
}
