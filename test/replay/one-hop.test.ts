import { describe, expect, it } from "vitest";
import type { Message } from "../../src/message/message.ts";
import { OneHop, visibleStubs } from "../../src/replay/one-hop.ts";
import { AtomReader, findReferences } from "../../src/replay/recall-metric.ts";
import type { Edit, Stub } from "../../src/window/window.ts";
import { calls, characters, result, user } from "./histories.ts";

const history: readonly Message[] = [
  user("go"),
  calls("1", "read", { path: "src/deep.ts" }),
  result("1", "deepName lives here"),
  calls("2", "read", { path: "src/huge.ts" }),
  result("2", `${"filler line\n".repeat(2_000)}hugeName at the end\n${"filler line\n".repeat(2_000)}`),
];
const call = calls("3", "grep", { words: "deepName hugeName" });
const references = findReferences([...history, call], characters, new AtomReader()).get(5) ?? [];

function replaced(text: string, stubs: readonly Stub[]): Edit {
  return { kind: "replace", from: 2, to: 5, text, stubs, pass: "p", reason: "r", tokensBefore: 0, tokensAfter: 0 };
}

function recalled(edits: readonly Edit[], window: readonly Message[]): readonly string[] {
  const recalls = new OneHop(characters).forCall(history, edits, window);
  return references.filter(recalls).map((reference) => reference.atom);
}

const deep: Stub = { tool: "read", subject: "src/deep.ts", id: "m3", count: 1 };
const huge: Stub = { tool: "read", subject: "src/huge.ts", id: "m5", count: 1 };

describe("one-hop recall", () => {
  it("has references to bring back", () => {
    expect(references.map((reference) => reference.atom)).toEqual(["deepName", "hugeName"]);
  });

  it("brings nothing back without a stub", () => {
    expect(recalled([replaced("messages left", [])], [user("messages left")])).toEqual([]);
  });

  it("really recalls what a stub names, a passage of a large result too", () => {
    const text = "left this window:\nread src/deep.ts m3\nread src/huge.ts m5";
    expect(recalled([replaced(text, [deep, huge])], [user(text)])).toEqual(["deepName", "hugeName"]);
  });

  it("does not believe a stub that is not in the window", () => {
    const text = "left this window:\nread src/deep.ts m3";
    expect(recalled([replaced(text, [deep])], [user("something else")])).toEqual([]);
  });

  it("does not believe a stub of the wrong message", () => {
    const text = "left this window:\nread src/deep.ts m2";
    expect(recalled([replaced(text, [{ ...deep, id: "m2" }])], [user(text)])).toEqual([]);
  });

  it("wants tool and subject beside the id", () => {
    const text = "left this window: m3\nread src/huge.ts m5";
    expect(recalled([replaced(text, [deep, huge])], [user(text)])).toEqual(["hugeName"]);
    const folded = "left this window:\nread (2) m3-m5";
    const stub = { tool: "read", subject: "", id: "m3-m5", count: 2 };
    expect(recalled([replaced(folded, [stub])], [user(folded)])).toEqual([]);
  });
});

describe("visible stubs", () => {
  it("come with the range that stands for them", () => {
    const text = "read src/ m3-m5: m5";
    const stubs = [
      { ...deep, subject: "src/" },
      { ...huge, subject: "src/" },
    ];
    expect(visibleStubs([replaced(text, stubs)], [user(text)]).map((stub) => stub.id)).toEqual(["m3-m5", "m5"]);
  });

  it("stand in the place of a result, named by its call", () => {
    const edit: Edit = { ...replaced("[the whole is m3]", [deep]), kind: "stub", from: 3, to: 3 };
    const shown = [history[1], result("1", "[the whole is m3]")] as Message[];
    expect(visibleStubs([edit], shown)).toEqual([deep]);
    expect(visibleStubs([edit], shown.slice(1))).toEqual([]);
  });
});
