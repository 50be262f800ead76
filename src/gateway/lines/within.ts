/** Waits that end. */
import { isWindrowError } from "../../errors.ts";

/** The error of work that took too long and goes on behind, or is not begun behind such work. */
export class Slow extends Error {
  constructor(milliseconds?: number) {
    const took = `The line's work took more than ${milliseconds} ms.`;
    super(milliseconds === undefined ? "Too many requests wait for the store." : took);
    this.name = "Slow";
  }
}

/** The word for why work failed. */
export function reasonOf(error: unknown): string {
  if (error instanceof Slow) return "slow";
  return isWindrowError(error) ? error.code : "error";
}

/**
 * The value of a promise.
 *
 * @throws Slow after so many milliseconds; the work goes on
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Slow(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A promise and the ways to settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise that is settled from outside; nobody has to listen to it. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
