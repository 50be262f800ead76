/** Seed 000's ContextManager, to the letter of its document. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { ContextManager } from "windrow/adk";
import type { GeminiContent } from "windrow/gemini";

const say = (text: string, role = "user"): GeminiContent => ({ role, parts: [{ text }] });
const called = (name: string, args: object = {}): GeminiContent => ({
  role: "model",
  parts: [{ functionCall: { name, args } }],
});
const answered = (name: string, response: object): GeminiContent => ({
  role: "function",
  parts: [{ functionResponse: { name, response } }],
});
const picture: GeminiContent = {
  role: "user",
  parts: [{ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }],
};
const texts = (contents: readonly GeminiContent[]): readonly unknown[] =>
  contents.flatMap(({ parts = [] }) => (parts as readonly { text?: string }[]).map(({ text }) => text));

describe("addMessage", () => {
  it.each([
    ["a plain message", say("Open the page"), 0.5],
    ["an error", answered("click", { error: "no element" }), 0.8],
    ["a completion", called("done"), 0.8],
    ["a think of the planning phase", called("think", { phase: "planning" }), 0.7],
    ["another think", called("think", { phase: "verification" }), 0.5],
    ["a screenshot", picture, 0.6],
    ["a dump of a screen", answered("elementsJson", { elements: [] }), 0.4],
    ["one of a page", answered("webElements", { webElements: [] }), 0.4],
  ])("works out the importance of %s", (_what, message, importance) => {
    expect(new ContextManager().addMessage(message).importance).toBe(importance);
  });

  it("takes an importance that is given, and refuses what is no message", () => {
    expect(new ContextManager().addMessage({ ...say("Hi"), importance: 0.9 }).importance).toBe(0.9);
    assert.throws(() => new ContextManager().addMessage(7 as never), { code: "bad-message" });
  });
});

describe("getMessages", () => {
  it("keeps the newest 40 % and the most important of the older, in order, 24 in all", () => {
    const manager = new ContextManager();
    manager.addMessage(say("first"));
    for (let at = 1; at <= 200; at++) {
      const important = at % 10 === 0;
      manager.addMessage({ ...say(`message ${at}`, at % 2 ? "user" : "model"), importance: important ? 0.8 : 0.5 });
    }
    const kept = texts(manager.getMessages());
    expect(kept).toHaveLength(24);
    expect(kept.slice(-10)).toEqual(Array.from({ length: 10 }, (_, at) => `message ${191 + at}`));
    const older = kept.slice(0, -10).map((text) => Number(String(text).split(" ")[1]));
    expect(older).toEqual(older.toSorted((left, right) => left - right));
    expect(older.slice(-13)).toEqual(Array.from({ length: 13 }, (_, at) => 70 + 10 * at));
  });

  it("trims a run of the user's messages as any other, the newest apart", () => {
    const manager = new ContextManager();
    for (let at = 1; at <= 30; at++) manager.addMessage(say(`${at}`));
    expect(texts(manager.getMessages())).toEqual(Array.from({ length: 24 }, (_, at) => `${7 + at}`));
    const five = new ContextManager({ maxMessages: 5 });
    for (let at = 1; at <= 8; at++) five.addMessage({ ...say(`${at}`), importance: at === 2 ? 0.9 : 0.5 });
    expect(texts(five.getMessages())).toEqual(["2", "5", "6", "7", "8"]);
  });

  it("keeps calls and responses together", () => {
    const manager = new ContextManager();
    manager.addMessage(say("Go on."));
    for (let at = 0; at < 40; at++) {
      manager.addMessage(called("click", { at }));
      manager.addMessage(answered("click", at % 7 === 0 ? { error: `${at}` } : { ok: true }));
    }
    const sides = manager.getMessages().flatMap(({ parts = [] }) => parts as readonly Record<string, unknown>[]);
    const calls = sides.filter(({ functionCall }) => functionCall);
    assert.equal(calls.length, sides.filter(({ functionResponse }) => functionResponse).length);
    assert(calls.length > 5);
  });
});

describe("compressUIData", () => {
  const elements = Array.from({ length: 301 }, (_, at) => ({
    role: "AXButton",
    title: `Submit ${at}`,
    description: "Click this button to submit the form",
    help: "Press enter to activate",
    position: { x: 100, y: 200 },
    children: Array.from({ length: 50 }, (__, child) => ({ role: "AXText", title: `${child}` })),
  }));

  it("cuts the seed's example as the seed does, and leaves its input alone", () => {
    const message = answered("elementsJson", { elements });
    const before = structuredClone(message);
    const cut = new ContextManager().compressUIData(message) as {
      parts: [{ functionResponse: { response: { elements: typeof elements } } }];
    };
    expect(message).toEqual(before);
    const kept = cut.parts[0].functionResponse.response.elements;
    expect(kept).toHaveLength(200);
    expect(Object.keys(kept[0] ?? {})).toEqual(["role", "title", "position", "children"]);
    expect(kept[0]?.children).toHaveLength(20);
    expect(JSON.stringify(cut).length).toBeLessThan(0.5 * JSON.stringify(message).length);
  });

  it("leaves other tools and small dumps as they are", () => {
    const manager = new ContextManager();
    for (const message of [answered("click", { elements }), answered("elementsJson", { elements: [] }), say("Hi")]) {
      assert.equal(manager.compressUIData(message), message);
    }
  });

  it("cuts texts at the limits that are set", () => {
    const long = answered("webElements", { webElements: [{ title: "x".repeat(1_001) }] });
    const [cut, own] = [new ContextManager(), new ContextManager({ maxTextChars: 10 })].map((manager) =>
      JSON.stringify(manager.compressUIData(long)),
    );
    assert(cut?.includes(`"${"x".repeat(1_000)}...[truncated]"`));
    assert(own?.includes(`"${"x".repeat(10)}...[truncated]"`));
  });
});

describe("snapshot and statistics", () => {
  it("merges updates, field by field", () => {
    const manager = new ContextManager();
    expect(manager.getContextSnapshot()).toBeUndefined();
    const goal = "Safari を開いて Google を検索";
    manager.updateSnapshot({ goal, completedActions: [], currentPhase: "planning", keyObservations: [] });
    manager.updateSnapshot({ completedActions: ["osa", "click", "type"], currentPhase: "executing" });
    manager.updateSnapshot({ currentPhase: "completed", keyObservations: ["Google を表示しました"] });
    expect(manager.getContextSnapshot()).toEqual({
      goal,
      completedActions: ["osa", "click", "type"],
      currentPhase: "completed",
      keyObservations: ["Google を表示しました"],
    });
    assert.throws(() => manager.updateSnapshot({ phase: "x" } as never), { code: "bad-option" });
  });

  it("says how many messages and tokens it has, in a line too, and has nothing after a reset", async () => {
    const manager = new ContextManager();
    const empty = { messageCount: 0, estimatedTokens: 0, hasSnapshot: false };
    expect(manager.getStats()).toEqual(empty);
    for (let at = 0; at < 18; at++) manager.addMessage(say("x".repeat(1_000)));
    manager.updateSnapshot({ goal: "g" });
    expect(manager.getStats()).toEqual({ messageCount: 18, estimatedTokens: 4_500, hasSnapshot: true });
    expect(manager.statsLine()).toBe("Context stats: 18 messages, ~4500 tokens");
    await manager.reset();
    expect(manager.getStats()).toEqual(empty);
    expect(manager.getContextSnapshot()).toBeUndefined();
  });

  const call = called("click", { x: 10, y: 20 });
  it.each([
    ["a text by characters / 4", [say("x".repeat(400))], 100],
    ["an image", [picture], 100],
    ["a call whose response is still to come, as its JSON", [say("x".repeat(400)), call], 110],
    ["a response as its JSON", [say("x".repeat(400)), call, answered("click", { clicked: "button.first" })], 124],
  ])("counts %s", (_what, messages, tokens) => {
    const manager = new ContextManager();
    for (const message of messages) manager.addMessage(message);
    expect(manager.getStats()).toEqual({
      messageCount: messages.length,
      estimatedTokens: tokens,
      hasSnapshot: false,
    });
    // A list that is sent in the middle of a step is still one that its provider accepts.
    const sides = JSON.stringify(manager.getMessages()).match(/functionCall"|functionResponse"/g) ?? [];
    expect(sides.length % 2).toBe(0);
  });

  it("takes an empty error of a response for none, and gives it back as it came", () => {
    const manager = new ContextManager();
    manager.addMessage(say("Click."));
    manager.addMessage(called("click", {}));
    const response = answered("click", { error: "" });
    expect(manager.addMessage(response).importance).toBe(0.5);
    expect(manager.consecutiveFailures).toBe(0);
    expect(JSON.stringify(manager.getMessages().at(-1))).toContain('"response":{"error":""}');
  });

  it("counts failures in a row, for the fallback after three", () => {
    const manager = new ContextManager();
    for (let at = 0; at < 3; at++) manager.addMessage(answered("click", { error: "no element" }));
    manager.addMessage(say("Hm."));
    expect(manager.consecutiveFailures).toBe(3);
    manager.addMessage(answered("elementsJson", { elements: [] }));
    expect(manager.consecutiveFailures).toBe(0);
  });
});
