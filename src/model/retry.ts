/**
 * Retries calls that may succeed later: too many requests, a server error, a broken connection. The caller's signal
 * ends it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { isWindrowError, WindrowError } from "../errors.ts";

/** The clock of the clients. Tests pass their own. */
export interface ModelClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so many milliseconds; rejects when the signal fires. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<unknown>;
}

/** Limits of a client's retries. */
export interface RetryOptions {
  /** Tries after the first. Default 3. */
  readonly retries?: number;
  /** Milliseconds that one try may take. A try that times out is not repeated. Default 120,000. */
  readonly timeoutMs?: number;
  readonly clock?: ModelClock;
}

/** The failure of one try, and whether a retry may help. */
export interface Failure {
  /** The message for people. It holds no key. */
  readonly message: string;
  readonly status?: number;
  readonly mayPass: boolean;
  /** Milliseconds the server asked to wait. */
  readonly retryAfterMs?: number;
  /** The prompt's tokens that the server read, when it cut the prompt. */
  readonly evaluated?: number;
  readonly cause?: unknown;
}

/** The first pause in milliseconds; each further one is twice as long. */
const firstPause = 1_000;

/** The longest pause in milliseconds. When a server asks for more, the call fails with that message. */
const longestPause = 60_000;

const systemClock: ModelClock = {
  now: Date.now,
  wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};

/**
 * Runs `attempt` until it succeeds, fails for good, or has no tries left.
 *
 * @param attempt - one try under a signal that also fires on timeout
 * @param explain - what an error that `attempt` threw means
 * @throws WindrowError `aborted`; `model-failed` with `data.status` and `data.tries`
 */
export async function withRetries<Answer>(
  name: string,
  { retries = 3, timeoutMs = 120_000, clock = systemClock }: RetryOptions,
  attempt: (signal: AbortSignal) => Promise<Answer>,
  explain: (error: unknown, now: number) => Failure,
  signal?: AbortSignal,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    if (signal?.aborted) throw aborted(name);
    const timeout = AbortSignal.timeout(timeoutMs);
    let failure: Failure;
    try {
      const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
      return await settled(attempt(either), either);
    } catch (error) {
      if (signal?.aborted) throw aborted(name);
      if (isWindrowError(error)) throw error;
      failure = timeout.aborted
        ? { message: `no answer within ${timeoutMs} ms`, mayPass: false }
        : explain(error, clock.now());
    }
    const pause = failure.retryAfterMs ?? firstPause * 2 ** (tries - 1);
    if (!failure.mayPass || tries > retries || pause > longestPause) throw modelFailed(name, failure, tries);
    try {
      await clock.wait(pause, signal);
    } catch {
      throw aborted(name);
    }
  }
}

/** Settles with the promise, or rejects when the signal fires first. */
async function settled<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const done = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    done.abort();
  }
}

/** The error for a model that could not answer. */
export function modelFailed(name: string, failure: Failure, tries = 1): WindrowError {
  const { message, mayPass: _, cause, ...facts } = failure;
  const { retryAfterMs } = facts;
  const later = retryAfterMs === undefined ? "" : ` The server asks to wait ${Math.ceil(retryAfterMs / 1_000)} s.`;
  return new WindrowError(
    "model-failed",
    `${name} could not answer: ${message.replace(/\.+$/, "")}${tries > 1 ? ` (${tries} tries)` : ""}.${later}`,
    { model: name, tries, ...facts },
    cause === undefined ? undefined : { cause },
  );
}

/** The error for a call that its caller aborted. */
export function aborted(name: string): WindrowError {
  return new WindrowError("aborted", `The call of ${name} was aborted.`, { model: name });
}

/** Whether a retry may help after this HTTP status: too many requests, a timeout, a conflict, a server error. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The pause in milliseconds that a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function pauseOf(headers: Headers, now: number): Pick<Failure, "retryAfterMs"> {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return { retryAfterMs: exact };
  const given = headers.get("retry-after");
  if (given === null) return {};
  const seconds = Number(given);
  const pause = Number.isNaN(seconds) ? Date.parse(given) - now : seconds * 1_000;
  return Number.isNaN(pause) ? {} : { retryAfterMs: Math.max(0, pause) };
}
