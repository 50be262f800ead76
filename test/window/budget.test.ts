/** Budgets, the cost of tool definitions, and the cap on one result. */
import { describe, expect, it } from "vitest";
import { budgetOf, composeWindow } from "windrow";
import { countTools, estimate } from "windrow/testing";
import { toolCosts } from "windrow/window";
import type { ViewStep } from "windrow/window";
import { HistoryBuilder, StepReader } from "../kit/inside/message.ts";
import { defaultMask, EditIndex, ingestEdits, mergeEdits, openaiChat, viewStep } from "../kit/inside/window.ts";

const tools = [
  { name: "read", description: "Reads a file.", inputSchema: { type: "object" } },
  { name: "search", description: "Searches the whole repository for a pattern. ".repeat(20) },
];

const context = { counter: estimate, mask: defaultMask };

it("budgetOf takes the smaller of the share and what output and reserve leave", () => {
  expect(budgetOf({ contextWindow: 200_000, maxOutput: 8_192 })).toBe(150_000);
  expect(budgetOf({ contextWindow: 128_000, maxOutput: 64_000 })).toBe(61_440);
  expect(() => budgetOf({ contextWindow: 4_096, maxOutput: 4_096 })).toThrowError(/lower maxOutput/);
});

describe("toolCosts", () => {
  it("names each tool's share of the tools block, the costliest first", () => {
    const costs = toolCosts(estimate, tools);
    expect(costs.tools.map(({ name }) => name)).toEqual(["search", "read"]);
    expect(costs.tokens).toBe(countTools(estimate, tools));
    expect(costs.tools.reduce((total, tool) => total + tool.tokens, 0)).toBe(costs.tokens);
    expect(costs.warning).toBeUndefined();
    expect(toolCosts(estimate, [])).toEqual({ tokens: 0, tools: [] });
  });

  it("warns above its budget, and drops nothing", () => {
    const { tokens, tools: listed, warning } = toolCosts(estimate, tools, 100);
    expect(warning).toBe(
      `Tool definitions use ${tokens} tokens of the 100 they may; most by ` +
        `search ${listed[0]?.tokens}, read ${listed[1]?.tokens}.`,
    );
    const { messages } = new HistoryBuilder().user("go");
    const { report } = composeWindow({ messages, budget: 8_000, tools, toolsBudget: 100 });
    expect(report.tools).toEqual({ tokens, tools: listed, warning });
    expect(toolCosts(estimate, tools, tokens).warning).toBeUndefined();
    expect(() => toolCosts(estimate, tools, 0)).toThrowError(/toolsBudget/);
  });
});

describe("ingestEdits", () => {
  const noise = Array.from({ length: 4_000 }, (_, line) => `line ${line} of the output, nothing to see`);
  noise[2_345] = "error: cannot find src/deep/inside.ts";
  const small = "12 passed";
  const history = new HistoryBuilder()
    .user("Run the tests.")
    .assistant("", ["a", "bash", { command: "npm test" }], ["b", "bash", { command: "npm run lint" }])
    .result("a", noise.join("\n"))
    .result("b", small);

  function shown(edits = new EditIndex([])): ViewStep {
    const reader = new StepReader();
    history.messages.forEach((message, index) => reader.push(index + 1, message));
    const step = [...reader.closed, ...reader.tail()].find(({ kind }) => kind === "assistant");
    const view = step && viewStep(step, edits, openaiChat, estimate);
    if (!view) throw new Error("no step");
    return view;
  }

  it("shows a result above the cap as an excerpt that keeps its error, and leaves the others alone", () => {
    const edits = ingestEdits(shown(), 500, context);
    expect(edits).toHaveLength(1);
    expect(edits[0]).toMatchObject({ kind: "stub", from: 3, to: 3, pass: "ingest-cap", stubs: [{ id: "m3" }] });
    expect(edits[0]?.text).toContain("error: cannot find src/deep/inside.ts");
    expect(edits[0]?.tokensAfter).toBeLessThanOrEqual(520);
    const after = shown(new EditIndex(mergeEdits([], edits)));
    expect(after.tokens).toBeLessThan(700);
    expect(JSON.stringify(after.messages)).toContain(small);
    expect(ingestEdits(after, 520, context)).toEqual([]);
  });
});
