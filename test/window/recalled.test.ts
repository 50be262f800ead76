/** Recall's own calls and answers: a digest chooses nothing from them. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import { HistoryBuilder, messageText } from "../kit/inside/message.ts";
import { isRecallAnswer } from "../kit/inside/window.ts";

const quoted = "the pool of api is 100 (see ticket TK-7781)";

/** A session in which a tool of this name recalled an inventory, and much work came after. */
function session(tool: string, answer: (text: string) => string): readonly Message[] {
  const builder = new HistoryBuilder().user("You keep three services.");
  builder.assistant("", ["i", "inventory", {}]).result("i", `${quoted}\nthe owner of db is Noor`);
  const { text } = recallFrom(builder.messages, { query: "pool of api" }, { counter: estimate, maxTokens: 400 });
  builder.assistant("", ["r", tool, { query: "pool of MARKED-QUERY-5512" }]).result("r", answer(text));
  for (let step = 0; step < 40; step++) {
    const lines = Array.from(
      { length: 30 },
      (_, line) => `10:${step}:${line} request ${step * 30 + line} took ${line} ms`,
    );
    builder.assistant("", [`l${step}`, "logs", { service: `web-${step}` }]).result(`l${step}`, lines.join("\n"));
  }
  return builder.messages;
}

function digestOf(messages: readonly Message[], recallTools?: readonly string[]): string {
  const window = composeWindow({ messages, budget: 4_000, ...(recallTools && { recallTools }) });
  return window.messages.map((message) => messageText(message)).find((text) => text.startsWith("[Windrow:")) ?? "";
}

describe("a digest", () => {
  it.each([
    ["a tool named recall", "recall", (text: string) => text, undefined],
    ["a tool that answers in recall's format", "mcp__windrow__recall", (text: string) => text, undefined],
    ["a tool whose answer is wrapped", "remember", (text: string) => JSON.stringify({ text }), undefined],
    ["a tool that an option names", "remember", () => "the pool of api is 100 (see ticket TK-7781)", ["remember"]],
  ] as const)("shows nothing of the calls and answers of %s", (_, tool, answer, names) => {
    const digest = digestOf(session(tool, answer), names);
    expect(digest).not.toBe("");
    expect(digest).not.toContain("MARKED-QUERY-5512");
    expect(digest).not.toMatch(new RegExp(`^${tool}\\b`, "m"));
    // The line may stand there once: from the tool that said it first.
    expect(digest.split("TK-7781").length - 1).toBeLessThanOrEqual(1);
    expect(digest).not.toMatch(/\[m5 /);
  });

  it("still shows the lines of another tool", () => {
    const digest = digestOf(session("memo", () => "MEMO-LINE-9917 stands in src/keep/this.ts"));
    expect(digest).toContain("MEMO-LINE-9917");
  });

  it("still shows the lines of a tool whose output once imitated an answer of recall", () => {
    const { text } = recallFrom(session("memo", String), { query: "pool" }, { counter: estimate });
    for (const imitation of [text, `docs/recall.md:3: ${text}`]) {
      const history = new HistoryBuilder().user("Look at the docs.");
      history.assistant("", ["r1", "run", { topic: "alpha" }]).result("r1", imitation);
      history.assistant("", ["r2", "run", { topic: "beta" }]).result("r2", "FIRST-LINE-4401 stands in src/keep/one.ts");
      history.assistant("", ["r3", "run", { topic: "gamma" }]).result("r3", imitation);
      history
        .assistant("", ["r4", "run", { topic: "delta" }])
        .result("r4", "SECOND-LINE-4402 stands in src/keep/two.ts");
      const messages = [...history.messages, ...session("memo", String).slice(1)];
      const digest = digestOf(messages);
      expect(digest).toContain("FIRST-LINE-4401");
      expect(digest).toContain("SECOND-LINE-4402");
      expect(recallFrom(messages, { query: "SECOND-LINE-4402" }, { counter: estimate }).text).toContain(
        "src/keep/two.ts",
      );
    }
  });

  it("still shows the lines of a call that has the id of an earlier recall", () => {
    const history = new HistoryBuilder().user("Look at the docs.");
    history.assistant("", ["c0", "recall", { query: "docs" }]).result("c0", "nothing");
    history.assistant("", ["c0", "run", { topic: "alpha" }]).result("c0", "REUSED-LINE-4403 stands in src/keep/id.ts");
    expect(digestOf([...history.messages, ...session("memo", String).slice(1)])).toContain("REUSED-LINE-4403");
  });

  it("knows an answer of recall, and no note of a window", () => {
    const { text } = recallFrom(
      session("memo", () => "x"),
      { query: "pool" },
      { counter: estimate },
    );
    const result = { type: "tool-result", callId: "c", content: text } as const;
    expect(isRecallAnswer(result)).toBe(true);
    expect(isRecallAnswer({ ...result, content: [{ type: "text", text }] })).toBe(true);
    const note = "[Windrow: a record, no instruction. 4 earlier messages (m3-m6, about 80 tokens) left this window]";
    expect(isRecallAnswer({ ...result, content: note })).toBe(false);
  });
});
