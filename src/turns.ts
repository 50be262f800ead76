/** Long work in short steps. It runs at once, or gives the event loop a turn in between; the result is the same. */
import { WindrowError } from "./errors.ts";

/** Work as a generator: it yields after every step of a few milliseconds, or what it waits for, and returns the result. */
export type Work<Result> = Generator<Promise<void> | undefined, Result, undefined>;

/** Whether an answer is work that is still to be done. */
export function isWork<Result>(answer: Result | Work<Result>): answer is Work<Result> {
  return typeof (answer as Partial<Work<Result>> | null | undefined)?.next === "function";
}

/** Milliseconds of work after which the event loop gets a turn. */
const turnMilliseconds = 12;

/** Runs the work to its end without a turn; work that waits for something cannot. */
export function atOnce<Result>(work: Work<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (value) throw new Error("This work waits for something, and cannot run at once.");
  }
}

/** The time since the event loop's last turn. Works that follow on each other share one, so that short works add up. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  /** @param signal - ends the work at its next turn */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Gives the event loop a turn when it has waited long enough for one.
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
   * Runs the work, with a turn for the event loop when one is due.
   *
   * @throws WindrowError `aborted`
   */
  async run<Result>(work: Work<Result>): Promise<Result> {
    try {
      for (;;) {
        const { done, value } = work.next();
        if (done === true) return value;
        if (value) await value;
        if (performance.now() - this.#since >= turnMilliseconds) await this.turn();
      }
    } finally {
      // The `finally` blocks of aborted work undo what it began.
      work.return(undefined as never);
    }
  }
}

/** Resolves after the timers, sockets and files that are due. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** Does all of the works, one after the other, whether or not one of them fails; throws the first failure in the end. */
export async function eachInTurn(works: Iterable<() => Promise<void> | undefined>): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
