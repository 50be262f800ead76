/**
 * The seed of every property test. It is fixed, so a change that breaks nothing passes every time. `WINDROW_LONG=1`
 * draws one for each property instead, and `WINDROW_SEED=<number>` sets it. fast-check prints the seed when it fails.
 */
import fc from "fast-check";

const fixedSeed = 20_260_101;

const { WINDROW_LONG: long, WINDROW_SEED: given } = process.env;
const seed = given === undefined ? fixedSeed : Number(given);
if (!Number.isSafeInteger(seed)) throw new Error(`WINDROW_SEED is a whole number, not "${given}".`);
if (given !== undefined || long !== "1") fc.configureGlobal({ seed });
