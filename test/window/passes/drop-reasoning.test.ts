import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message, Part, Pass, Profile } from "windrow";
import { dropReasoning } from "windrow/window";
import { HistoryBuilder } from "../../kit/inside/message.ts";
import { deepseek, pi } from "../../kit/inside/window.ts";

/** Takes reasoning back wherever it stands, and does not insist on it. */
const free: Profile = { ...deepseek, rules: { ...deepseek.rules, callNeedsReasoning: false, ownReasoning: false } };
const insisting: Profile = { ...free, rules: { ...free.rules, callNeedsReasoning: true } };

function thinker(): HistoryBuilder {
  const history = new HistoryBuilder();
  for (let turn = 1; turn <= 3; turn++) {
    const thought: Part = { type: "reasoning", text: `thought ${turn}`, signature: `s${turn}` };
    history.user(`question ${turn}`);
    history.add("assistant", [thought, { type: "tool-call", callId: `c${turn}`, name: "look", args: {} }]);
    history.result(`c${turn}`, "seen");
    history.add("assistant", [
      { ...thought, text: `second ${turn}` },
      { type: "text", text: `answer ${turn}` },
    ]);
  }
  return history;
}

/** The same without signatures. */
function unsigned(): readonly Message[] {
  return thinker().messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (part.type === "reasoning" ? { type: part.type, text: part.text } : part)),
  }));
}

function thoughts(pass: Pass, messages: readonly Message[] = thinker().messages, profile = free): readonly string[] {
  const strategy = { name: "one", passes: [pass], trigger: { messages: 0 }, lowWater: 1, keepFirstUser: false };
  const composed = composeWindow({ messages, budget: 100_000, profile, strategy });
  return composed.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])),
  );
}

const allButLast = ["thought 1", "second 1", "thought 2", "second 2", "thought 3"];

describe("drop-reasoning", () => {
  it("keeps the newest answer's reasoning and nothing else of any answer leaves", () => {
    expect(thoughts(dropReasoning())).toEqual(["second 3"]);
    expect(thoughts(dropReasoning({ keep: 3 }))).toEqual(["second 2", "thought 3", "second 3"]);
    expect(thoughts(dropReasoning({ keep: 0 }))).toEqual([]);
    expect(thoughts(dropReasoning({ keep: 9 }))).toHaveLength(6);
    expect(thoughts(dropReasoning(), thinker().messages, insisting)).toHaveLength(6);
  });

  it("keeps all of a tool loop that is still open, unless told to go by the seed", () => {
    const open = thinker().messages.slice(0, -1);
    const more = new HistoryBuilder().add("assistant", [
      { type: "reasoning", text: "on it", signature: "s4" },
      { type: "tool-call", callId: "c4", name: "look", args: {} },
    ]);
    const looped = [
      ...open,
      ...more.result("c4", "more").messages.map((message) => ({ ...message, id: `x${message.id}` })),
    ];
    expect(thoughts(dropReasoning(), looped)).toEqual(["thought 3", "on it"]);
    expect(thoughts(dropReasoning({ openLoop: false }), looped)).toEqual(["on it"]);
  });

  it("leaves an open loop alone where reasoning is bound to its prefix, and takes all of it otherwise", () => {
    const { messages } = thinker();
    expect(thoughts(dropReasoning(), messages.slice(0, -1), pi)).toEqual(allButLast);
    expect(thoughts(dropReasoning(), messages, pi)).toEqual([]);
  });

  it("keeps the newest where a profile binds what is signed, and nothing is", () => {
    const bare = unsigned();
    expect(thoughts(dropReasoning(), bare, pi)).toEqual(["second 3"]);
    expect(thoughts(dropReasoning({ keep: 2 }), bare, pi)).toEqual(["thought 3", "second 3"]);
    expect(thoughts(dropReasoning(), bare.slice(0, -1), pi)).toEqual(["thought 3"]);
  });

  it("keeps the newest that is unsigned beside signed ones, which go whole or stay whole", () => {
    const [signed, bare] = [thinker().messages, unsigned()];
    const older = [...signed.slice(0, 4), ...bare.slice(4)];
    expect(thoughts(dropReasoning(), older, pi)).toEqual(["second 3"]);
    expect(thoughts(dropReasoning({ keep: 3 }), older, pi)).toEqual(["second 2", "thought 3", "second 3"]);
    expect(thoughts(dropReasoning(), older.slice(0, -1), pi)).toEqual(["thought 3"]);
    // Nothing is edited, so nothing signed is lost.
    expect(thoughts(dropReasoning({ keep: 6 }), older, pi)).toHaveLength(6);
    const between = [...bare.slice(0, 4), ...signed.slice(4, 8), ...bare.slice(8)];
    expect(thoughts(dropReasoning({ keep: 5 }), between, pi)).toEqual(["second 1", "thought 3", "second 3"]);
    const loop = [...bare.slice(0, 8), ...signed.slice(8, -1)];
    expect(thoughts(dropReasoning(), loop, pi)).toEqual(allButLast);
  });
});
