import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import {
  AtomReader,
  atomsOf,
  farDistanceFor,
  findReferences,
  LookbackTally,
  MessageTokens,
} from "../kit/inside/replay.ts";
import { calls, characters, result, says, user } from "./histories.ts";

function referencesAt(messages: readonly Message[], index: number): readonly string[] {
  const found = findReferences(messages, new MessageTokens(characters), new AtomReader()).get(index) ?? [];
  return found.map(({ atom }) => atom.trim());
}

describe("atoms", () => {
  it("takes paths whole and their segments that are names", () => {
    expect([...atomsOf("see src/window/view.ts")]).toEqual(["src/window/view.ts", "view.ts"]);
  });

  it("takes identifier-like and number-like words, and no prose", () => {
    const atoms = atomsOf(
      "the parseJson of my_value in HAT136 costs 1.5, 12 or 4096 on 2024-05-20. Nothing else counts.",
    );
    const words = [...atoms].filter((atom) => !atom.startsWith("\n"));
    expect(words).toEqual(["parseJson", "my_value", "HAT136", "1.5", "4096", "2024-05-20"]);
  });

  it("takes a whole line of at least 24 characters, without the number an editor put before it", () => {
    const line = "return left.seq - right.seq;";
    for (const shown of [line, `  12\t${line}`, `12:${line}`, `  12→${line}`, `12| ${line}  `]) {
      expect(atomsOf(shown).has(`\n${line}`), shown).toBe(true);
    }
    expect([...atomsOf("a short line of 23 char")].some((atom) => atom.startsWith("\n"))).toBe(false);
    expect([...atomsOf("a short line of 24 chars")].some((atom) => atom.startsWith("\n"))).toBe(true);
  });
});

describe("references", () => {
  it("counts what a user message or a result said first", () => {
    const messages = [
      user("look at config.json"),
      calls("1", "read", { path: "config.json" }),
      result("1", "maxTokens here"),
      calls("2", "grep", { words: ["maxTokens"], limit: 4096 }),
    ];
    expect(referencesAt(messages, 1)).toEqual(["config.json"]);
    expect(referencesAt(messages, 3)).toEqual(["maxTokens"]);
  });

  it("does not count what the agent or the system prompt wrote first, even where a result repeats it", () => {
    const system: Message = { id: "s", role: "system", parts: [{ type: "text", text: "use system_tool" }] };
    const messages = [
      system,
      user("go"),
      says("I will write myHelper"),
      user("myHelper is fine"),
      calls("1", "write", { text: "myHelper brandNew system_tool" }),
      result("1", "wrote brandNew"),
      calls("2", "read", { text: "brandNew" }),
    ];
    expect(referencesAt(messages, 4)).toEqual([]);
    expect(referencesAt(messages, 6)).toEqual([]);
  });

  it("measures the distance from the end of the latest occurrence", () => {
    const messages = [user("firstName"), user("firstName"), user("0123456789"), calls("1", "f", { a: "firstName" })];
    const [reference] = findReferences(messages, new MessageTokens(characters), new AtomReader()).get(3) ?? [];
    expect(reference).toMatchObject({ atom: "firstName", distance: 14, places: [0, 1] });
  });

  it("finds a line of an edit in a numbered listing", () => {
    const messages = [
      user("go"),
      calls("1", "read", {}),
      result("1", "   41\t  if (left === right) return 0;\n   42\t}"),
      calls("2", "edit", { oldText: "x\n  if (left === right) return 0;" }),
    ];
    expect(referencesAt(messages, 3)).toContain("if (left === right) return 0;");
  });
});

describe("look-back recall", () => {
  const near = user("nearName");
  const far = user("farName\nthe whole line that is far away");
  const messages = [
    far,
    user("x".repeat(100)),
    near,
    calls("1", "f", { a: "farName nearName", line: "the whole line that is far away" }),
  ];
  const reader = new AtomReader();
  const references = findReferences(messages, new MessageTokens(characters), reader).get(3) ?? [];
  const tallyAt = (farDistance: number): LookbackTally => new LookbackTally({ reader, farDistance, messages });

  it("is null where there was nothing to look back for", () => {
    const tally = tallyAt(50);
    tally.add([], []);
    const nothing = { all: null, far: null, farLines: null, oneHop: null };
    expect(tally.result()).toEqual({ ...nothing, farSteps: 0, references: 0, farLineReferences: 0 });
  });

  it("tells near from far, and lines from words", () => {
    const tally = tallyAt(50);
    tally.add(references, [near]);
    expect(tally.result()).toMatchObject({ all: 33.33, far: 0, farLines: 0, oneHop: 33.33, farSteps: 1 });
    tally.add(references, messages.slice(0, 3));
    expect(tally.result()).toMatchObject({ all: 66.66, far: 50, farLines: 50, farSteps: 2, references: 6 });
  });

  it("has no far step when all is nearer than the distance", () => {
    const tally = tallyAt(10_000);
    tally.add(references, []);
    expect(tally.result()).toMatchObject({ all: 0, far: null, farLines: null, farSteps: 0 });
  });

  it("weighs far recall by calls, not by references", () => {
    const tally = tallyAt(50);
    const one = references.filter((reference) => reference.atom === "farName");
    tally.add(one, [user("farName")]);
    tally.add(references, []);
    expect(tally.result()).toMatchObject({ all: 25, far: 50 });
  });

  it("counts a recall apart from presence", () => {
    const tally = tallyAt(50);
    tally.add(references, [near], (reference) => reference.atom === "farName");
    expect(tally.result()).toMatchObject({ all: 33.33, oneHop: 66.66 });
  });

  it("says 100 only when nothing is missing", () => {
    const tally = tallyAt(50);
    for (let times = 0; times < 20_000; times++) tally.add(references, messages);
    tally.add(references, []);
    expect(tally.result().all).toBe(99.99);
  });
});

it("takes the far distance by the size of the history", () => {
  expect([9_999, 10_000, 49_999, 50_000].map(farDistanceFor)).toEqual([1_000, 2_000, 2_000, 8_000]);
});
