/** The rule behind advice on budgets: the cheapest row that keeps enough and that no provider refuses, where it pays. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adviceBudgets, adviseOn } from "../kit/inside/replay.ts";
import type { ReplayTotal } from "../kit/inside/replay.ts";

interface Given {
  readonly dollars?: number | null;
  readonly equivalents?: number;
  readonly oneHop?: number | null;
  readonly refused?: number;
  readonly broken?: number;
  readonly epochs?: number;
  readonly strategy?: string;
}

function row({
  dollars = null,
  equivalents = 1,
  oneHop = 100,
  refused = 0,
  broken = 0,
  epochs = 1,
  ...more
}: Given): ReplayTotal {
  return {
    ...{ strategy: more.strategy ?? "adaptive", budget: 32_000, sessions: 1, calls: 10 },
    tokens: { total: 10, average: 1, peak: 1 },
    cost: { equivalents, dollars },
    ...{ cachedShare: 0, epochs, broken, overBudget: 0, refused, faults: 0 },
    lookback: { all: 90, far: 90, farLines: 90, oneHop, farSteps: 1, references: 1, farLineReferences: 1 },
    named: { named: 0, total: 0 },
  };
}

/** What a session reports of itself. */
function recorded(cost: ReplayTotal["cost"]): Parameters<typeof adviseOn>[1] {
  const tokens = { total: 10, average: 1, peak: 1 };
  return { calls: 10, tokens, output: 1, cachedShare: 0, cost, others: 0, unpriced: 0 };
}

const whole = (given: Given): ReplayTotal => row({ ...given, strategy: "none" });

describe("the advised row", () => {
  it("is the cheapest of those that keep 97 per cent within one recall", () => {
    const rows = [row({ dollars: 1, oneHop: 96.99 }), row({ dollars: 3, oneHop: 97 }), row({ dollars: 4 })];
    const { advised, reason } = adviseOn([...rows, whole({ dollars: 10 })], undefined);
    expect([advised, reason]).toEqual([rows[1], undefined]);
  });

  it("is none that a provider refuses or that has broken requests", () => {
    const rows = [row({ dollars: 1, refused: 1 }), row({ dollars: 2, broken: 1 }), row({ dollars: 3 })];
    expect(adviseOn([...rows, whole({ dollars: 10 })], undefined).advised).toBe(rows[2]);
  });

  it("may be of sessions whose calls came back to nothing", () => {
    const rows = [row({ dollars: 1, oneHop: null })];
    expect(adviseOn([...rows, whole({ dollars: 10 })], undefined).advised).toBe(rows[0]);
  });

  it("is chosen by dollars where all have some, and by equivalents where one has none", () => {
    const [cheap, small] = [row({ dollars: 1, equivalents: 5 }), row({ dollars: 2, equivalents: 1 })];
    const all = whole({ dollars: 10, equivalents: 10 });
    expect(adviseOn([cheap, small, all], undefined).advised).toBe(cheap);
    expect(adviseOn([cheap, { ...small, cost: { equivalents: 1, dollars: null } }, all], undefined).advised).toEqual(
      expect.objectContaining({ cost: { equivalents: 1, dollars: null } }),
    );
    expect(adviseOn([cheap, small, all], recorded({ equivalents: 10, dollars: null })).advised).toBe(small);
  });
});

describe("no row is advised", () => {
  it("where none keeps enough", () => {
    const rows = [row({ dollars: 1, oneHop: 90 }), whole({ dollars: 10 })];
    expect(adviseOn(rows, undefined)).toMatchObject({ advised: undefined, reason: "keeps-too-little" });
  });

  it("where none that keeps enough saves a twentieth", () => {
    const rows = (dollars: number): ReplayTotal[] => [
      row({ dollars }),
      row({ dollars: 1, oneHop: 50 }),
      whole({ dollars: 10 }),
    ];
    expect(adviseOn(rows(9.5), undefined)).toMatchObject({ advised: undefined, reason: "saves-too-little" });
    expect(adviseOn(rows(9.49), undefined).advised).toMatchObject({ cost: { dollars: 9.49 } });
  });
});

it("advises no window that leaves nothing out, whatever was recorded", () => {
  const rows = [row({ dollars: 5, epochs: 0 }), whole({ dollars: 5 })];
  expect(adviseOn(rows, recorded({ equivalents: 1, dollars: 9 }))).toMatchObject({ reason: "saves-too-little" });
});

it("sets the cost against what was recorded, else against everything sent", () => {
  const rows = [row({ dollars: 5 }), whole({ dollars: 10 })];
  expect(adviseOn(rows, undefined)).toMatchObject({ before: rows[1], advised: rows[0] });
  const record = recorded({ equivalents: 1, dollars: 5 });
  expect(adviseOn(rows, record)).toMatchObject({ before: record, reason: "saves-too-little" });
});

it("shows every budget in its order and everything sent once, at the end", () => {
  const rows = [row({ equivalents: 3 }), row({ equivalents: 2 }), whole({ equivalents: 9 }), whole({ equivalents: 9 })];
  expect(adviseOn(rows, undefined).rows).toEqual(rows.slice(0, 3));
});

it("compares budgets from 16,000 tokens on, each larger by the square root of two, and one that sizes itself", () => {
  expect(adviceBudgets).toEqual([16_000, 23_000, 32_000, 45_000, 64_000, 91_000, 128_000, 181_000, "auto"]);
});

const cost = fc.record({
  dollars: fc.option(fc.integer({ min: 1, max: 20 }), { freq: 20 }),
  equivalents: fc.integer({ min: 1, max: 20 }),
});
const anyRow = fc
  .record({
    cost,
    oneHop: fc.option(fc.constantFrom(90, 96.9, 97, 98, 100), { freq: 9 }),
    refused: fc.constantFrom(0, 0, 0, 1),
    broken: fc.constantFrom(0, 0, 0, 1),
    epochs: fc.constantFrom(0, 1, 9),
  })
  .map(({ cost: paid, ...given }) => row({ ...paid, ...given }));

it("advises what an exhaustive search by the rule finds, whatever the table", () => {
  const tables = fc.tuple(fc.array(anyRow, { minLength: 1, maxLength: 9 }), cost, fc.option(cost));
  fc.assert(
    fc.property(tables, ([managed, sent, told]) => {
      const record = told ? recorded(told) : undefined;
      const { advised, reason } = adviseOn([...managed, whole(sent)], record);
      const base = told ?? sent;
      const isPriced = [base, ...managed.map((one) => one.cost)].every(({ dollars }) => dollars !== null);
      const price = (paid: ReplayTotal["cost"]): number => (isPriced ? (paid.dollars ?? NaN) : paid.equivalents);
      let best: ReplayTotal | undefined;
      for (const one of managed) {
        const isSound = one.refused === 0 && one.broken === 0;
        if (isSound && (one.lookback.oneHop ?? 100) >= 97 && (!best || price(one.cost) < price(best.cost))) best = one;
      }
      const pays = best !== undefined && best.epochs > 0 && price(best.cost) < 0.95 * price(base);
      const why = best ? "saves-too-little" : "keeps-too-little";
      expect([advised, reason]).toEqual(pays ? [best, undefined] : [undefined, why]);
    }),
  );
});
