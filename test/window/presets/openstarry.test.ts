/** Seed 002, by hand from its document. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Composed, ComposeInput, Message, TokenCounter } from "windrow";
import { strategyOf } from "windrow/window";
import { HistoryBuilder, messageText } from "../../kit/inside/message.ts";

/** A token a character; with the four that frame a message, every sum below can be done by hand. */
const characters: TokenCounter = { name: "characters", count: (text) => text.length };
const compose = (messages: readonly Message[], budget: number, rest: Partial<ComposeInput> = {}): Composed =>
  composeWindow({ messages, budget, counter: characters, strategy: "openstarry-sliding", ...rest });
const ids = ({ messages }: Composed): string[] => messages.map(({ id }) => id);

/** What is kept free for the message that stands first where the user's does not. */
const start = "[Windrow: the conversation begins here.]".length + 4;

/** Ten messages of 16 characters: 20 tokens each. */
function talk(): HistoryBuilder {
  const history = new HistoryBuilder();
  for (let at = 1; at <= 10; at++) {
    const text = `${at}`.padEnd(16, ".");
    if (at % 2 === 1) history.user(text);
    else history.assistant(text);
  }
  return history;
}

describe("strategy A", () => {
  it("gives what system, tools and dynamic context leave to the newest messages", () => {
    const tools = [{ name: "find" }];
    const fixed = { system: "s".repeat(26), dynamic: [{ name: "rag", text: "d".repeat(36), literal: true }], tools };
    const toolTokens = JSON.stringify(tools[0]).length + 4;
    // System 30, tools, dynamic 40; the rest is 120: exactly six messages of 20, the first of which is the user's.
    const composed = compose(talk().messages, 70 + toolTokens + 120, fixed);
    expect(composed.report.blocks).toMatchObject({
      system: 30,
      tools: toolTokens,
      dynamic: 40,
      notes: 0,
      history: 120,
    });
    expect(ids(composed)).toEqual(["windrow:system", "m5", "m6", "m7", "m8", "m9", "m10", "windrow:dynamic"]);
    expect(composed.messages[0]?.parts).toEqual([{ type: "text", text: fixed.system }]);
    // One token less than six messages need, and the largest suffix that fits has five.
    const less = ids(compose(talk().messages, 70 + toolTokens + 119, fixed));
    expect(less.filter((id) => id.startsWith("m"))).not.toContain("m5");
    // A window that would begin with an answer needs the room for a line that stands before it.
    const answer = ids(compose(talk().messages, 70 + toolTokens + 100 + start - 1, fixed));
    expect(answer.filter((id) => id.startsWith("m"))).toEqual(["m7", "m8", "m9", "m10"]);
  });

  it("sacrifices the earliest history first, and says so by its blocks where even that is not enough", () => {
    const blocks = { budget: 100, system: 100, tools: 0, dynamic: 0 };
    expect(() => compose(talk().messages, 100, { system: "s".repeat(96) })).toThrow(
      expect.objectContaining({ code: "budget-too-small", data: expect.objectContaining(blocks) as unknown }),
    );
  });

  it("leaves nothing in the place of what left", () => {
    const { messages } = compose(talk().messages, 100);
    expect(messages.map(messageText).join("")).not.toContain("Windrow: a record");
  });
});

describe("strategies B and C without a model", () => {
  it("keep everything up to the budget, whatever the number of turns, and say why", () => {
    const history = new HistoryBuilder();
    for (let turn = 1; turn <= 15; turn++) history.user(`question ${turn}`).assistant(`answer ${turn}`);
    for (const strategy of ["openstarry-summary", "openstarry-entity"]) {
      const whole = compose(history.messages, 10_000, { strategy });
      expect(whole.messages).toHaveLength(30);
      expect(strategyOf(strategy).note).toMatch(/There is no model/);
      const small = compose(history.messages, 300, { strategy });
      expect(small.tokens).toBeLessThanOrEqual(300);
      expect(small.report.opened?.edits[0]?.reason).toMatch(/^no room, and no (?:summary|state) stands for it$/);
    }
  });

  it("take the seed's numbers and options", () => {
    expect(strategyOf("openstarry-summary").note).toContain("the earliest 5 of more than 10 turns");
    const twenty = strategyOf({ use: "openstarry-summary", threshold: 20, compressionModel: "gemini-1.5-flash" });
    expect(twenty.note).toContain("of more than 20 turns");
  });

  it("C with an extractor sends the state and the current message, and no conversation", () => {
    const strategy = strategyOf({
      use: "openstarry-entity",
      schema: { destination: "string", date: "string" },
      extract: (state: object, text: string) => {
        const [, field, value] = /^(\w+): (.*)$/.exec(text) ?? [];
        return { ...state, ...(field && { [field]: value }) };
      },
    });
    const history = new HistoryBuilder().user("destination: Kyoto").assistant("When?");
    history.user("hotel: no").assistant("Sure.").user("date: Friday");
    const composed = compose(history.messages, 10_000, { strategy });
    expect(composed.messages.map(messageText)).toEqual([
      expect.stringMatching(/^\[Windrow: the state of the job.*\]\n \{"destination":"Kyoto","date":"Friday"\}$/),
      "date: Friday",
    ]);
  });
});
