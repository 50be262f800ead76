/** Explanations: every message's fate, and sums that come out exactly. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeWindow, isWindrowError } from "windrow";
import type { Composed, ComposeInput, Message } from "windrow";
import { estimate } from "windrow/testing";
import { explainWindow } from "windrow/window";
import type { Explanation } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import { history } from "../kit/histories.ts";

/** Composes before every model call, as an agent does, or before the last few, and returns the last window that fits. */
function composeAlong(
  input: ComposeInput,
  most = Infinity,
): { readonly window: Composed; readonly messages: readonly Message[] } | undefined {
  let last: { window: Composed; messages: readonly Message[] } | undefined;
  const calls = input.messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  for (const call of [...calls, input.messages.length].slice(-most)) {
    const messages = input.messages.slice(0, call);
    try {
      last = { window: composeWindow({ ...input, messages, state: last?.window.state }), messages };
    } catch (error) {
      if (!isWindrowError(error, "over-budget") && !isWindrowError(error, "budget-too-small")) throw error;
    }
  }
  return last;
}

function expectSums(explanation: Explanation, window: Composed, messages: readonly Message[]): void {
  const { items, totals, tokensBefore, tokensAfter } = explanation;
  const log = messages.reduce((sum, message) => sum + countMessage(estimate, message), 0);
  const difference = items.reduce((sum, item) => sum + item.tokensBefore - item.tokensAfter, 0);
  expect(tokensBefore).toBe(log);
  expect(tokensAfter).toBe(window.tokens);
  expect(difference).toBe(log - window.tokens);
  const own = items.filter((item) => item.fate !== "added");
  expect(own.map(({ seq, id }) => [seq, id])).toEqual(messages.map(({ id }, index) => [index + 1, id]));
  expect(Object.values(totals).reduce((sum, total) => sum + total.messages, 0)).toBe(items.length);
  for (const { fate, pass, reason } of items)
    expect([fate, pass === "" && fate !== "kept", reason]).not.toContain(true);
}

describe.each(["anthropic", "openai-chat"])("for %s", (profile) => {
  it("adds up for random histories", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(history, fc.constantFrom(500, 4_000, 60_000), (messages, budget) => {
        const along = composeAlong({ messages: messages.slice(0, 60), budget, profile }, 3);
        if (along)
          expectSums(explainWindow(along.window.state, along.messages, { profile }), along.window, along.messages);
      }),
      { numRuns: 15 },
    );
  });
});

it("counts the reasoning that stayed behind, and says who dropped it", () => {
  const { messages } = new HistoryBuilder()
    .user("why?")
    .add("assistant", [
      { type: "reasoning", text: "let me think ".repeat(9) },
      { type: "text", text: "so" },
    ])
    .add("assistant", [{ type: "reasoning", text: "nothing else" }])
    .user("and?");
  const window = composeWindow({ messages, budget: 5_000 });
  const { items, reasoning } = explainWindow(window.state, messages);
  const fates = ["kept ", "kept profile", "dropped profile", "kept "];
  expect(items.map(({ fate, pass }) => `${fate} ${pass}`)).toEqual(fates);
  expect(reasoning.messages).toBe(1);
  expect(reasoning.tokens).toBe((items[1]?.tokensBefore ?? 0) - (items[1]?.tokensAfter ?? 0));
});

it("names what repair left out and what it added", () => {
  const history = new HistoryBuilder().assistant("", ["c1", "run", {}]).user("stop").assistant("").user("go on");
  const { messages } = history;
  const window = composeWindow({ messages, budget: 5_000, profile: "anthropic" });
  const explanation = explainWindow(window.state, messages, { profile: "anthropic" });
  expectSums(explanation, window, messages);
  const added = explanation.items.filter((item) => item.fate === "added");
  expect(added.map(({ seq, pass }) => `${seq} ${pass}`)).toEqual(["0 repair", "1 repair"]);
  const empty = explanation.items.find(({ seq, fate }) => seq === 3 && fate !== "added");
  expect(empty).toMatchObject({ fate: "dropped", pass: "repair", tokensAfter: 0 });
});

it("tells when another system prompt took the place of the log's", () => {
  const { messages } = new HistoryBuilder().add("system", [{ type: "text", text: "Be brief." }]).user("hello");
  const first = (system?: string): unknown => {
    const { state } = composeWindow({ messages, budget: 500, ...(system !== undefined && { system }) });
    return explainWindow(state, messages).items[0];
  };
  expect(first()).toMatchObject({ fate: "kept" });
  expect(first("Be long.")).toMatchObject({ fate: "dropped", pass: "system" });
});
