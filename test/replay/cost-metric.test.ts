import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { CostTally, MessageTokens } from "../kit/inside/replay.ts";
import type { CostConditions, PricesOf } from "../kit/inside/replay.ts";
import { characters, user } from "./histories.ts";

/** 1,000 tokens each: 4 for framing, 996 characters. */
const [a, b, c] = ["a", "b", "c"].map((letter) => user(letter.repeat(996))) as [Message, Message, Message];

const oneToken = 1 / 1e6;
const [written, read] = [1_250 * oneToken, 100 * oneToken];

describe("cost", () => {
  it.each<[string, CostConditions, readonly (readonly Message[])[], equivalents: number, cachedShare: number]>([
    ["writes what is new and reads the prefix it had", {}, [[a], [a, b], [a, b, c]], 3 * written + 3 * read, 0.5],
    [
      "pays for everything behind the first change",
      {},
      [
        [a, b, c],
        [b, c],
      ],
      5 * written,
      0,
    ],
    ["takes the longest prefix of any earlier request", {}, [[a, b], [c], [a, b]], 3 * written + 2 * read, 0.4],
    ["compares content, not objects", {}, [[a], [structuredClone(a), b]], 2 * written + read, 1 / 3],
    ["counts what stands before all messages", { overhead: 500 }, [[a], [a, b]], 2.5 * written + 1.5 * read, 0.375],
    [
      "reads what an earlier session left in the cache, once",
      { overhead: 500, warm: 400 },
      [[a], [a, b]],
      2.1 * written + 1.9 * read,
      0.475,
    ],
    [
      "pays the plain price where nothing is cached",
      { cached: false },
      [
        [a, b],
        [a, b],
      ],
      4_000 * oneToken,
      0,
    ],
    ["pays twice the price of input for what is kept an hour", { hourShare: 0.5 }, [[a]], 1_625 * oneToken, 0],
  ])("%s", (_, conditions, requests, equivalents, cachedShare) => {
    const cost = new CostTally(new MessageTokens(characters), conditions);
    for (const request of requests) cost.add(request);
    expect(cost.result().equivalents).toBeCloseTo(equivalents, 6);
    expect(cost.cachedShare).toBeCloseTo(cachedShare, 3);
  });

  it("writes everything again where the cache is cold", () => {
    const cost = new CostTally(new MessageTokens(characters));
    for (const isCold of [false, true, false]) cost.add([a, b], isCold);
    expect(cost.result().equivalents).toBeCloseTo(4 * written + 2 * read, 6);
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
});
