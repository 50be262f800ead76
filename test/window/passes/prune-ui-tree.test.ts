import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { pruneUiTree } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import type { JsonValue } from "../../kit/inside/message.ts";
import type { PruneUiTreeOptions } from "../../kit/inside/window.ts";
import { results, windowBy } from "./one-pass.ts";

/** What a window shows of one result. */
function shown(content: string, options: PruneUiTreeOptions = {}, tool = "elementsJson"): string {
  const history = new HistoryBuilder().user("look").assistant("", ["c", tool, {}]).result("c", content);
  return results(windowBy(pruneUiTree({ keepNewest: 0, ...options }), history.messages))[0] ?? "";
}
const both: PruneUiTreeOptions = { rule: "limits", tools: ["elementsJson", "webElements"] };
const limits = (value: JsonValue, tool = "elementsJson"): unknown =>
  JSON.parse(shown(JSON.stringify(value), both, tool));
const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => item(at));

describe("the rule limits, by seed 000", () => {
  const child = (at: number): JsonValue => ({ role: "AXStaticText", title: `child ${at}` });
  const element = (at: number): { [key: string]: JsonValue } => ({
    role: "AXButton",
    title: `Submit ${at}`,
    description: "Click this button to submit the form",
    help: "Press enter to activate",
    position: { x: 100, y: 200 + at },
    children: many(50, child),
  });

  it("gives the documented example: 301 elements of 50 children become 200 of 20, without description and help", () => {
    expect(limits({ elements: many(301, element) })).toEqual({
      elements: many(200, (at) => ({
        role: "AXButton",
        title: `Submit ${at}`,
        position: { x: 100, y: 200 + at },
        children: many(20, child),
      })),
    });
    expect(limits(many(301, element), "webElements")).toHaveLength(200);
  });

  it("cuts the elements of a page to their own limit, however the result holds them", () => {
    const own = { maxNodes: 30, maxWebElements: 40 };
    const page = (value: JsonValue, tool = "webElements"): unknown =>
      JSON.parse(shown(JSON.stringify(value), { rule: "limits", tools: [tool], limits: own }, tool));
    const list = many(50, (at) => ({ role: "link", title: `Link ${at}`, position: { x: at, y: 1 } }));
    const cut = list.slice(0, 40);
    expect(page(list)).toEqual(cut);
    expect(page({ elements: list })).toEqual({ elements: cut });
    expect(page({ webElements: list })).toEqual({ webElements: cut });
    expect(page({ page: { nodes: list } })).toEqual({ page: { nodes: cut } });
    expect(page({ elements: list }, "elementsJson")).toEqual({ elements: list.slice(0, 30) });
    const mixed = { webElements: { elements: list }, elements: list };
    expect(page(mixed, "elementsJson")).toEqual({ webElements: { elements: cut }, elements: list.slice(0, 30) });
  });

  it("shows levels 0, 1 and 2 of children and cuts the level below", () => {
    const nest = (depth: number): JsonValue =>
      depth === 0
        ? { role: "AXGroup", title: "leaf" }
        : { role: "AXGroup", title: `${depth}`, children: [nest(depth - 1)] };
    const three = { role: "AXGroup", title: "1", children: "[truncated]" };
    expect(limits({ elements: [nest(4), nest(2)] })).toEqual({
      elements: [
        {
          role: "AXGroup",
          title: "4",
          children: [{ role: "AXGroup", title: "3", children: [{ ...three, title: "2" }] }],
        },
        nest(2),
      ],
    });
  });

  it("cuts texts over 1000 characters, data over 2000, lists of actions over 8", () => {
    const cut = limits({
      elements: [
        { role: "AXButton", title: "t".repeat(1000), actions: many(9, (at) => `act ${at}`) },
        { role: "AXButton", title: "t".repeat(1001), data: "d".repeat(2001) },
        // The thousandth character is the first half of an emoji.
        { role: "AXButton", title: `${"t".repeat(999)}😀`, help: "Press enter to activate. ".repeat(9) },
      ],
    });
    expect(cut).toEqual({
      elements: [
        { role: "AXButton", title: "t".repeat(1000), actions: many(8, (at) => `act ${at}`) },
        { role: "AXButton", title: `${"t".repeat(1000)}...[truncated]`, data: `${"d".repeat(2000)}...[truncated]` },
        { role: "AXButton", title: `${"t".repeat(999)}...[truncated]` },
      ],
    });
    expect(shown("no JSON ".repeat(500), { rule: "limits", tools: ["elementsJson"] })).toBe(
      `${"no JSON ".repeat(250)}...[truncated]`,
    );
  });

  it("takes a budget for the whole dump, other limits and other fields", () => {
    const elements = many(10, (at) => ({ role: "AXButton", title: `b${at}`, note: "n", children: [child(at)] }));
    const options = { rule: "limits", limits: { totalNodes: 5, dropFields: ["note"] } } as const;
    expect(JSON.parse(shown(JSON.stringify({ elements }), options))).toEqual({
      elements: [0, 1, 2].map((at) => ({ role: "AXButton", title: `b${at}`, children: at < 2 ? [child(at)] : [] })),
    });
  });

  it("leaves results of other tools byte-identical, and dumps within the limits", () => {
    const large = JSON.stringify({ elements: many(301, element) }, null, 2);
    expect(shown(large, both, "click")).toBe(large);
    const small = JSON.stringify({ elements: [{ role: "AXButton", title: "OK" }] }, null, 2);
    expect(shown(small, { rule: "limits" })).toBe(small);
  });
});

describe("the rule interactive lines", () => {
  it("reads JSON trees of any nesting: id, role, name, value, states", () => {
    const dump = {
      url: "https://example.org/form",
      tree: {
        role: "WebArea",
        name: "Form",
        children: many(30, (at) => ({
          role: "generic",
          name: "",
          children: [{ role: "paragraph", name: `text ${at}` }],
        })),
        nodes: [
          { role: "heading", name: "Your order" },
          { nodeId: 7, role: "textbox", name: "Name", value: "Ada", focused: true },
          { nodeId: 8, role: "checkbox", name: "Gift", checked: true },
          {
            role: "group",
            children: [{ nodeId: 9, role: "button", children: [{ role: "text", text: "Send it" }], enabled: false }],
          },
          { role: "button", title: "Away", position: { x: 12, y: 34 } },
        ],
      },
    };
    expect(shown(JSON.stringify(dump)).split("\n")).toEqual([
      '[Windrow: elementsJson truncated {"by":"interactive-lines","shown":4,"total":68}, quoted behind a space or |; recall m3 shows the whole]',
      " url: https://example.org/form",
      " # Your order",
      " 7 textbox Name = Ada (focused)",
      " 8 checkbox Gift (checked)",
      " 9 button Send it (disabled)",
      " @12,34 button Away",
    ]);
  });

  it("reads the bracket notation of web agents", () => {
    const filler = "Words that nobody can click on. ".repeat(20);
    const brackets = `< < <a[AA]| Home> <a[SA]| Home> <p| ${filler}> <button[B]| <span| Search> > <input[C]| Your words> > >`;
    const [, ...lines] = shown(brackets).split("\n");
    expect(lines).toEqual([" AA SA Home", " B button Search", " C input Your words"]);
  });

  it("cuts a long name behind a character", () => {
    const wide = JSON.stringify(many(20, () => ({ role: "button", name: `${"x".repeat(78)}😀😀😀` })));
    expect(shown(wide).isWellFormed()).toBe(true);
    expect(shown(wide)).toContain(`${"x".repeat(78)}…`);
  });

  it.each([
    ["source code", 'const a = { role: "button" };\n'.repeat(40)],
    [
      "data",
      JSON.stringify({ type: "module", name: "x", items: many(40, (at) => ({ type: "object", title: `t${at}` })) }),
    ],
    ["a chat", JSON.stringify(many(40, (at) => ({ role: "user", content: `text ${at}` })))],
    ["prose", "Button and link are words. ".repeat(60)],
    ["a page of HTML", `<html><body>${"<div><a href='/x'>words</a></div>".repeat(60)}</body></html>`],
  ])("leaves %s as it is", (_, text) => {
    expect(shown(text, {}, "read")).toBe(text);
  });

  it("keeps the newest dump whole unless told otherwise", () => {
    const dump = JSON.stringify(
      many(80, (at) => ({ role: at % 4 === 0 ? "link" : "text", name: `a longer name ${at}`, id: at })),
    );
    const history = new HistoryBuilder().user("look");
    for (const id of ["a", "b"]) history.assistant("", [id, "snapshot", {}]).result(id, dump);
    const [older = "", newest] = results(windowBy(pruneUiTree(), history.messages));
    expect(older.length).toBeLessThan(dump.length);
    expect(newest).toBe(dump);
  });
});

describe("dumps of a screen that stand in many windows", () => {
  const history = new HistoryBuilder().user("Press the button.");
  for (const id of ["c1", "c2", "c3"]) {
    const elements = many(30, (at) => ({ role: "AXButton", title: `Button ${at} ${"of many words ".repeat(20)}` }));
    history.assistant("", [id, "elementsJson", {}]).result(id, JSON.stringify({ elements }));
  }

  it.each(["limits", "interactive-lines"] as const)("are read once by %s, and again for another mask", (rule) => {
    let cuts = 0;
    const counting = (word: string) => (text: string) => {
      if (text.startsWith("Button")) cuts++;
      return text.replace("Button", word);
    };
    const pass = pruneUiTree({ rule, keepNewest: 0, limits: { maxTextChars: 30 } });
    const strategy = { name: "dumps", passes: [pass], trigger: { messages: 0 }, lowWater: 1, keepFirstUser: false };
    const shown = (mask: (text: string) => string): string =>
      results(composeWindow({ messages: history.messages, budget: 1_000_000, strategy, mask })).join("\n");
    const mask = counting("Button");
    const first = shown(mask);
    expect(cuts).toBeGreaterThan(3);
    const before = cuts;
    expect(shown(mask)).toBe(first);
    expect(cuts).toBe(before);
    expect(shown(counting("Hidden"))).toContain("Hidden");
    expect(cuts).toBeGreaterThan(before);
  });
});
