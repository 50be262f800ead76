/** Readers that forget, overlook and ask in their own words, and the clearing of tool uses. */
import { describe, expect, it } from "vitest";
import { otherBench } from "../../bench/loop-other/families.ts";
import { estimate } from "windrow/testing";
import { chanceOverlooked, inOwnWords, policiesOf, Reader, runStudy } from "../kit/loop.ts";
import type { LoopRun, ReaderFaults, SeenMessage } from "../kit/loop.ts";

const said = (text: string): SeenMessage => ({ role: "user", text, calls: [], results: [] });
/** Messages of about 500 tokens each. */
const long = Array.from({ length: 40 }, (_, at) => said(`${at} `.repeat(500)));

describe("a reader", () => {
  it("overlooks more of longer windows, and nothing at their edges", () => {
    expect([0, 8_000, 32_000, 200_000].map(chanceOverlooked)).toEqual([0, 0.125, 0.5, 0.5]);
    const reader = new Reader({ overlooks: true }, 1, estimate);
    const noticed = reader.notices(long, 20_000, 1);
    expect(noticed.length).toBeLessThan(long.length);
    expect(noticed.length).toBeGreaterThan(long.length / 2);
    expect([noticed[0], noticed.at(-1)]).toEqual([long[0], long.at(-1)]);
    expect(reader.notices(long, 20_000, 1)).toEqual(noticed);
    expect(new Reader({ overlooks: true }, 2, estimate).notices(long, 20_000, 1)).not.toEqual(noticed);
    expect(new Reader({}, 1, estimate).notices(long, 20_000, 1)).toBe(long);
  });

  it("overlooks excerpts of a record, but never a head", () => {
    const excerpts = Array.from({ length: 60 }, (_, at) => `[m${at} user]\n ${"word ".repeat(200)}${at}\n`);
    const record = said(["[Windrow: a record]", ...excerpts].join("\n"));
    const [skimmed] = new Reader({ overlooks: true }, 1, estimate).notices([record], 16_000, 1);
    expect(skimmed?.text.match(/^\[m\d+/gm)).toHaveLength(60);
    expect(skimmed?.text.length).toBeLessThan(record.text.length);
    expect(skimmed?.text).toContain("\n…\n");
  });

  it("forgets recall in a share of the turns", () => {
    const reader = new Reader({ forgets: 0.3 }, 1, estimate);
    const thought = Array.from({ length: 1_000 }, (_, turn) => reader.thinksOfRecall(turn)).filter(Boolean);
    expect(thought.length).toBeGreaterThan(650);
    expect(thought.length).toBeLessThan(750);
  });

  it("asks for names as they are, and for the rest in its own words", () => {
    expect(inOwnWords("T-119 seat of lib/rate.ts, Rate and hotel")).toBe(
      "T-119 place of lib/rate.ts, Rate and lodging",
    );
    const asks = (faults: ReaderFaults): unknown => new Reader(faults, 1, estimate).asks({ query: "town" });
    expect([asks({}), asks({ ownWords: true })]).toEqual([{ query: "town" }, { query: "city" }]);
  });

  it(
    "makes mistakes in a job that it solves without its faults, and recalls nothing that it forgets to",
    { tags: ["slow"] },
    async () => {
      const run = async (
        policy: string,
        size: number,
        faults: ReaderFaults,
        asked: string[] = [],
      ): Promise<LoopRun["result"]> => {
        const [only] = await runStudy({
          bench: otherBench,
          policies: policiesOf([policy]),
          budgets: [4_000],
          families: ["notebook"],
          seeds: [1],
          size,
          counter: estimate,
          faults,
          onCall: (_, { action }) => {
            for (const { tool, args } of action.calls ?? []) if (tool === "recall") asked.push(String(args.query));
          },
        });
        return (only as LoopRun).result;
      };
      expect(await run("none", 80, {})).toMatchObject({ solved: true });
      expect(await run("none", 80, { overlooks: true })).toMatchObject({ solved: false });
      const [exact, own]: [string[], string[]] = [[], []];
      expect((await run("adaptive+recall", 50, {}, exact)).recalls).toBeGreaterThan(0);
      await run("adaptive+recall", 50, { ownWords: true }, own);
      expect(exact.join(" ")).toMatch(/\btitre\b/);
      expect(own.join(" ")).not.toMatch(/\btitre\b/);
      expect(await run("adaptive+recall", 50, { forgets: 1 })).toMatchObject({ recalls: 0 });
    },
  );
});
