/** The timeline's columns and paths, and figures as the page writes them. */
import { describe, expect, it } from "vitest";
import type { CallRow } from "windrow/viewer";
import { axisTop, cacheParts, columnsOf } from "../../web/model/buckets.ts";
import { areaPaths, cachePaths } from "../../web/model/chart.ts";
import { figureText, figureWords } from "../../web/model/figures.ts";
import { compact, dollars, duration, percent, tokens } from "../../web/model/numbers.ts";

function call(number: number, size: number, usage: CallRow["usage"] = null): CallRow {
  const blocks = { system: 0, tools: 0, pinned: 0, digest: 0, stubs: 0, history: size, rest: 0 };
  return { call: number, tokens: size, blocks, usage } as unknown as CallRow;
}

const frame = { left: 0, top: 0, width: 100, height: 50, most: 100 };

describe("columns", () => {
  it("are one for each call while there is room", () => {
    expect(columnsOf([call(1, 5), call(2, 6)], 50)).toHaveLength(2);
  });

  it("of many calls are few, and each shows its largest, so that no peak is lost", () => {
    const calls = Array.from({ length: 10_000 }, (_, place) => call(place + 1, place === 4_321 ? 9_999 : 10));
    const columns = columnsOf(calls, 700);
    expect(columns.length).toBeLessThanOrEqual(700);
    expect(columns.filter(({ shown }) => shown.tokens === 9_999)).toHaveLength(1);
    expect(columns.at(-1)?.to).toBe(10_000);
  });
});

describe("the cache row of many calls", () => {
  it("shows the coldest call of a column, so that no miss is lost behind a larger call", () => {
    const calls = Array.from({ length: 100 }, (_, place) =>
      place === 51 ? call(52, 50, { input: 50, cacheWrite: 50 }) : call(place + 1, 90, { input: 90, cacheRead: 90 }),
    );
    const columns = columnsOf(calls, 50);
    expect(columns.filter(({ coldest }) => coldest.call === 52)).toHaveLength(1);
    expect(columns.every(({ shown }) => shown.tokens === 90)).toBe(true);
    expect(cachePaths(columns, frame)?.written).not.toBe("");
  });
});

describe("paths", () => {
  it("are as high as the tokens, and none for a block that has none", () => {
    const { history, digest } = areaPaths(columnsOf([call(1, 50), call(2, 100)], 50), frame);
    expect(history).toBe("M0.0 50.0L0.0 25.0H50.0L50.0 0.0H100.0L100.0 50.0H50.0L50.0 50.0H0.0Z");
    expect(digest).toBe("");
  });

  it("of the cache are drawn where a provider reported it, and not made up", () => {
    expect(cachePaths(columnsOf([call(1, 50)], 50), frame)).toBeUndefined();
    expect(cacheParts(call(1, 9, { input: 100, cacheRead: 70, cacheWrite: 20 }))).toEqual({
      read: 70,
      written: 20,
      fresh: 10,
    });
    const drawn = cachePaths(columnsOf([call(1, 9, { input: 100, cacheRead: 100 })], 50), frame);
    expect(drawn?.read).toContain("L0.0 0.0H100.0");
    expect(drawn?.written).toBe("");
  });

  it("end at a round number above the largest", () => {
    expect([0, 7, 15_800, 32_001].map(axisTop)).toEqual([1, 8, 20_000, 40_000]);
  });
});

describe("figures", () => {
  it("are short and keep their size", () => {
    expect([812, 12_400, 999_600, 3_100_000].map(compact)).toEqual(["812", "12.4k", "1M", "3.1M"]);
    expect([500, 4_200, 660_000, 7_200_000].map(duration)).toEqual(["500 ms", "4.2 s", "11 min", "2.0 h"]);
    expect([percent(1, 1_000), percent(1, 0)]).toEqual(["<1%", ""]);
  });

  it("say unknown where nothing is known", () => {
    expect([dollars(null), dollars(0), dollars(0.00809), tokens(null)]).toEqual(["unknown", "$0", "$0.00809", "–"]);
  });

  it("of a replay are named in words", () => {
    expect(figureWords("cacheHitRate")).toBe("cache hit rate");
    expect([figureText("cacheHitRate", 0.985), figureText("cost", 0.42), figureText("epochs", 6)]).toEqual([
      "98.5%",
      "$0.4200",
      "6",
    ]);
  });
});
