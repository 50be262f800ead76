import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import type { JsonValue } from "../kit/inside/message.ts";
import { MessageTokens } from "../kit/inside/replay.ts";
import { findQuotes, QuoteReader, QuoteTally, textEdits } from "../kit/lab.ts";
import { calls, characters, result, user } from "../replay/histories.ts";

describe("an edit", () => {
  it.each<[string, JsonValue, string]>([
    ["pi", { path: "a.ts", oldText: "a", newText: "b" }, "a>b"],
    ["several at once", { path: "a", edits: [{ old_string: "a", new_string: "b" }, { old_string: "c" }] }, "a>b c>"],
    ["an editor with commands", { command: "str_replace", path: "/a", old_str: "a", new_str: "b" }, "a>b"],
    ["search and replace", { search: "a", replace: "b" }, "a>b"],
  ])("is found by shape: %s", (_, args, edits) => {
    expect(
      textEdits(args)
        .map(({ old, fresh }) => `${old}>${fresh}`)
        .join(" "),
    ).toBe(edits);
  });

  it.each<[string, JsonValue]>([
    ["a search", { search: "a", path: "b" }],
    ["a write", { path: "a", content: "b" }],
    ["an insertion", { path: "a", old_str: " \n", new_str: "b" }],
    ["other names", { oldest: "a", newsletter: "b", folder: "c" }],
    ["no object", "old"],
  ])("is not %s", (_, args) => expect(textEdits(args)).toEqual([]));
});

const passage = "  if (left) {\n\n    return right;";
const file = `first line\n${passage}\n  }\nlast line`;

function quoteIn(shown: readonly Message[], between: number, old = passage, farDistance = 100): object {
  const reader = new QuoteReader();
  const messages = [
    user("go"),
    calls("1", "read", { path: "a.ts" }),
    result("1", file),
    user("x".repeat(between)),
    calls("2", "edit", { path: "a.ts", oldText: old, newText: "other" }),
  ];
  const quotes = findQuotes(messages, new MessageTokens(characters), reader).get(4) ?? [];
  const tally = new QuoteTally(reader, farDistance);
  tally.add(quotes, shown);
  return tally.result();
}

describe("exact quotes", () => {
  it.each<[string, string, number]>([
    ["whole", file, 1],
    ["in a numbered listing", "   3\tif (left) {\n   4\t\n   5\treturn right;", 1],
    ["with other indentation", "if (left) {\n\nreturn right;", 1],
    ["without its blank line", "  if (left) {\n    return right;", 0],
    ["with a mark in between", "  if (left) {\n…\n    return right;", 0],
    ["in another order", "    return right;\n\n  if (left) {", 0],
    ["in part", "  if (left) {", 0],
    ["with more on its line", "  if (left) {\n\n    return right; // more", 0],
  ])("%s", (_, text, found) => expect(quoteIn([user(text)], 200)).toEqual({ found, total: 1 }));

  it("stand in one message, not across two", () => {
    const [head, tail] = [user("  if (left) {\n"), user("    return right;")];
    expect(quoteIn([head, tail], 200)).toEqual({ found: 0, total: 1 });
  });

  it("are far only where the text was last seen further back than the distance", () => {
    // 96 characters and 4 for the message: exactly the distance, which is not yet far.
    expect(quoteIn([], 96)).toEqual({ found: 0, total: 0 });
    expect(quoteIn([], 97)).toEqual({ found: 0, total: 1 });
  });

  it("are texts that were seen, whole lines of them", () => {
    expect(quoteIn([], 200, "if (left) {\n\n    return")).toEqual({ found: 0, total: 0 });
    expect(quoteIn([], 200, "never read")).toEqual({ found: 0, total: 0 });
  });
});
