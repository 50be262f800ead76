import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Edit, Pass, WindowState } from "windrow";
import { dropOldest, explainWindow, strategyOf } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import { ids, texts, windowBy } from "./one-pass.ts";

const talk = (count: number): HistoryBuilder => {
  const history = new HistoryBuilder();
  for (let at = 1; at <= count; at++) {
    if (at % 2 === 1) history.user(`question ${at}`);
    else history.assistant(`answer ${at}`);
  }
  return history;
};
const summary: Edit = {
  kind: "replace",
  from: 3,
  to: 8,
  text: "[A summary of m3-m8]",
  pass: "summary",
  reason: "summarised",
  tokensBefore: 60,
  tokensAfter: 10,
};
const summarise: Pass = {
  name: "summary",
  plan: (view) => (view.steps.some((step) => step.kind === "note") ? [] : [summary]),
};

describe("steps that leave", () => {
  it("leave around a summary that stays, and the summary leaves last", () => {
    const { messages } = talk(20);
    const drop = dropOldest({ keepNotes: true, note: false });
    const { tokens } = windowBy(summarise, messages);
    const less = windowBy([summarise, drop], messages, { budget: tokens - 20 });
    expect(texts(less).slice(0, 2)).toEqual([summary.text, expect.stringMatching(/^(?:question|answer) \d+$/)]);
    expect(ids(less)).not.toContain("m2");
    expect(ids(less)).not.toContain("m9");
    const ranges = less.state.edits.map(({ from, to }) => [from, to]).toSorted(([one = 0], [other = 0]) => one - other);
    ranges.forEach(([from = 0], index) => expect(from).toBeGreaterThan(ranges[index - 1]?.[1] ?? 0));
    // Without being told to keep it, the new message takes the summary's place.
    expect(texts(windowBy([summarise, dropOldest()], messages, { budget: tokens - 20 }))).not.toContain(summary.text);
  });

  it("stay one edit however often the head is dropped, and every token is accounted for", () => {
    const { messages } = talk(400);
    const strategy = strategyOf("openstarry-sliding");
    let state: WindowState | undefined;
    for (let length = 1; length <= messages.length; length += 2) {
      const composed = composeWindow({
        messages: messages.slice(0, length),
        budget: 120,
        strategy,
        ...(state && { state }),
      });
      ({ state } = composed);
    }
    expect(state?.edits).toHaveLength(1);
    const { tokensBefore, tokensAfter } = explainWindow(state!, messages.slice(0, 399));
    const saved = state!.edits.reduce((sum, edit) => sum + edit.tokensBefore - edit.tokensAfter, 0);
    const start = windowBy([], []).tokens;
    expect(tokensBefore - saved).toBeGreaterThanOrEqual(tokensAfter - start);
    expect(tokensBefore - saved).toBeLessThanOrEqual(tokensAfter);
  });
});
