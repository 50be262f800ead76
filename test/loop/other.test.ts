/** The second bench: a full history solves every job, and its agents read windows as people do. */
import { describe, expect, it } from "vitest";
import { clearToolUses } from "../../bench/loop/clear-tool-uses.ts";
import { otherBench } from "../../bench/loop-other/families.ts";
import { Hand } from "../../bench/loop-other/hand.ts";
import type { Need, Reading } from "../../bench/loop-other/hand.ts";
import { notebookReading } from "../../bench/loop-other/notebook-reading.ts";
import { Sight } from "../../bench/loop-other/sight.ts";
import { timetableReading } from "../../bench/loop-other/timetable-reading.ts";
import { estimate } from "windrow/testing";
import { familiesOf, plainPolicy, policies, policiesOf, runStudy } from "../kit/inside/loop.ts";
import type { LoopRun, SeenMessage, StudyOptions } from "../kit/inside/loop.ts";

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

it("sees what windows without older messages and results lose", { tags: ["slow"] }, async () => {
  const runs = await study(["sliding-window", "clear-tool-uses"]);
  for (const policy of ["sliding-window", "clear-tool-uses"]) {
    const own = runs.filter((run) => run.policy === policy).map(({ result }) => result);
    expect(own.filter(({ wrong, voids }) => wrong + voids > 0).length, policy).toBeGreaterThan(3);
    expect(own.map(({ refused }) => refused)).toEqual(own.map(() => 0));
  }
});

it("knows its own families alone", () => {
  expect(familiesOf(undefined, otherBench)).toEqual(otherBench.names);
  expect(() => familiesOf(["notebok"], otherBench)).toThrow(/no family "notebok".*notebook/);
});

describe("what an agent reads", () => {
  const said = (text: string): SeenMessage => ({ role: "user", text, calls: [], results: [] });
  const need = (key: string): Need => ({ key, about: key, sought: key });
  /** The values that an agent without tools finds. */
  const found = (
    messages: readonly SeenMessage[],
    needs: readonly (string | Need)[],
    reading: Reading = notebookReading,
  ): unknown =>
    new Hand(new Sight(messages, false), reading)
      .find(needs.map((one) => (typeof one === "string" ? need(one) : one)))
      .next().value;

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
      " By the way, sample S-104 went into freezer Kor, behind the old racks.",
      "[m7]",
      " You will need it one day: sample S-104 is kept in freezer Olm.",
    ]);
    expect(found([digest], ["freezer S-104"])).toEqual(["Kor"]);
    const later = said("Freezer Kor is being thawed, and sample S-104 lies in freezer Rask now.");
    expect(found([digest, later], ["freezer S-104", "freezer S-105"])).toEqual(["Rask", "unknown"]);
  });

  it("is what took a value's place, also where the old print was read again", () => {
    const mended = said("The pH of 6.41 for buffer vesk was a slip of the pen, 7.12 is right.");
    const entry = said("Yield was low.\nBuffer vesk came to a pH of 6.41 at room temperature.");
    expect(found([mended, entry], ["pH vesk"])).toEqual(["7.12"]);
  });

  it("is nothing where a line stands under no label", () => {
    const file = (...lines: readonly string[]): SeenMessage =>
      record(["--- protocols/vesk.toml (m12)", ...lines, " minutes = 12"]);
    expect(found([file(" [spin]", "… 9")], ["spin time vesk"])).toEqual(["unknown"]);
    expect(found([file(" [spin]", " rpm = 4200")], ["spin time vesk", "spin speed vesk"])).toEqual(["12", "4200"]);
    const told = record([
      "--- what was said and printed, in order",
      "[m12 staff_list 2]",
      " members: teacher Ms Kor, locker 31, extension 4180",
    ]);
    expect(found([told], ["extension Ms Kor"], timetableReading)).toEqual(["4180"]);
  });

  it("is an exception before the rule, whenever the rule was said", () => {
    const signs = { ...need("signs 7 in 7kor"), rule: "signs 7" };
    const rule = said("Absences in year 7 are signed by Ms Olm, as ever.");
    const exception = said("Unlike the rest of year 7, class 7kor goes to Mr Rask with absences.");
    expect(found([rule], [signs], timetableReading)).toEqual(["Ms Olm"]);
    expect(found([exception, rule], [signs], timetableReading)).toEqual(["Mr Rask"]);
  });
});
