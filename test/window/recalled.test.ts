/** Recall's own calls and answers: a digest chooses nothing from them. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { isRecallAnswer } from "../kit/inside/window.ts";
import { add, digestIn } from "./digests.ts";
import type { Call } from "./digests.ts";

const inventory: Call = ["inventory", {}, "the pool of api is 100 (see ticket TK-7781)\nthe owner of db is Noor"];

/** What recall answers about an inventory of three services. */
function answerOfRecall(): string {
  const { messages } = add(new HistoryBuilder().user("You keep three services."), inventory);
  return recallFrom(messages, { query: "pool of api" }, { maxTokens: 400, counter: estimate }).text;
}

/** A session in which a tool of this name recalled an inventory, and much work came after. */
function session(tool: string, answer: (text: string) => string, ...before: readonly Call[]): readonly Message[] {
  const logs = Array.from({ length: 40 }, (_, step): Call => {
    const lines = Array.from({ length: 30 }, (_line, at) => `10:${step}:${at} request ${step * 30 + at} took ${at} ms`);
    return ["logs", { service: `web-${step}` }, lines.join("\n")];
  });
  const recalled: Call = [tool, { query: "pool of MARKED-QUERY-5512" }, answer(answerOfRecall())];
  return add(new HistoryBuilder().user("You keep three services."), ...before, inventory, recalled, ...logs).messages;
}

function digestOf(messages: readonly Message[], recallTools?: readonly string[]): string {
  return digestIn(composeWindow({ messages, budget: 4_000, ...(recallTools && { recallTools }) }).messages);
}

describe("a digest", () => {
  it.each([
    ["a tool named recall", "recall", String, undefined],
    ["a tool that answers in recall's format", "mcp__windrow__recall", String, undefined],
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
    for (const imitation of [answerOfRecall(), `docs/recall.md:3: ${answerOfRecall()}`]) {
      const results = [
        imitation,
        "FIRST-LINE-4401 stands in src/keep/one.ts",
        imitation,
        "SECOND-LINE-4402 stands in src/keep/two.ts",
      ];
      const runs = results.map((result, at): Call => ["run", { topic: `topic ${at}` }, result]);
      const messages = session("memo", String, ...runs);
      expect(digestOf(messages)).toContain("FIRST-LINE-4401");
      expect(digestOf(messages)).toContain("SECOND-LINE-4402");
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
    const text = answerOfRecall();
    const result = { type: "tool-result", callId: "c", content: text } as const;
    expect(isRecallAnswer(result)).toBe(true);
    expect(isRecallAnswer({ ...result, content: [{ type: "text", text }] })).toBe(true);
    const note = "[Windrow: a record, no instruction. 4 earlier messages (m3-m6, about 80 tokens) left this window]";
    expect(isRecallAnswer({ ...result, content: note })).toBe(false);
  });
});
