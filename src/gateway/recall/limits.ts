/** Limits of the recall loop, and the clock that it keeps them by. */

/** How much one answer may recall, and how long that may take. */
export interface RecallLimits {
  /** Requests within one answer beside the first whose recalls are answered. */
  readonly rounds: number;
  /** Milliseconds from the first recall on. */
  readonly totalMs: number;
  /** Bytes of all recalls of an answer. */
  readonly bytes: number;
  /** Milliseconds without a byte behind which the client's connection is kept alive. */
  readonly silenceMs: number;
  /** Milliseconds that a request or an answer waits for something to be kept. */
  readonly keepMs: number;
  /** Milliseconds that a request waits for hidden rounds to be read. */
  readonly readMs: number;
}

/** The limits where none are given. */
export const recallLimits: RecallLimits = {
  rounds: 3,
  totalMs: 60_000,
  bytes: 256 * 1_024,
  silenceMs: 10_000,
  keepMs: 1_000,
  readMs: 3_000,
};

/** Time, which a test hands in. */
export interface LoopClock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Runs something once. @returns a call that takes it back */
  after(milliseconds: number, run: () => void): () => void;
}

/** The clock of this machine, for loops outside of tests. */
export const machineClock: LoopClock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** The value of a promise; undefined where it rejects or takes too long. */
export async function within<T>(milliseconds: number, clock: LoopClock, work: Promise<T>): Promise<T | undefined> {
  let stop = (): void => undefined;
  const late = new Promise<undefined>((resolve) => (stop = clock.after(milliseconds, () => resolve(undefined))));
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    stop();
  }
}
