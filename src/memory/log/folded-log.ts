/** A memory's log as one state that its entries make. Each entry is read once; a rewrite is read anew. */
import { isWindrowError } from "../../errors.ts";
import type { MemoryEntry, MemoryLog, MemoryLogView, NewMemoryEntry } from "./memory-log.ts";

/** A state, and how an entry changes it. */
export interface Fold<State> {
  readonly empty: () => State;
  readonly apply: (state: State, entry: MemoryEntry) => void;
}

/** The state of a list of entries. */
export function folded<State>({ empty, apply }: Fold<State>, entries: readonly MemoryEntry[]): State {
  const state = empty();
  for (const entry of entries) apply(state, entry);
  return state;
}

/** The state of a log, followed as entries are added. */
export class FoldedLog<State> {
  readonly log: MemoryLog;
  readonly #fold: Fold<State>;
  #state: State;
  #version = "";
  #read = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(log: MemoryLog, fold: Fold<State>) {
    this.log = log;
    this.#fold = fold;
    this.#state = fold.empty();
  }

  /** The state with all entries that are there now. */
  state(): Promise<State> {
    return this.#inTurn(async () => {
      for (;;) {
        try {
          return await this.#follow(await this.log.look());
        } catch (error) {
          // A rewrite has just taken it elsewhere.
          if (!isWindrowError(error, "session-not-found")) throw error;
        }
      }
    });
  }

  /**
   * Adds the entries that `plan` gives for the state, while nobody else adds any.
   *
   * @throws WindrowError as {@link MemoryLog.update}
   */
  change(plan: (state: State) => Promise<readonly NewMemoryEntry[]>): Promise<void> {
    return this.#inTurn(() => this.log.update(async (view) => plan(await this.#follow(view))));
  }

  async #follow(view: MemoryLogView | undefined): Promise<State> {
    const { version = "" } = view ?? {};
    if (version !== this.#version) {
      this.#state = this.#fold.empty();
      this.#version = version;
      this.#read = 0;
    }
    for await (const entry of view?.entries(this.#read + 1) ?? []) {
      this.#fold.apply(this.#state, entry);
      this.#read = entry.seq;
    }
    return this.#state;
  }

  /** One after the other: two that read at the same time would count an entry twice. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
