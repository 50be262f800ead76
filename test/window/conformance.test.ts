import { describe, expect, it } from "vitest";
import type { Edit, Pass, Strategy } from "windrow";
import { passConformance, register, strategyConformance } from "windrow/testing";
import type { ConformanceCase } from "windrow/testing";
import {
  digest,
  dropOldest,
  dropReasoning,
  headTailLines,
  keepImportant,
  keepRecent,
  keepState,
  pruneUiTree,
  strategyNames,
  strategyOf,
  supersede,
  truncateToolResults,
} from "windrow/window";

describe.each(strategyNames.map((name) => ({ name })))("$name", { tags: ["slow"] }, ({ name }) => {
  register(
    strategyConformance(() => strategyOf(name)),
    { describe, it },
  );
});

const passes: readonly (() => Pass)[] = [
  digest,
  dropOldest,
  dropReasoning,
  headTailLines,
  () => headTailLines({ keepRecent: 0, minChars: 20, errorLines: 2, maxLineChars: 30 }),
  () => keepImportant({ messages: 12 }),
  () => keepRecent({ turns: 2, when: "always" }),
  () => keepState({ extract: (state, text) => ({ ...state, last: text }) }),
  pruneUiTree,
  () => supersede({ when: "always" }),
  truncateToolResults,
];
for (const pass of passes) register(passConformance(pass), { describe, it });

/** The first complaint that contains the text, or, where no case complains so, all complaints. */
async function firstComplaint(cases: readonly ConformanceCase[], text: string): Promise<string> {
  const complaints: string[] = [];
  for (const one of cases) {
    const complaint = await one.run().then(() => "", String);
    if (complaint === "") continue;
    if (complaint.includes(text)) return complaint;
    complaints.push(`${one.name}: ${complaint}`);
  }
  return complaints.join("\n");
}

describe("the suite", () => {
  const edit = (rest: Partial<Edit>): Edit => ({
    kind: "drop",
    from: 1,
    to: 1,
    pass: "mine",
    reason: "because",
    tokensBefore: 0,
    tokensAfter: 0,
    ...rest,
  });
  const mine =
    (plan: Pass["plan"]): (() => Pass) =>
    () => ({ name: "mine", plan });
  const over =
    (make: Pass["plan"]): Pass["plan"] =>
    (view, context) =>
      view.tokens > context.target ? make(view, context) : [];

  it("fails a strategy that drops the current user message", async () => {
    const careless = (): Strategy => ({
      name: "careless",
      passes: [
        {
          name: "drop-newest",
          plan: (view) => [
            edit({ from: view.steps.at(-1)?.from ?? 1, to: view.steps.at(-1)?.to ?? 1, pass: "drop-newest" }),
          ],
        },
      ],
      trigger: { messages: 1 },
      lowWater: 0.2,
      keepFirstUser: false,
    });
    const complaint = "the current user message left";
    expect(await firstComplaint(strategyConformance(careless), complaint)).toContain(complaint);
  });

  it.each<readonly [string, string, Pass["plan"]]>([
    [
      "splits a step",
      "is split",
      over((view) => {
        const step = view.steps.find(({ messages }) => messages.length > 1);
        return step ? [edit({ from: step.from, to: step.from })] : [];
      }),
    ],
    [
      "drops what is protected",
      "is protected and leaves",
      over((view) => {
        const step = view.steps.find((one) => one.protected);
        return step ? [edit({ from: step.from, to: step.to })] : [];
      }),
    ],
    [
      "cuts inside a character",
      "cut inside a character",
      over((view) => {
        const step = view.steps.find((one) => !one.protected);
        return step ? [edit({ kind: "replace", from: step.from, to: step.to, text: "half \ud83d" })] : [];
      }),
    ],
    [
      "gives no reason",
      "says no reason",
      over((view) => {
        const step = view.steps.find((one) => !one.protected);
        return step ? [edit({ from: step.from, to: step.to, reason: "" })] : [];
      }),
    ],
    [
      "stubs what is no result",
      "stands for 0 results",
      over((view) => {
        const step = view.steps[0];
        return step ? [edit({ kind: "stub", from: step.from, to: step.from, text: "gone" })] : [];
      }),
    ],
  ])("fails a pass that %s", async (_, complaint, plan) => {
    expect(await firstComplaint(passConformance(mine(plan)), complaint)).toContain(complaint);
  });

  it("fails a pass that answers differently each time", async () => {
    let asked = 0;
    const fickle = mine(
      over((view) => {
        const free = view.steps.filter((step) => !step.protected);
        const step = free[asked++ % Math.max(1, free.length)];
        return step ? [edit({ from: step.from, to: step.to })] : [];
      }),
    );
    const complaint = "same in, not the same out";
    expect(await firstComplaint(passConformance(fickle), complaint)).toContain(complaint);
  });
});
