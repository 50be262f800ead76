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
} from "windrow/window";
import type { ViewStep } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";

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
  () => keepRecent({ messages: 6 }),
  () => keepState({ extract: (state, text) => ({ ...state, last: text }) }),
  pruneUiTree,
  () => supersede({ when: "always" }),
];
// The long session repeats what the short one of the same kind proves.
const isLong = ({ name }: ConformanceCase): boolean => name.includes("a long coding session");
const screen = (title: string): string =>
  JSON.stringify(Array.from({ length: 30 }, (_, at) => ({ role: "AXButton", title: `${title} ${at}` })));
const screens = new HistoryBuilder()
  .user("Click around")
  .assistant("", ["first", "ui", {}])
  .result("first", screen("Open"))
  .assistant("", ["second", "ui", {}])
  .result("second", screen("Close"));
const samples = [{ name: "two screens", messages: screens.messages }];
const ofPasses = passes.flatMap((pass) => passConformance(pass, samples));
const runsOf = (cases: readonly ConformanceCase[]): void => register(cases, { describe, it });
runsOf(ofPasses.filter((one) => !isLong(one)));
describe("at length", { tags: ["slow"] }, () => {
  runsOf(ofPasses.filter(isLong));
});

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
  /** One edit of the first such step where tokens have to leave. */
  const over =
    (is: (step: ViewStep) => boolean, rest: (step: ViewStep) => Partial<Edit>): Pass["plan"] =>
    (view, context) => {
      const step = view.tokens > context.target ? view.steps.find(is) : undefined;
      return step ? [edit({ from: step.from, to: step.to, ...rest(step) })] : [];
    };
  const isFree = (step: ViewStep): boolean => !step.protected;

  it("fails a strategy that drops the current user message", async () => {
    const careless = (): Strategy => ({
      name: "careless",
      passes: [
        { name: "mine", plan: ({ steps }) => [edit({ from: steps.at(-1)?.from ?? 1, to: steps.at(-1)?.to ?? 1 })] },
      ],
      trigger: { messages: 1 },
      lowWater: 0.2,
      keepFirstUser: false,
    });
    const complaint = "is protected and leaves";
    expect(await firstComplaint(strategyConformance(careless), complaint)).toContain(complaint);
  });

  it.each<readonly [string, string, Pass["plan"]]>([
    [
      "splits a step",
      "is split",
      over(
        ({ messages }) => messages.length > 1,
        ({ from }) => ({ to: from }),
      ),
    ],
    [
      "drops what is protected",
      "is protected and leaves",
      over(
        (step) => step.protected,
        () => ({}),
      ),
    ],
    [
      "cuts inside a character",
      "cut inside a character",
      over(isFree, () => ({ kind: "replace", text: "half \ud83d" })),
    ],
    ["gives no reason", "says no reason", over(isFree, () => ({ reason: "" }))],
    [
      "stubs what is no result",
      "changes 0 parts",
      over(
        () => true,
        ({ from }) => ({ kind: "stub", to: from, text: "gone" }),
      ),
    ],
    [
      "shortens what it has shortened",
      "asked again on the same messages",
      ({ steps }) => {
        const from = steps.find(({ messages }) => messages.length === 2)?.messages[1]?.seq;
        return from === undefined ? [] : [edit({ kind: "stub", from, to: from, text: "gone" })];
      },
    ],
    ["never edits", "made no edit in any sample", () => []],
  ])("fails a pass that %s", async (_, complaint, plan) => {
    expect(await firstComplaint(passConformance(mine(plan)), complaint)).toContain(complaint);
  });

  it("fails a pass that answers differently each time", async () => {
    let asked = 0;
    const fickle = mine((view, context) => {
      const free = view.tokens > context.target ? view.steps.filter(isFree) : [];
      const step = free[asked++ % Math.max(1, free.length)];
      return step ? [edit({ from: step.from, to: step.to })] : [];
    });
    const complaint = "same in, not the same out";
    expect(await firstComplaint(passConformance(fickle), complaint)).toContain(complaint);
  });
});
