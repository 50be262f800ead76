/**
 * The runs and the seed of every property test. `TEST_RUNS` is the number of random cases, 25 by default. The seed is fixed,
 * so a change that breaks nothing passes every time; `TEST_SEED` is another number, or `random`. fast-check prints the
 * seed of a failure.
 */
import fc from "fast-check";

const { TEST_RUNS = "25", TEST_SEED = "20260101" } = process.env;

/** Random cases of a property. */
export const runs = wholeNumber("TEST_RUNS", TEST_RUNS);
/** The seed; undefined if each property draws one. */
export const seed = TEST_SEED === "random" ? undefined : wholeNumber("TEST_SEED", TEST_SEED);

fc.configureGlobal({ numRuns: runs, ...(seed === undefined ? {} : { seed }) });

function wholeNumber(name: string, given: string): number {
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} is a whole number from 1, not "${given}".`);
  return value;
}
