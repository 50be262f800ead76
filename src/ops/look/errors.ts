/** Errors as works over many sessions meet them. */
import { isWindrowError } from "../../errors.ts";
import type { ErrorCode, WindrowError } from "../../errors.ts";

/** An error in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether an error has one of some codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is WindrowError {
  return isWindrowError(error) && codes.includes(error.code);
}

/** The result of some work; undefined if it failed with one of some codes, of which none means any. */
export async function orUndefined<T>(work: () => Promise<T>, ...codes: readonly ErrorCode[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (codes.length === 0 ? isWindrowError(error) : hasCode(error, ...codes)) return undefined;
    throw error;
  }
}

/** A thrown value as an error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
