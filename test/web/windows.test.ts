/** Pure parts of the page over windows: fates by message, differences, repeated lines, the map. */
import { describe, expect, it } from "vitest";
import type { CallRow, EpochRow, FateRun, ViewerWindow, WindowEntry } from "windrow/viewer";
import { cacheVerdict } from "../../web/model/cache.ts";
import { fateAt, fateCounts, fateOrder, lossOf, runAt } from "../../web/model/fates.ts";
import { entryFor } from "../../web/model/origins.ts";
import { rasterOf } from "../../web/model/raster.ts";
import { repeatedLines } from "../../web/model/redundancy.ts";
import { groupedRepairs } from "../../web/model/repairs.ts";
import { differenceOf } from "../../web/model/window-diff.ts";

const run = (from: number, to: number, fate: FateRun["fate"]): FateRun => ({
  from,
  to,
  fate,
  pass: "digest",
  reason: "old",
});
const fates = [run(1, 2, "whole"), run(3, 6, "gone"), run(7, 7, "quoted"), run(8, 10, "whole")];

describe("the fate of a message", () => {
  it("is that of the run that holds it", () => {
    expect([1, 3, 6, 7, 8].map((seq) => fateAt(fates, seq, 10))).toEqual(["whole", "gone", "gone", "quoted", "whole"]);
    expect(runAt(fates, 99)).toBeUndefined();
  });

  it("is later for one that came after the call", () => {
    expect(fateAt(fates, 11, 10)).toBe("later");
  });

  it("is laid to the epoch that took the message out, of those up to the call", () => {
    const row = (epoch: number, opened: number, runs: readonly FateRun[]): EpochRow =>
      ({ epoch, opened, fates: runs, reason: "over-budget", firstCall: 10 * epoch }) as unknown as EpochRow;
    const rows = [row(0, 2, []), row(1, 10, fates), row(2, 20, [run(1, 12, "gone")]), row(3, 30, [run(1, 20, "gone")])];
    expect(lossOf(rows, 3, 3)?.epoch).toBe(1);
    expect(lossOf(rows, 9, 3)?.epoch).toBe(2);
    expect(lossOf(rows, 15, 3)?.epoch).toBe(3);
    expect(lossOf(rows, 15, 2)).toBeUndefined();
    expect(lossOf(rows, 25, 3)).toBeUndefined();
  });

  it("adds up to all messages", () => {
    const counts = fateCounts(fates, 10, 14);
    expect(counts).toEqual({ whole: 5, cut: 0, quoted: 1, named: 0, gone: 4, later: 4 });
  });
});

const entry = (seq: number, kind: WindowEntry["kind"] = "message", key = `${kind}-${seq}`): WindowEntry => ({
  seq,
  kind,
  key,
  role: "user",
  tokens: 10,
});

function windowOf(entries: readonly WindowEntry[]): ViewerWindow {
  return { entries } as unknown as ViewerWindow;
}

describe("the difference of two windows", () => {
  it("tells what left, what entered and what is the same", () => {
    const found = differenceOf(windowOf([entry(1), entry(2), entry(3)]), windowOf([entry(1), entry(3), entry(4)]));
    expect(found.left.map(({ seq }) => seq)).toEqual([2]);
    expect(found.entered.map(({ seq }) => seq)).toEqual([4]);
    expect([found.same, found.prefix, found.changed.length]).toEqual([2, 1, 0]);
  });

  it("tells one message with other bytes, and one digest in the place of another, as changed", () => {
    const before = windowOf([entry(1), entry(2, "digest", "a"), entry(9)]);
    const after = windowOf([entry(1), entry(2, "digest", "b"), entry(9, "cut")]);
    const { changed, left, entered } = differenceOf(before, after);
    expect(changed.map(({ after: { kind } }) => kind)).toEqual(["digest", "cut"]);
    expect([left, entered]).toEqual([[], []]);
  });

  it("counts equal entries one by one", () => {
    const { left, same } = differenceOf(windowOf([entry(1), entry(1)]), windowOf([entry(1)]));
    expect([left.length, same]).toEqual([1, 1]);
  });
});

describe("the place of a message in a window", () => {
  const digest: WindowEntry = { ...entry(3, "digest"), to: 9, origins: [{ line: 2, seq: 7, at: 1 }] };
  const window = windowOf([entry(1), { ...entry(20, "digest"), to: 30 }, digest, entry(10)]);

  it("is its own entry, else the digest that quotes it, else the one that spans it", () => {
    expect([10, 7, 5, 25].map((seq) => entryFor(window, seq))).toEqual([3, 2, 2, 1]);
  });

  it("is nowhere for one that no entry spans", () => {
    expect(entryFor(window, 15)).toBe(-1);
  });
});

describe("repeated lines", () => {
  it("are priced by the share of their messages, without the first", () => {
    const line = "import { WindrowError } from './errors.ts';";
    const text = `${line}\nshort\n`;
    const [found] = repeatedLines([
      { seq: 1, text, tokens: 100 },
      { seq: 2, text, tokens: 100 },
      { seq: 3, text, tokens: 100 },
    ]);
    expect(found).toMatchObject({ line, times: 3, seqs: [1, 2, 3] });
    expect(found?.tokens).toBeCloseTo((200 * (line.length + 1)) / text.length, 0);
  });

  it("are the same under other line numbers", () => {
    const found = repeatedLines([
      { seq: 1, text: "   12    const answer = question.answered();", tokens: 20 },
      { seq: 2, text: "   47    const answer = question.answered();", tokens: 20 },
    ]);
    expect(found.map(({ line, times }) => [line, times])).toEqual([["const answer = question.answered();", 2]]);
  });

  it("are none where every line stands once", () => {
    expect(
      repeatedLines([{ seq: 1, text: "a line that is long enough\nanother one that is long", tokens: 5 }]),
    ).toEqual([]);
  });
});

describe("the map", () => {
  const call = (number: number, lastSeq: number, epoch: number): CallRow =>
    ({ call: number, lastSeq, epoch }) as unknown as CallRow;
  const epochs = [
    { epoch: 0, opened: 1, fates: [run(1, 1, "whole")] },
    { epoch: 1, opened: 3, fates: [run(1, 2, "gone"), run(3, 3, "whole")] },
  ] as unknown as readonly EpochRow[];

  it("has a column for each call and a row for each message", () => {
    const { width, height, fates: drawn } = rasterOf([call(1, 2, 0), call(2, 4, 1)], epochs, 4, 100, 100);
    expect([width, height]).toEqual([2, 4]);
    expect([...drawn].map((place) => fateOrder[place])).toEqual([
      "whole",
      "gone",
      "whole",
      "gone",
      "later",
      "whole",
      "later",
      "whole",
    ]);
  });

  it("is no larger than its place", () => {
    const calls = Array.from({ length: 5_000 }, (_, place) => call(place + 1, place + 1, 0));
    const { width, height } = rasterOf(calls, epochs, 5_000, 600, 300);
    expect([width, height]).toEqual([600, 300]);
  });
});

describe("a verdict on the cache", () => {
  it.each([
    [null, 50_000, "not reported"],
    [true, 50_000, "hit"],
    [false, 50_000, "miss"],
    [true, 900, "little to read"],
    [false, 900, "little to read"],
    [true, null, "hit"],
  ] as const)("of isHit %s with %s tokens expected of 60,000 is %s", (isHit, predicted, verdict) => {
    expect(cacheVerdict({ isHit, predicted }, 60_000)).toBe(verdict);
  });
});

it("mended faults of one kind are one line, with each message once", () => {
  const repair = (seq: number, kind: string): ViewerWindow["repairs"][number] => ({ seq, kind, reason: `${kind} why` });
  const repairs = [
    repair(3, "closed-call"),
    repair(4, "late-result"),
    repair(9, "closed-call"),
    repair(9, "closed-call"),
  ];
  expect(groupedRepairs(repairs)).toEqual([
    { kind: "closed-call", reason: "closed-call why", seqs: [3, 9] },
    { kind: "late-result", reason: "late-result why", seqs: [4] },
  ]);
});
