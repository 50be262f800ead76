/** Work that must end in time. */
import { WindrowError } from "../../errors.ts";

/**
 * Runs work that must end in time. Its signal fires at the limit; work that does not listen is left behind.
 *
 * @param timeout - milliseconds
 * @throws WindrowError `aborted` at the limit, or when `signal` fires
 */
export async function within<T>(
  timeout: number,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  if (signal?.aborted) throw stopped();
  const limit = new AbortController();
  const failed = new Promise<never>((_, reject) => {
    limit.signal.addEventListener("abort", () => reject(limit.signal.reason as WindrowError));
  });
  const late = (): void => limit.abort(new WindrowError("aborted", `No answer within ${timeout} ms.`, { timeout }));
  const stop = (): void => limit.abort(stopped());
  const timer = setTimeout(late, timeout);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work(limit.signal), failed]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

function stopped(): WindrowError {
  return new WindrowError("aborted", "The work was stopped.");
}
