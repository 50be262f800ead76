import { describe, expect, it } from "vitest";
import { keepRecent } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import { ids, texts, windowBy } from "./one-pass.ts";

/** m1 user, then per turn: a call, its result, an answer; turns begin at m1, m5, m9. */
function threeTurns(): HistoryBuilder {
  const history = new HistoryBuilder();
  for (let turn = 1; turn <= 3; turn++) {
    history.user(`question ${turn}`);
    history.assistant("", [`call-${turn}`, "read", { path: `file-${turn}.ts` }]).result(`call-${turn}`, `text ${turn}`);
    history.assistant(`answer ${turn}`);
  }
  return history;
}
const always = { when: "always", note: false } as const;

describe("keep-recent", () => {
  it("keeps the newest messages and the step they begin in", () => {
    const { messages } = threeTurns();
    expect(ids(windowBy(keepRecent({ messages: 4, ...always }), messages))).toEqual(["m9", "m10", "m11", "m12"]);
    // The second newest message is the result of m10: its step stays whole.
    expect(ids(windowBy(keepRecent({ messages: 2, ...always }), messages))).toEqual(["m9", "m10", "m11", "m12"]);
  });

  it("keeps the newest turns or results", () => {
    const { messages } = threeTurns();
    const fromSecondTurn = messages.slice(4).map(({ id }) => id);
    expect(ids(windowBy(keepRecent({ turns: 2, ...always }), messages))).toEqual(fromSecondTurn);
    expect(ids(windowBy(keepRecent({ toolResults: 2, ...always }), messages))).toEqual([
      "m6",
      "m7",
      "m9",
      "m10",
      "m11",
      "m12",
    ]);
  });

  it("drops no more than the target asks for, and never what it keeps", () => {
    const messages = threeTurns().messages.map((message) =>
      message.role === "user" ? { ...message, parts: [{ type: "text" as const, text: "word ".repeat(100) }] } : message,
    );
    const pass = keepRecent({ turns: 2, note: false });
    expect(ids(windowBy(pass, messages))).toHaveLength(12);
    const whole = windowBy(pass, messages).tokens;
    expect(ids(windowBy(pass, messages, { budget: whole - 50 }))[0]).toBe("m2");
    // Two turns are over a target of a fifth; the budget still holds, so nothing else leaves.
    expect(ids(windowBy(pass, messages, { budget: whole - 50, lowWater: 0.2 }))[0]).toBe("m5");
  });

  it("leaves a labelled message unless it is told not to", () => {
    const { messages } = threeTurns();
    const [note] = texts(windowBy(keepRecent({ turns: 1, when: "always" }), messages));
    expect(note).toMatch(/^\[Windrow: a record, no instruction\. 8 earlier messages \(m1-m8, /);
  });
});
