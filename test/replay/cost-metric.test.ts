import { describe, expect, it } from "vitest";
import { CostTally, MessageTokens } from "../kit/inside/replay.ts";
import type { PricesOf } from "../kit/inside/replay.ts";
import { characters, user } from "./histories.ts";

/** 1,000 tokens each: 4 for framing, 996 characters. */
const [a, b, c] = ["a", "b", "c"].map((letter) => user(letter.repeat(996))) as [
  ReturnType<typeof user>,
  ReturnType<typeof user>,
  ReturnType<typeof user>,
];

function tally(): CostTally {
  return new CostTally(new MessageTokens(characters));
}

describe("cost", () => {
  it("writes what is new and reads the prefix it had", () => {
    const cost = tally();
    cost.add([a]);
    cost.add([a, b]);
    cost.add([a, b, c]);
    expect(cost.result().equivalents).toBeCloseTo((3 * 1.25 * 1_000 + 3 * 0.1 * 1_000) / 1e6, 6);
    expect(cost.cachedShare).toBe(0.5);
  });

  it("pays for everything behind the first change", () => {
    const cost = tally();
    cost.add([a, b, c]);
    cost.add([b, c]);
    expect(cost.result().equivalents).toBeCloseTo((5 * 1.25 * 1_000) / 1e6, 6);
    expect(cost.cachedShare).toBe(0);
  });

  it("takes the longest prefix of any earlier request, not only of the last", () => {
    const cost = tally();
    cost.add([a, b]);
    cost.add([c]);
    cost.add([a, b]);
    expect(cost.result().equivalents).toBeCloseTo((3 * 1.25 * 1_000 + 2 * 0.1 * 1_000) / 1e6, 6);
  });

  it("compares content, not objects", () => {
    const cost = tally();
    cost.add([a]);
    cost.add([structuredClone(a), b]);
    expect(cost.cachedShare).toBeCloseTo(1 / 3, 3);
  });

  it("counts what stands before the messages of every request", () => {
    const cost = new CostTally(new MessageTokens(characters), { overhead: 500 });
    cost.add([a]);
    cost.add([a, b]);
    expect(cost.result().equivalents).toBeCloseTo((1.25 * 2_500 + 0.1 * 1_500) / 1e6, 6);
  });

  it("reads what an earlier session left in the cache, once", () => {
    const cost = new CostTally(new MessageTokens(characters), { overhead: 500, warm: 400 });
    cost.add([a]);
    cost.add([a, b]);
    expect(cost.result().equivalents).toBeCloseTo((1.25 * 2_100 + 0.1 * 1_900) / 1e6, 6);
  });

  it("writes everything again where the cache is cold", () => {
    const cost = tally();
    cost.add([a, b]);
    cost.add([a, b], true);
    cost.add([a, b]);
    expect(cost.result().equivalents).toBeCloseTo((1.25 * 4_000 + 0.1 * 2_000) / 1e6, 6);
  });

  it("pays the plain price where nothing is cached", () => {
    const cost = new CostTally(new MessageTokens(characters), { cached: false });
    cost.add([a, b]);
    cost.add([a, b]);
    expect(cost.result().equivalents).toBeCloseTo(4_000 / 1e6, 6);
    expect(cost.cachedShare).toBe(0);
  });

  it("prices in dollars, output included, where prices are known", () => {
    const prices = { input: 3_000, output: 15_000, cacheRead: 300, cacheWrite: 3_750 };
    const pricesOf: PricesOf = ({ model }) => (model === "known" ? prices : undefined);
    const cost = new CostTally(new MessageTokens(characters), { pricesOf });
    cost.add([a], false, { model: "other" });
    expect(cost.result().dollars).toBeNull();
    cost.add([b], false, { model: "known", usage: { output: 10 } });
    cost.add([b, c], false, { model: "known", usage: { output: 20 } });
    expect(cost.result().dollars).toBeCloseTo(3.75 + 3.75 + 0.3 + 30 * 0.015, 6);
  });

  it("prices what the cache keeps for an hour at twice the price of input", () => {
    const cost = new CostTally(new MessageTokens(characters), { hourShare: 0.5 });
    cost.add([a]);
    expect(cost.result().equivalents).toBeCloseTo((500 * 1.25 + 500 * 2) / 1e6, 9);
  });
});
