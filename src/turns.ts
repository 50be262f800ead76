/** Long work in short steps: run at once, or with turns for the event loop in between. The result is the same. */
import { WindrowError } from "./errors.ts";

/** Work that stops after every short step, some milliseconds at most, and answers in the end. */
export type Work<Result> = Generator<undefined, Result, undefined>;

/** Milliseconds of steps after which the event loop gets a turn. */
const turnMilliseconds = 12;

/** Does all of the work now. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** When the event loop last had a turn: shared by works that follow on each other, so that short ones add up. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  /** @param signal - ends the work at its next turn */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Gives the event loop a turn where it waited long enough for one.
   *
   * @throws WindrowError `aborted`
   */
  async turn(): Promise<void> {
    if (performance.now() - this.#since < turnMilliseconds) return;
    await nextTurn();
    this.#since = performance.now();
    if (this.#signal?.aborted) throw new WindrowError("aborted", "The work was aborted; nothing was changed by it.");
  }

  /**
   * Does the work, step by step.
   *
   * @throws WindrowError `aborted`
   */
  async run<Result>(work: Work<Result>): Promise<Result> {
    try {
      for (;;) {
        const { done, value } = work.next();
        if (done === true) return value;
        if (performance.now() - this.#since >= turnMilliseconds) await this.turn();
      }
    } finally {
      // Work that was aborted puts back what it had begun.
      work.return(undefined as never);
    }
  }
}

/** Timers, sockets and files come first, then what was waiting here. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
