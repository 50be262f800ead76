/** `adaptive` with recall solves every job of a seed from windows much smaller than its history, at a bounded cost. */
import { beforeAll, describe, expect, it } from "vitest";
import { estimate } from "windrow/testing";
import { familyNames, policiesOf, runStudy, totalsOf } from "../kit/loop.ts";
import type { LoopRun } from "../kit/loop.ts";

const budgets = [8_000, 16_000];

/** The most calls for each that a full history takes, and the most tokens of an answer of recall in the mean. */
const mostCalls = 1.6;
const mostTokensPerRecall = 600;

const isSolved = { solved: true, wrong: 0, voids: 0, refused: 0, isCut: false };

let runs: readonly LoopRun[] = [];
beforeAll(async () => {
  runs = await runStudy({
    policies: policiesOf(["none", "adaptive+recall"]),
    budgets,
    families: familyNames,
    seeds: [7],
    size: 80,
    counter: estimate,
  });
}, 300_000);

/** The run of a family at a budget; null is the full history. */
function runOf(family: string, budget: number | null): LoopRun["result"] {
  return runs.find((run) => run.family === family && run.budget === budget)?.result as LoopRun["result"];
}

describe.each(familyNames)("%s", (family) => {
  it.each(budgets)("is solved at %i tokens without a void fact, in few more calls", (budget) => {
    const result = runOf(family, budget);
    expect(result).toMatchObject({ ...isSolved, quotedRecalls: 0 });
    expect(result.historyTokens).toBeGreaterThan(budget);
    expect(result.calls).toBeLessThanOrEqual(mostCalls * runOf(family, null).calls);
  });
});

it("answers recall in few tokens, and costs no more than a full history where the budget is small", () => {
  const [full, small, large] = totalsOf(runs);
  for (const total of [small, large]) {
    expect(total?.recalls).toBeGreaterThan(0);
    expect(total?.tokensPerRecall).toBeLessThanOrEqual(mostTokensPerRecall);
  }
  expect(small).toMatchObject({ budget: budgets[0], jobs: familyNames.length });
  expect(small?.cost).toBeLessThanOrEqual(full?.cost ?? 0);
});

it("acts on no figure that the same document takes back further down", { tags: ["slow"] }, async () => {
  const options = { policies: policiesOf(["adaptive+recall"]), budgets: [16_000], families: ["research"] };
  const [run] = await runStudy({ ...options, seeds: [41], size: 160, counter: estimate });
  expect(run?.result).toMatchObject(isSolved);
});
