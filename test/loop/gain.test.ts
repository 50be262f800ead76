/** Rows of a report whose windows cost no less than sending everything. */
import { expect, it } from "vitest";
import { withoutGain } from "../kit/loop.ts";

const whole = { cost: 6.7, peak: 52_000 };

it("names each row that cost no less than everything, with the request that a model would have to take", () => {
  const rows = [
    { name: "adaptive", budget: 16_000, cost: 5.9 },
    { name: "adaptive", budget: 32_000, cost: 7.05 },
  ];
  expect(withoutGain(rows, whole)).toEqual([
    "adaptive at 32,000 tokens costs 7.05, no less than sending everything (6.70): where the model takes 52,000 tokens, it does not pay.",
  ]);
});

it("says nothing where everything fitted the budget, where no row sends everything, and of rows of several budgets", () => {
  expect(withoutGain([{ name: "adaptive", budget: 64_000, cost: 6.7 }], whole)).toEqual([]);
  expect(withoutGain([{ name: "adaptive", budget: 32_000, cost: 7.05 }], undefined)).toEqual([]);
  expect(withoutGain([{ name: "adaptive", budget: null, cost: 7.05 }], whole)).toEqual([]);
});
