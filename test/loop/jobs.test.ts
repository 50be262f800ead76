/** The scripts of the loop: a full history solves every job, and the same seed gives the same figures. */
import { describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { families, familyNames, policies, policiesOf, runStudy, totalsOf } from "../kit/loop.ts";
import type { LoopRun, StudyOptions } from "../kit/loop.ts";
import { toolResults } from "../kit/inside/message.ts";

/** Small jobs of one seed through policies. */
function study(policies: readonly string[], options: Partial<StudyOptions> = {}): Promise<readonly LoopRun[]> {
  return runStudy({
    policies: policiesOf(policies),
    budgets: [8_000],
    families: familyNames,
    seeds: [1],
    size: 80,
    counter: estimate,
    ...options,
  });
}

describe.each(familyNames)("%s", (family) => {
  it("is solved by an agent that has its whole history", async () => {
    const runs = await study(["none"], { families: [family], seeds: [1, 2] });
    for (const { result } of runs) {
      expect(result).toMatchObject({ solved: true, wrong: 0, voids: 0, refused: 0, isCut: false });
      expect(result.actions).toBeGreaterThan(15);
      expect(result.calls).toBeGreaterThan(70);
      expect(result.calls).toBeLessThan(110);
    }
    expect(new Set(runs.map(({ result }) => result.historyTokens)).size).toBe(2);
  });

  it("calls its tools with the arguments that they declare, all of them texts", async () => {
    const tools = families[family]?.(1, 80).tools ?? [];
    const declared = new Map(tools.map(({ name, args }) => [name, args.toSorted()]));
    const called = new Set<string>();
    // An agent that lacks something looks for it with every tool.
    await study(["sliding-window"], {
      families: [family],
      budgets: [4_000],
      onCall: (_, { action }) => {
        for (const { tool, args } of action.calls ?? []) {
          called.add(tool);
          expect(Object.keys(args).toSorted(), tool).toEqual(declared.get(tool));
          expect(Object.values(args).filter((value) => typeof value !== "string")).toEqual([]);
        }
      },
    });
    expect(called).toEqual(new Set(declared.keys()));
  });
});

it("gives the same figures for the same seed", { tags: ["slow"] }, async () => {
  const options = { size: 20, budgets: [3_000], families: ["operations", "refactor"] };
  expect(await study(["adaptive+recall"], options)).toEqual(await study(["adaptive+recall"], options));
});

it.each(policies.map(({ name }) => name))("%s sends no request that a provider refuses", async (name) => {
  const runs = await study([name], { budgets: [3_000], size: 24 });
  expect(runs.map(({ result }) => result.refused)).toEqual(runs.map(() => 0));
});

it("clears all results but the newest three in the policy keep-3", async () => {
  const sent: number[] = [];
  await study(["keep-3"], {
    families: ["service"],
    onCall: (_, { window }) => {
      sent.push(window.flatMap(toolResults).filter(({ content }) => content !== "[cleared]").length);
    },
  });
  expect(Math.max(...sent)).toBe(3);
});

it("sees what a window without the older messages loses", async () => {
  const runs = await study(["sliding-window"], { budgets: [4_000] });
  const wrong = runs.map(({ result }) => result.wrong + result.voids);
  expect(wrong.filter((count) => count > 0).length).toBeGreaterThan(3);
  expect(totalsOf(runs)).toMatchObject([{ policy: "sliding-window", budget: 4_000, jobs: 5, refused: 0 }]);
  expect(totalsOf(runs, true).map(({ family }) => family)).toEqual(familyNames);
});

it("ends a job at its limit of calls, and where a window cannot be made", async () => {
  const [tiny] = await study(["adaptive"], { budgets: [300], families: ["service"] });
  expect(tiny?.result).toMatchObject({ solved: false, refused: 1 });
  const [whole] = await study(["none"], { families: ["service"] });
  const calls: number[] = [];
  await study(["none"], { families: ["service"], onCall: (_, call) => calls.push(call.number) });
  expect(calls).toHaveLength(whole?.result.calls ?? 0);
});

it("knows every strategy as a policy, with and without recall, and no other name", async () => {
  expect(policiesOf(["importance", "layered+recall"]).map(({ hasRecall }) => hasRecall)).toEqual([false, true]);
  expect(() => policiesOf(["adaptve"])).toThrow(/no policy "adaptve".*adaptive/);
});
