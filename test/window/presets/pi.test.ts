/** Seed 003, by hand from its document. */
import { beforeAll, describe, expect, it } from "vitest";
import { budgetOf, composeWindow, loadCounter } from "windrow";
import type { Composed, Message, TokenCounter } from "windrow";
import { estimate } from "windrow/testing";
import { strategyOf } from "windrow/window";
import type { StrategyChoice } from "windrow/window";
import { HistoryBuilder, resultText, toolResults } from "../../kit/inside/message.ts";

beforeAll(async () => void (await loadCounter("cl100k")));

const preset = strategyOf("pi");
const compose = (messages: readonly Message[], budget: number, options: object = {}): Composed =>
  composeWindow({ messages, budget, strategy: strategyOf({ ...options, use: "pi" }), counter: estimate });

/** One user message, then calls with a result of `lines` lines each: the seed's thirty calls of up to 50 kB. */
function calls(count: number, lines: number): readonly Message[] {
  const history = new HistoryBuilder().user("Do all of it");
  for (let call = 1; call <= count; call++) {
    const body = Array.from({ length: lines }, (_, at) => `call ${call}, line ${at + 1}: ${"x".repeat(40)}`).join("\n");
    history.assistant("", [`c${call}`, "read", { path: `f${call}` }]).result(`c${call}`, body);
  }
  return history.messages;
}

describe("preset pi", () => {
  it("has the seed's constants, and all six can be set", () => {
    expect(preset.settings).toMatchObject({ counter: "cl100k", imageTokens: 85, ratio: 0.75, locale: "zh" });
    expect(budgetOf({ contextWindow: 1_000, maxOutput: 0, ratio: preset.settings?.ratio ?? 0 })).toBe(750);
    const composed = compose(calls(5, 30), 1_000_000, {
      keepRecentToolResults: 2,
      headLines: 1,
      tailLines: 4,
      keepRecentThinking: 2,
      keepRecentMessages: 7,
    });
    expect(strategyOf({ use: "pi", contextRatio: 0.5 }).settings).toMatchObject({ ratio: 0.5 });
    const shown = composed.messages.flatMap(toolResults).map(resultText);
    const [first = ""] = shown;
    expect(first.replaceAll(/: x+/g, "").split("\n")).toEqual([
      " call 1, line 1",
      expect.stringMatching(/^\[\.\.\. 已省略 25 行，原/),
      ...[27, 28, 29, 30].map((line) => ` call 1, line ${line}`),
    ]);
    expect(shown.filter((text) => text.includes("已省略"))).toHaveLength(3);
  });

  it("shortens results older than the newest six however small the window is, by position and not by turn", () => {
    const composed = compose(calls(9, 20), 1_000_000);
    const shown = composed.messages.flatMap(toolResults).map(resultText);
    expect(shown.map((text) => text.split("\n").length)).toEqual([6, 6, 6, 20, 20, 20, 20, 20, 20]);
    const size = resultText(toolResults(calls(9, 20)[2] as Message)[0] as never).length;
    expect(shown[0]?.split("\n")[3]).toBe(`[... 已省略 15 行，原始 ${size} 字符，行首空格或 | 之后为引文 ...]`);
    expect(composed.messages).toHaveLength(19);
  });

  it("keeps to its number in an open loop, too, with openLoop: false", () => {
    const history = new HistoryBuilder().user("go");
    for (const turn of [1, 2, 3]) {
      history.add("assistant", [
        { type: "reasoning", text: `thought ${turn}` },
        { type: "tool-call", callId: `c${turn}`, name: "look", args: {} },
      ]);
      history.result(`c${turn}`, "seen");
    }
    const thoughts = (strategy: StrategyChoice | string): readonly string[] =>
      composeWindow({ messages: history.messages, budget: 9_999, profile: "pi", strategy }).messages.flatMap(
        ({ parts }) => parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
      );
    expect(thoughts("pi")).toEqual(["thought 1", "thought 2", "thought 3"]);
    expect(thoughts({ use: "pi", openLoop: false })).toEqual(["thought 3"]);
    expect(thoughts({ use: "pi", openLoop: false, keepRecentThinking: 2 })).toEqual(["thought 2", "thought 3"]);
  });

  it("over the threshold keeps the first user message and drops from the second on, to the newest twenty at most", () => {
    const messages = calls(30, 4);
    const whole = compose(messages, 1_000_000);
    expect(whole.messages).toHaveLength(61);
    const one = compose(messages, whole.tokens - 1);
    // One message over: the step behind the first user message goes whole, call and result.
    expect(one.messages.map(({ id }) => id)).toEqual(["m1", ...messages.slice(3).map(({ id }) => id)]);
    const own = ({ report }: Composed): boolean =>
      report.opened?.edits.every((edit) => edit.pass === "keep-recent") ?? false;
    let floor = one;
    for (let budget = one.tokens; own(compose(messages, budget)); budget -= 10) floor = compose(messages, budget);
    expect(floor.messages.map(({ id }) => id)).toEqual(["m1", ...messages.slice(-20).map(({ id }) => id)]);
  });

  it("lets the oldest of the twenty follow where they are over the budget, and the report says so", () => {
    const { messages, report, tokens } = compose(calls(30, 4), 300);
    expect(tokens).toBeLessThanOrEqual(300);
    expect(messages.length).toBeLessThan(21);
    expect(report.opened?.edits.map((edit) => edit.pass)).toContain("drop-oldest");
  });

  it("counts each result once, however many windows it is shortened in", () => {
    const messages = calls(12, 40);
    const results = new Set(messages.flatMap(toolResults).map(resultText));
    const counted: string[] = [];
    const counter: TokenCounter = {
      name: "own",
      count(text) {
        if (results.has(text)) counted.push(text);
        return estimate.count(text);
      },
    };
    for (let length = 1; length <= messages.length; length += 2) {
      composeWindow({ messages: messages.slice(0, length), budget: 1_000_000, strategy: "pi", counter });
    }
    expect(counted).toHaveLength(results.size);
  });
});
