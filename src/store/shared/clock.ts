/** The clock of a store, and a host's timer. */
import { answerOf } from "../../handed-in.ts";
import type { Handed } from "../../handed-in.ts";

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

/** A host's timer. One that answers what `setInterval` answers is stopped by it. */
export function everyOf(
  every: Clock["every"] = (milliseconds, run) => systemClock.every(milliseconds, run),
): Clock["every"] {
  return (milliseconds, run) =>
    answerOf(
      every,
      handedStop,
      () => every(milliseconds, run),
      () => () => undefined,
    );
}

const handedStop: Handed<() => void> = {
  name: "The timer `every`",
  code: "clock-failed",
  wanted: "a function that stops it",
  otherwise: "It is never stopped.",
  read: (answer) => {
    if (typeof answer === "function") return answer as () => void;
    const isTimer = typeof answer === "number" || (typeof answer === "object" && answer !== null);
    return isTimer ? () => clearInterval(answer as NodeJS.Timeout) : undefined;
  },
};

/** The time now as files carry it: ISO 8601, milliseconds, `Z`. */
export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** The time now for the names of files, for example `20240115T103001123Z`. */
export function stamp(clock: Clock): string {
  return timestamp(clock).replaceAll(/[-:.]/g, "");
}
