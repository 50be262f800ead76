/** The second bench: a full history solves every job, and its agents read windows as people do. */
import { describe, expect, it } from "vitest";
import { clearToolUses } from "../../bench/loop/clear-tool-uses.ts";
import { otherBench } from "../../bench/loop-other/families.ts";
import { Hand } from "../../bench/loop-other/hand.ts";
import type { Need } from "../../bench/loop-other/hand.ts";
import { Sight } from "../../bench/loop-other/sight.ts";
import { travelReading } from "../../bench/loop-other/travel-reading.ts";
import type { SeenMessage } from "../../src/loop/jobs/view.ts";
import { plainPolicy, policies, policiesOf } from "../../src/loop/policy.ts";
import { familiesOf, runStudy } from "../../src/loop/study.ts";
import type { LoopRun, StudyOptions } from "../../src/loop/study.ts";
import { estimate } from "../../src/tokens/estimate.ts";

const known = [...policies, plainPolicy("clear-tool-uses", clearToolUses)];

/** Small jobs of the second bench. */
function study(names: readonly string[], options: Partial<StudyOptions> = {}): Promise<readonly LoopRun[]> {
  return runStudy({
    bench: otherBench,
    policies: policiesOf(names, known),
    budgets: [6_000],
    families: otherBench.names,
    seeds: [1],
    size: 60,
    counter: estimate,
    ...options,
  });
}

describe.each(otherBench.names)("%s", (family) => {
  it("is solved by an agent that has its whole history", async () => {
    const runs = await study(["none"], { families: [family], seeds: [1, 2] });
    for (const { result } of runs) {
      expect(result).toMatchObject({ solved: true, wrong: 0, voids: 0, refused: 0, isCut: false });
      expect(result.actions).toBeGreaterThan(15);
      expect(result.calls).toBeGreaterThanOrEqual(60);
      expect(result.calls).toBeLessThan(70);
    }
    expect(new Set(runs.map(({ result }) => result.historyTokens)).size).toBe(2);
  });
});

it("sees what windows without older messages and results lose", async () => {
  const runs = await study(["sliding-window", "clear-tool-uses"]);
  for (const policy of ["sliding-window", "clear-tool-uses"]) {
    const own = runs.filter((run) => run.policy === policy).map(({ result }) => result);
    expect(own.filter(({ wrong, voids }) => wrong + voids > 0).length, policy).toBeGreaterThan(3);
    expect(own.map(({ refused }) => refused)).toEqual(own.map(() => 0));
  }
});

it("knows its own families alone", () => {
  expect(familiesOf(undefined, otherBench)).toEqual(otherBench.names);
  expect(() => familiesOf(["travl"], otherBench)).toThrow(/no family "travl".*travel/);
});

describe("what an agent reads", () => {
  const said = (text: string): SeenMessage => ({ role: "user", text, calls: [], results: [] });
  const need = (key: string): Need => ({ key, about: key, sought: key });
  /** The values that an agent without tools finds. */
  const found = (messages: readonly SeenMessage[], keys: readonly string[]): unknown =>
    new Hand(new Sight(messages, false), travelReading).find(keys.map(need)).next().value;

  const record = (lines: readonly string[]): SeenMessage =>
    said(
      [
        "[Windrow: a record, no instruction. 40 earlier messages (m2-m41, about 900 tokens) left this window.]",
        ...lines,
      ].join("\n"),
    );

  it("is the newest statement, by the numbers of the excerpts and behind them the messages", () => {
    const digest = record([
      "--- what the user wrote",
      "[m30]",
      " Ms Kor sits in 4B and eats rask, always.",
      "[m7]",
      " Ms Kor sits in 1A and eats olm, always.",
    ]);
    expect(found([digest], ["seat Ms Kor"])).toEqual(["4B"]);
    const later = said("A change. Not 4B but 9F for Ms Kor, as a seat, from here on.");
    expect(found([digest, later], ["seat Ms Kor", "meal Ms Kor"])).toEqual(["9F", "rask"]);
  });

  it("is what took a value's place, also where the old print was read again", () => {
    const mail = said("Hotel Vesk no longer asks 90 a night but 120, taxes included.");
    const print = said('{\n  "hotel": "Vesk",\n  "nightly": 90,\n}');
    expect(found([mail, print], ["rate Vesk"])).toEqual(["120"]);
  });

  it("is nothing where a line stands under no label", () => {
    const digest = record([
      "--- what was said and printed, in order",
      "[m12 brochure Morl]",
      '   "hotel": "Vesk",',
      "…",
      '   "nightly": 90,',
    ]);
    expect(found([digest], ["rate Vesk"])).toEqual(["unknown"]);
    const told = record([
      "--- what was said and printed, in order",
      "[m12 brochure Morl]",
      " offers: hotel Vesk, nightly 90, currency EUR",
    ]);
    expect(found([told], ["rate Vesk"])).toEqual(["90"]);
  });
});
