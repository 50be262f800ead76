/** The reader of windows: the newest statement counts, and no line is read as another record's. */
import { expect, it } from "vitest";
import { fieldOf, lineWith, View } from "../kit/loop.ts";
import type { SeenMessage } from "../kit/loop.ts";

const pool = /the pool of api is (\d+)/;

function user(text: string): SeenMessage {
  return { role: "user", text, calls: [], results: [] };
}

function answered(tool: string, args: Record<string, string>, text: string): readonly SeenMessage[] {
  const id = `${tool} ${Object.values(args).join(" ")}`;
  return [
    { role: "assistant", text: "", calls: [{ id, tool, args }], results: [] },
    { role: "tool", text: "", calls: [], results: [{ id, text }] },
  ];
}

/** The pool of api that a window says, and the message that says it. */
function poolIn(messages: readonly SeenMessage[]): { readonly value: string; readonly order: number } | undefined {
  return new View(messages, true).newest((statement) => lineWith(statement, [pool]));
}

const digest = [
  "[Windrow: a record, no instruction. 8 earlier messages (m2-m9, about 900 tokens) left this window and are kept.]",
  "logs (2) m3-m7: api",
  "--- what the user wrote",
  "[m8]",
  " the pool of api is 250",
  "--- what was said and printed, in order",
  "[m3 logs api]",
  " the pool of api is 100",
  "…",
  "| the pool of web is 7",
].join("\n");

it("takes the newest statement of a record, a message behind the record for newer, one before it for older", () => {
  expect(poolIn([user(digest)])).toEqual({ value: "250", order: 8 });
  expect(poolIn([user("the pool of api is 1"), user(digest)])).toEqual({ value: "250", order: 8 });
  expect(poolIn([user(digest), user("the pool of api is 300")])).toEqual({ value: "300", order: 10 });
});

it("reads recalled passages by their ids, not by where they stand", () => {
  const recalled = "[Windrow: a record.]\n[m4 tool]\n the pool of api is 90\n\n[m12 user]\n the pool of api is 400";
  const messages = [user(digest), ...answered("recall", { query: "pool" }, recalled)];
  expect(poolIn(messages)).toEqual({ value: "400", order: 12 });
});

it("does not take a line of Windrow's own for a statement", () => {
  expect(poolIn([user("[Windrow: a record (m2-m9, …)]\nthe pool of api is 5")])).toBeUndefined();
});

it("reads a field of the record that has the id, in pretty and in compact JSON", () => {
  const records = [
    { id: "C-1", tier: "gold" },
    { id: "C-2", tier: "plain" },
  ];
  for (const indent of [0, 2]) {
    const text = JSON.stringify(records, null, indent);
    const view = new View(answered("list", { of: "all" }, text), false);
    expect(view.newest((statement) => fieldOf(statement, "C-2", "tier"))?.value).toBe("plain");
    expect(view.newest((statement) => fieldOf(statement, "C-3", "tier"))).toBeUndefined();
  }
});

it("reads an excerpt of a record only where its label or a line beside it says whose it is", () => {
  const excerpt = (label: string, lines: readonly string[]): View =>
    new View([user(["[Windrow: a record, no instruction. (m2-m9, …)]", `[m5 ${label}]`, ...lines].join("\n"))], false);
  const tier = '   "tier": "gold",';
  const read = (view: View): string | undefined => view.newest((statement) => fieldOf(statement, "C-2", "tier"))?.value;
  expect(read(excerpt("get_customer C-2", [tier]))).toBe("gold");
  expect(read(excerpt("tool", [tier]))).toBeUndefined();
  expect(read(excerpt("tool", ['   "id": "C-2",', tier]))).toBe("gold");
  expect(read(excerpt("tool", ['   "id": "C-2",', "…", tier]))).toBeUndefined();
});

it("reads a field of a record that is told in a line, by the id in it or by its label", () => {
  const excerpt = (label: string, ...lines: readonly string[]): View =>
    new View([user(["[Windrow: a record, no instruction. (m2-m9, …)]", `[m5 ${label}]`, ...lines].join("\n"))], false);
  const lines = [" id C-1, name Ada, tier plain, seats 4", " id C-2, name Bo, tier gold, seats 7"];
  const tier = (view: View): string | undefined => view.newest((statement) => fieldOf(statement, "C-2", "tier"))?.value;
  expect(tier(excerpt("list all", ...lines))).toBe("gold");
  expect(tier(excerpt("get_customer C-2", " name Bo, tier gold"))).toBe("gold");
  expect(tier(excerpt("list all", " name Bo, tier gold"))).toBeUndefined();
  expect(tier(excerpt("list all", " id C-1, friend C-2, seats 4"))).toBeUndefined();
  expect(tier(excerpt("list all", " Check, tier of C-2, tier of C-1"))).toBeUndefined();
  expect(tier(excerpt("user", " Change id C-2, tier none"))).toBeUndefined();
});
