/** The clock of a store, so that tests can bring their own. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Milliseconds since some moment, never set back. Default: the system's. */
  elapsed?(): number;
  /** Calls `run` every `milliseconds` until the returned function is called. Must not keep the process alive. */
  every(milliseconds: number, run: () => void): () => void;
}

/** The clock of the system, with its timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** The time now as files carry it: ISO 8601, milliseconds, `Z`. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
