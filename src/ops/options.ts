/** Options that works on the sessions of a store share. */
import { WindrowError } from "../errors.ts";
import type { Scope } from "../store/store.ts";

/** Whose sessions are meant. */
export interface ScopedOptions {
  /** The owner of the sessions. Default: every user's, of no tenant. */
  readonly scope?: Scope;
}

/** Whose sessions are meant, and what time it is. */
export interface TimedOptions extends ScopedOptions {
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

/** A day in milliseconds. */
export const dayMs = 86_400_000;

/**
 * Refuses an age that is none.
 *
 * @throws WindrowError `bad-option`
 */
export function checkAge(name: string, age: number, least = 0): void {
  if (Number.isFinite(age) && age >= least) return;
  const message = `"${name}" is a number of milliseconds from ${least}, not ${age}.`;
  throw new WindrowError("bad-option", message, { name, value: age });
}
