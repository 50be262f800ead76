/** Calibration against figures providers report: recorded ones, and simulated tokenizers of other rates. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { correct, countFor, initialCalibration, observe } from "../kit/inside/tokens.ts";
import type { CalibrationState } from "../kit/inside/tokens.ts";

interface Request {
  readonly estimated: number;
  readonly reported: number;
}

/** What each request was expected to cost, and whether the report stood in the band; calls before `from` only teach. */
function follow(requests: readonly Request[], from: number): { readonly errors: number[]; readonly inBand: number } {
  let state = initialCalibration;
  const errors: number[] = [];
  let inBand = 0;
  for (const [index, request] of requests.entries()) {
    const { tokens, low, high } = correct(state, request.estimated);
    if (index >= from) {
      errors.push(Math.abs(tokens - request.reported) / request.reported);
      if (request.reported >= low && request.reported <= high) inBand++;
    }
    ({ state } = observe(state, request));
  }
  return { errors: errors.toSorted((left, right) => left - right), inBand: inBand / errors.length };
}

function taught(requests: readonly Request[]): CalibrationState {
  return requests.reduce<CalibrationState>((state, request) => observe(state, request).state, initialCalibration);
}

/**
 * A session whose oldest messages leave whenever it counts 60,000 tokens, down to 20,000, seen by a provider that counts
 * each message at another rate, up to a third off.
 */
function session(rate: number, overhead: number, calls: number): readonly Request[] {
  let messages: Request[] = [{ estimated: 900, reported: Math.round(900 * rate) }];
  const sum = (field: keyof Request): number => messages.reduce((total, message) => total + message[field], 0);
  return Array.from({ length: calls }, (_, call) => {
    const estimated = 400 + ((call * 7_919) % 2_600);
    const uneven = 1 + (((call * 104_729) % 21) - 10) / 30;
    messages.push({ estimated, reported: Math.round(estimated * rate * uneven) });
    if (sum("estimated") > 60_000) while (sum("estimated") > 20_000) messages = messages.slice(1);
    return { estimated: sum("estimated"), reported: overhead + sum("reported") };
  });
}

const file = "../shared/data/open/pi-sessions/large-session.raw.jsonl.gz";
if (!existsSync(file)) console.log(`skipped: ${file} is not there`);

describe("calibration", () => {
  it.each([
    [1.55, 0],
    [1.55, 9_000],
    [0.6, 0],
    [0.6, 12_000],
  ])("finds a provider that counts %d tokens for one and adds %d, within three calls", (rate, overhead) => {
    const { errors, inBand } = follow(session(rate, overhead, 120), 3);
    expect(errors[errors.length >> 1]).toBeLessThanOrEqual(0.05);
    expect(errors[Math.floor(errors.length * 0.9)]).toBeLessThanOrEqual(0.08);
    expect(inBand).toBeGreaterThanOrEqual(0.9);
  });

  it("counts backwards: what it allows is what the provider then sees", () => {
    const state = taught(session(1.55, 9_000, 40));
    const allowed = countFor(state, 100_000);
    expect(allowed).toBeLessThan(65_000);
    expect(Math.abs(correct(state, allowed).tokens - 100_000)).toBeLessThanOrEqual(2);
    expect(countFor(initialCalibration, 100_000)).toBe(100_000);
  });

  it("says at first that it knows little, and more with every report", () => {
    const first = correct(initialCalibration, 10_000);
    expect(first).toEqual({ tokens: 10_000, low: 5_000, high: 17_500 });
    const later = correct(taught(session(1.3, 2_000, 30)), 10_000);
    expect(later.high - later.low).toBeLessThan(first.high - first.low);
    expect(later.low).toBeLessThanOrEqual(later.tokens);
    expect(later.high).toBeGreaterThanOrEqual(later.tokens);
  });

  it.each([
    ["none", 0],
    ["negative", -5],
    ["no whole number", 1_000.5],
    ["no number", Number.NaN],
    ["more than the model takes", 1_360_000],
    ["a whole turn's sum", 190_000],
  ])("ignores an impossible figure: %s", (_, reported) => {
    const state = taught(session(1.2, 2_000, 10));
    const before = correct(state, state.estimated + 500);
    const { state: after, warning } = observe(state, {
      estimated: state.estimated + 500,
      reported,
      contextWindow: 1_000_000,
    });
    expect(warning).toMatch(/ignored/);
    expect(correct(after, state.estimated + 500)).toEqual(before);
  });

  it("believes the third of three figures in a row, and not a single one between good ones", () => {
    const state = taught(session(1, 0, 20));
    const odd = { estimated: state.estimated, reported: state.reported * 4 };
    const once = observe(state, odd);
    const good = observe(once.state, { estimated: state.estimated, reported: state.reported });
    expect(good.warning).toBeUndefined();
    expect(observe(good.state, odd).warning).toBeDefined();
    const third = observe(observe(once.state, odd).state, odd);
    expect(third.warning).toBeUndefined();
    expect(correct(third.state, odd.estimated).tokens).toBe(odd.reported);
  });

  it("is plain JSON that goes on where it stopped", () => {
    const state = taught(session(1.4, 3_000, 15));
    const revived = JSON.parse(JSON.stringify(state)) as CalibrationState;
    expect(correct(revived, 31_000)).toEqual(correct(state, 31_000));
  });
});
