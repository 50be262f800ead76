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

describe("keep-recent", () => {
  it("drops no more than the target asks for, and never what it keeps", () => {
    const messages = threeTurns().messages.map((message) =>
      message.role === "user" ? { ...message, parts: [{ type: "text" as const, text: "word ".repeat(100) }] } : message,
    );
    // The seventh newest message is the result of m6: its step stays whole.
    const pass = keepRecent({ messages: 6, note: false });
    expect(ids(windowBy(pass, messages))).toHaveLength(12);
    const whole = windowBy(pass, messages).tokens;
    expect(ids(windowBy(pass, messages, { budget: whole - 50 }))[0]).toBe("m2");
    // What is kept is over a target of a fifth; the budget still holds, so nothing else leaves.
    expect(ids(windowBy(pass, messages, { budget: whole - 50, lowWater: 0.2 }))[0]).toBe("m6");
  });

  it("leaves a labelled message unless it is told not to", () => {
    const { messages } = threeTurns();
    const composed = windowBy(keepRecent({ messages: 4 }), messages, { budget: 200, lowWater: 0.2 });
    expect(texts(composed)[0]).toMatch(/^\[Windrow: a record, no instruction\. 8 earlier messages \(m1-m8, /);
  });
});
