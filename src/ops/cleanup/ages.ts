/** The ages at which a clean-up does something. */
import { WindrowError } from "../../errors.ts";

/** A day in milliseconds. */
export const dayMs = 86_400_000;

/** Ages at which sessions are put to rest, compressed, trashed and deleted, in milliseconds. */
export const cleanupAges = {
  closedAfter: 7 * dayMs,
  compressAfter: 7 * dayMs,
  deleteAfter: 30 * dayMs,
  trashFor: 7 * dayMs,
} as const;

/** The same ages in an emergency, when the disk is full. */
export const emergencyAges = {
  closedAfter: dayMs,
  compressAfter: 0,
  deleteAfter: 14 * dayMs,
  trashFor: 7 * dayMs,
} as const;

/** Every age, in milliseconds. */
export type Ages = Readonly<Record<keyof typeof cleanupAges, number>>;

/**
 * The ages of a clean-up: those that are given, else the defaults.
 *
 * @throws WindrowError `bad-option`
 */
export function agesOf(options: Partial<Ages> & { readonly emergency?: boolean }): Ages {
  const defaults = options.emergency === true ? emergencyAges : cleanupAges;
  const ages: Ages = { ...defaults, ...given(options) };
  for (const [name, age] of Object.entries(ages)) checkAge(name, age);
  return ages;
}

function given(options: object): Partial<Ages> {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => name in cleanupAges && value !== undefined),
  );
}

/**
 * Refuses an age that is none.
 *
 * @throws WindrowError `bad-option`
 */
export function checkAge(name: string, age: number): void {
  if (Number.isFinite(age) && age >= 0) return;
  throw new WindrowError("bad-option", `"${name}" is a number of milliseconds from 0, not ${age}.`, {
    name,
    value: age,
  });
}
