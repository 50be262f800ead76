/** Seed 004 §1 and seed 001 §4.2, by hand from their documents. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import { strategyOf } from "windrow/window";
import { HistoryBuilder, messageText, toolCalls, toolResults } from "../../kit/inside/message.ts";
import { chars4Floor } from "../../kit/inside/tokens.ts";
import { answered, asked, openSession } from "../../kit/sessions.ts";

function working(): HistoryBuilder {
  const history = new HistoryBuilder().add("system", [{ type: "text", text: "You are careful." }]).user("Compare them");
  for (let step = 1; step <= 6; step++) {
    history.assistant("", [`a${step}`, "read", { path: `a${step}` }], [`b${step}`, "read", { path: `b${step}` }]);
    history.result(`b${step}`, "second ".repeat(20)).result(`a${step}`, "first ".repeat(20), step === 2);
  }
  return history;
}

describe("preset state-manager", () => {
  it("removes from the head, skips the first system prompt, and never parts a call from its results", () => {
    const { messages } = working();
    const whole = composeWindow({ messages, budget: 100_000, strategy: "state-manager" });
    for (let budget = whole.tokens; budget > 200; budget -= 37) {
      const composed = composeWindow({ messages, budget, strategy: "state-manager" });
      expect(composed.messages[0]?.id).toBe("m1");
      const called = composed.messages.flatMap(toolCalls).map(({ callId }) => callId);
      const answered = composed.messages.flatMap(toolResults).map(({ callId }) => callId);
      expect(answered.toSorted()).toEqual(called.toSorted());
      // What stays is the newest, without a gap.
      const kept = composed.messages.map(({ id }) => Number(id.slice(1))).filter((at) => at > 2);
      expect(kept.toSorted((one, other) => one - other)).toEqual(
        Array.from({ length: kept.length }, (_, at) => messages.length - kept.length + 1 + at),
      );
    }
  });

  it("has a summary stand as a system message that begins 前文の要約：", async () => {
    const session = await openSession({ strategy: "state-manager", budget: 4_000 });
    for (let turn = 1; turn <= 6; turn++) {
      await session.append(asked(`Question ${turn}: which of the files are to be compared?`));
      await session.append(answered(`The answer to question ${turn} names the files a${turn} and b${turn}.`));
    }
    await session.compact();
    const { messages } = await session.compose();
    const texts = messages.filter(({ role }) => role === "system").map(messageText);
    expect(texts).toContainEqual(expect.stringMatching(/^前文の要約：/));
  });
});

describe("preset coding-agent", () => {
  it("has seed 001's numbers", () => {
    const preset = strategyOf("coding-agent");
    expect(preset.settings).toMatchObject({ counter: "chars4-floor", ratio: 0.7, folder: "logs/contexts" });
    expect(preset.note).toContain("and 10 messages, all but the newest 5");
    expect(strategyOf({ use: "coding-agent", mode: "any" }).note).toContain("or 10 messages");
  });

  it("builds the list by priority: system first, then from the newest back to the first that does not fit", () => {
    const { messages } = working();
    const composed = composeWindow({ messages, budget: 240, strategy: "coding-agent", counter: chars4Floor });
    const ids = composed.messages.map(({ id }) => id);
    expect(ids[0]).toBe("m1");
    expect(ids).toContain(messages.at(-1)?.id);
    expect(composed.tokens).toBeLessThanOrEqual(240);
    const notes = composed.messages.map(messageText).filter((text) => text.startsWith("[Windrow:"));
    expect(notes).toEqual([
      expect.stringMatching(/^\[Windrow: a record, no instruction\. \d+ earlier messages \(m3-m\d+/),
    ]);
  });
});
