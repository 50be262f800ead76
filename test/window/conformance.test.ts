import { describe, expect, it } from "vitest";
import { register } from "../../src/conformance.ts";
import type { Edit, Strategy } from "../../src/window/window.ts";
import { strategyConformance } from "../../src/window/conformance.ts";
import { strategyNames, strategyOf } from "../../src/window/strategy.ts";

for (const name of strategyNames)
  register(
    strategyConformance(() => strategyOf(name)),
    { describe, it },
  );

/** Drops the newest half of the history on every call: what no strategy may do. */
const careless = (): Strategy => ({
  name: "careless",
  passes: [
    {
      name: "drop-newest",
      plan: (view): readonly Edit[] => {
        const { from, to } = view.steps.at(-1) ?? { from: 1, to: 1 };
        return [{ kind: "drop", from, to, pass: "drop-newest", reason: "", tokensBefore: 0, tokensAfter: 0 }];
      },
    },
  ],
  trigger: { messages: 1 },
  lowWater: 0.2,
  keepFirstUser: false,
});

describe("the suite", () => {
  it("fails a strategy that drops the current user message", async () => {
    const failed: string[] = [];
    for (const one of strategyConformance(careless)) await one.run().catch(() => failed.push(one.name));
    expect(failed.length).toBeGreaterThan(0);
  });
});
