import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { keepImportant } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import { ids, windowBy } from "./one-pass.ts";

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `m${from + index}`);

/** Messages by two speakers; those at the numbered places report an error. */
function talk(count: number, errors: readonly number[] = []): HistoryBuilder {
  const history = new HistoryBuilder();
  for (let at = 1; at <= count; at++) {
    if (at % 2 === 1) history.user(`message ${at}`);
    else history.assistant(errors.includes(at) ? `Error: message ${at}` : `message ${at}`);
  }
  return history;
}

describe("keep-important", () => {
  const literal = keepImportant({ messages: 24, note: false });

  it("leaves 24 messages alone and begins at the 25th", () => {
    expect(windowBy(literal, talk(24).messages).report.opened).toBeUndefined();
    expect(ids(windowBy(literal, talk(25).messages))).toEqual(range(2, 25));
  });

  it("keeps the newest 10 of 24, and of the older ones the most important, in the order of the log", () => {
    const { messages } = talk(40, [2, 8, 14, 32]);
    expect(ids(windowBy(literal, messages))).toEqual(["m2", "m8", "m14", ...range(20, 40)]);
  });

  it("gives ties to the newest, or to the oldest as the seed's code did", () => {
    const { messages } = talk(30);
    expect(ids(windowBy(literal, messages))).toEqual(range(7, 30));
    const oldest = keepImportant({ messages: 24, ties: "oldest", note: false });
    expect(ids(windowBy(oldest, messages))).toEqual([...range(1, 14), ...range(21, 30)]);
  });

  it("takes a score of the host's in place of its rules", () => {
    const { messages } = talk(40, [2, 8, 14, 32]);
    const score = (own: readonly Message[]): number => (own.some(({ id }) => id === "m3" || id === "m5") ? 1 : 0);
    const scored = keepImportant({ messages: 24, note: false, score });
    expect(ids(windowBy(scored, messages))).toEqual(["m3", "m5", ...range(19, 40)]);
  });

  it("never splits a step: where one would be, the next in rank takes the room", () => {
    const history = new HistoryBuilder().user("go");
    history
      .assistant("", ["a", "read", { path: "a" }], ["b", "read", { path: "b" }])
      .result("a", "one")
      .result("b", "two");
    for (let at = 0; at < 4; at++) history.assistant(`answer ${at}`);
    history.user("and now?");
    // Six messages: the newest three (ceil of 0.4 × 6), then one answer, then the user's; the step of three goes whole.
    expect(ids(windowBy(keepImportant({ messages: 6, note: false }), history.messages))).toEqual([
      "m1",
      "m5",
      "m6",
      "m7",
      "m8",
      "m9",
    ]);
  });

  it("without a count drops the least important first until the target is met", () => {
    const history = talk(40, [2, 6]);
    const composed = windowBy(keepImportant({ note: false }), history.messages, { budget: 150 });
    expect(composed.tokens).toBeLessThanOrEqual(150);
    expect(ids(composed).slice(0, 2)).toEqual(["m2", "m6"]);
    expect(ids(composed)).toContain("m40");
  });
});
