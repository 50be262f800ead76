/** Seed 000, by hand from its document. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, Message, WindowState } from "windrow";
import { strategyOf } from "windrow/window";
import { HistoryBuilder, toolCalls, toolResults } from "../../kit/inside/message.ts";
import { counterFor, mikiLimits } from "../../kit/inside/window.ts";

const preset = strategyOf("miki");
const compose = (messages: readonly Message[], state?: WindowState, strategy = preset): Composed =>
  composeWindow({ messages, budget: 100_000, strategy, counter: counterFor(preset.settings), ...(state && { state }) });
const logged = (composed: Composed): string[] =>
  composed.messages.map(({ id }) => id).filter((id) => !id.startsWith("windrow:"));

/** An agent on a screen: a goal, then `steps` calls of two messages each. */
function agent(steps: number): HistoryBuilder {
  const history = new HistoryBuilder().user("Open Safari and search Google");
  for (let step = 1; step <= steps; step++) {
    history.assistant("", [`c${step}`, "click", { at: `${step}` }]).result(`c${step}`, `clicked ${step}`);
  }
  return history;
}

describe("preset miki", () => {
  it("has the eight limits of HISTORY_CONFIG in one place", () => {
    expect(Object.values(mikiLimits)).toEqual([24, 1000, 2000, 200, 2, 20, 200, 8]);
    expect(preset.settings).toMatchObject({ counter: "chars4-ceil", imageTokens: 100 });
    expect(strategyOf("miki").trigger).toEqual({ messages: 0 });
  });

  it("keeps at most 24 messages over a thousand, the newest ten always, in order", () => {
    const all = agent(500).messages;
    let state: WindowState | undefined;
    for (const length of [21, 23, 25, 27, 401, 1001]) {
      const composed = compose(all.slice(0, length), state);
      ({ state } = composed);
      const kept = logged(composed);
      expect(kept.length).toBeLessThanOrEqual(24);
      expect(kept.slice(-10)).toEqual(all.slice(length - 10, length).map(({ id }) => id));
      expect(kept).toEqual(all.map(({ id }) => id).filter((id) => kept.includes(id)));
      const called = composed.messages.flatMap(toolCalls).map(({ callId }) => callId);
      expect(composed.messages.flatMap(toolResults).map(({ callId }) => callId)).toEqual(called);
    }
  });

  it("keeps an early error, a plan and a completion while plain steps leave", () => {
    const history = new HistoryBuilder().user("go");
    history.assistant("", ["p", "think", { phase: "planning", thought: "first the menu" }]).result("p", "ok");
    history.assistant("", ["e", "click", { at: "menu" }]).result("e", "Error: no such element", true);
    history.assistant("Done. The menu is open.");
    for (let step = 0; step < 30; step++) history.assistant("", [`c${step}`, "click", {}]).result(`c${step}`, "ok");
    expect(logged(compose(history.messages)).slice(0, 6)).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
  });

  it("takes the sizes of jobs, and each limit by itself", () => {
    const all = agent(60).messages;
    const most = (options: object): number =>
      logged(compose(all, undefined, strategyOf({ ...options, use: "miki" }))).length;
    expect(most({ size: "short" })).toBeLessThanOrEqual(16);
    expect(most({ size: "short" })).toBeGreaterThanOrEqual(15);
    expect(most({ size: "complex" })).toBeGreaterThanOrEqual(39);
    expect(most({ maxMessages: 14 })).toBeLessThanOrEqual(14);
    expect(() => strategyOf({ use: "miki", maxMessage: 14 })).toThrow(/Did you mean "maxMessages"/);
  });

  it("cuts dumps on the first call already, and only those of its two tools", () => {
    const dump = JSON.stringify({
      elements: Array.from({ length: 301 }, (_, at) => ({ role: "AXButton", title: `b${at}`, help: "press" })),
    });
    const history = new HistoryBuilder().user("look");
    history.assistant("", ["a", "elementsJson", {}], ["b", "readFile", {}]).result("a", dump).result("b", dump);
    const [cut, whole] = compose(history.messages).messages.flatMap(toolResults);
    expect(whole?.content).toBe(dump);
    const { elements } = JSON.parse(cut?.content as string) as { elements: readonly object[] };
    expect(elements).toHaveLength(200);
    expect(elements[199]).toEqual({ role: "AXButton", title: "b199" });
  });
});
