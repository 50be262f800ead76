import { describe, expect, it } from "vitest";
import { validateWindow } from "windrow";
import type { Message } from "windrow";
import {
  groupSteps,
  HistoryBuilder,
  interruptedText,
  messageText,
  pieceMark,
  repairMessages,
  sampleHistories,
  StepReader,
} from "../kit/inside/message.ts";
import { anthropic } from "../kit/inside/window.ts";

function repaired(history: HistoryBuilder): { readonly lines: readonly string[]; readonly kinds: readonly string[] } {
  const { messages, repairs } = repairMessages(history.messages);
  return {
    lines: messages.map((message) => `${message.role}: ${messageText(message)}`),
    kinds: repairs.map(({ kind }) => kind),
  };
}

describe("repair", () => {
  it("leaves a valid history as it is, the same objects", () => {
    const { messages } = new HistoryBuilder()
      .user("a")
      .assistant("b", ["1", "read", { path: "c" }])
      .result("1", "d");
    const result = repairMessages(messages);
    expect(result.repairs).toEqual([]);
    result.messages.forEach((message, index) => expect(message).toBe(messages[index]));
  });

  it("closes a call that the next answer finds open, and says it was interrupted", () => {
    const history = new HistoryBuilder().user("go").assistant("", ["1", "read", {}], ["2", "read", {}]);
    const { lines, kinds } = repaired(history.result("2", "two").assistant("next"));
    const closed = [`tool: ${interruptedText}`, "tool: two", "assistant: next"];
    expect(lines).toEqual(["user: go", "assistant: read({})\nread({})", ...closed]);
    expect(kinds).toEqual(["closed-call"]);
  });

  it("puts results in the order of their calls", () => {
    const history = new HistoryBuilder().assistant("", ["a", "t", {}], ["b", "t", {}], ["c", "t", {}]);
    history.result("c", "3").result("a", "1").result("b", "2").assistant("done");
    expect(repaired(history).lines.slice(1, 4)).toEqual(["tool: 1", "tool: 2", "tool: 3"]);
  });

  it("puts a message that came between a call and its result behind the result", () => {
    const { lines, kinds } = repaired(
      new HistoryBuilder().user("go").assistant("", ["1", "t", {}]).user("hurry").result("1", "one").assistant("done"),
    );
    expect(lines).toEqual(["user: go", "assistant: t({})", "tool: one", "user: hurry", "assistant: done"]);
    expect(kinds).toEqual(["moved-message"]);
  });

  it("shows a late result and an orphan as labelled user messages", () => {
    const late = repaired(new HistoryBuilder().assistant("", ["1", "ask", {}]).assistant("waiting").result("1", "yes"));
    expect(late.lines.at(-1)).toBe("user: [Late result of a tool, call 1, quoted behind a space or |]\n yes");
    expect(late.kinds).toEqual(["closed-call", "late-result"]);
    const orphan = repaired(new HistoryBuilder().user("hi").result("9", "whose?"));
    expect(orphan.lines.at(-1)).toBe(
      "user: [Result without its call, of a tool, call 9, quoted behind a space or |]\n whose?",
    );
  });

  it("keeps what stands beside a result in the step of its call: one message is never torn", () => {
    const history = new HistoryBuilder().user("go").assistant("", ["1", "t", {}], ["2", "t", {}]);
    history.add("user", [
      { type: "tool-result", callId: "1", content: "one" },
      { type: "text", text: "and hurry" },
    ]);
    history.result("2", "two").assistant("done");
    const { lines, kinds } = repaired(history);
    const answers = ["tool: one", "tool: two", "user: and hurry", "assistant: done"];
    expect(lines).toEqual(["user: go", "assistant: t({})\nt({})", ...answers]);
    expect(kinds).toEqual([]);
  });

  it("takes a result out of the answer that holds its call, and shows a call that nobody made as text", () => {
    const history = new HistoryBuilder().user("go");
    history.add("assistant", [
      { type: "tool-call", callId: "1", name: "search", args: {} },
      { type: "tool-result", callId: "1", content: "found" },
    ]);
    history.add("user", [{ type: "tool-call", callId: "2", name: "rm", args: { path: "x" } }]);
    const { lines } = repaired(history);
    expect(lines).toEqual(["user: go", "assistant: search({})", "tool: found", 'user: [Call of rm] {"path":"x"}']);
  });

  it("renames an id used again, with its result, and leaves out a second result", () => {
    const history = new HistoryBuilder().assistant("", ["x", "t", {}]).result("x", "first");
    history.assistant("", ["x", "t", {}]).result("x", "second").result("x", "third").assistant("done");
    const { messages, repairs } = repairMessages(history.messages);
    const ids = messages.flatMap((message) => message.parts.flatMap((part) => ("callId" in part ? [part.callId] : [])));
    expect(ids).toEqual(["x", "x", "x-3", "x-3"]);
    expect(repairs.map(({ kind }) => kind)).toEqual(["renamed-call", "duplicate-result"]);
  });

  it("mends half characters, also in arguments, and leaves out what is empty", () => {
    const history = new HistoryBuilder()
      .user("half \ud83d")
      .user("   ")
      .assistant("")
      .assistant("", ["1", "t", { a: "\udc00" }]);
    const { messages, repairs } = repairMessages(history.messages);
    expect(messages).toHaveLength(3);
    expect(messages.map(messageText)[0]).toBe("half \ufffd");
    expect(JSON.stringify(messages)).not.toMatch(/\\ud[89a-f]/);
    expect(repairs.map(({ kind }) => kind)).toEqual(["mended-text", "empty-message", "empty-message", "mended-text"]);
  });

  it("never touches signed reasoning", () => {
    const part = { type: "reasoning", text: "half \ud83d", signature: "s" } as const;
    const history = new HistoryBuilder().add("assistant", [part, { type: "text", text: "so" }]);
    const [message] = repairMessages(history.messages).messages as [Message];
    expect(message.parts).toEqual([{ type: "text", text: "so" }]);
  });

  it.each(sampleHistories().filter(({ messages }) => messages[0]?.role === "user" || messages[0]?.role === "system"))(
    "makes valid: $name",
    ({ messages }) => {
      const result = repairMessages(messages).messages.filter((message) => message.role !== "system");
      expect(validateWindow(result, { ...anthropic, rules: { ...anthropic.rules, firstIsUser: false } })).toEqual([]);
    },
  );

  it("reads no further than the next answer: a longer history keeps the steps of a shorter one", () => {
    for (const { messages } of sampleHistories()) {
      const full = repairMessages(messages).messages;
      const cuts = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
      for (const cut of cuts)
        expect(full.slice(0, repairMessages(messages.slice(0, cut)).messages.length)).toEqual(
          repairMessages(messages.slice(0, cut)).messages,
        );
    }
  });
});

describe("an answer in pieces", () => {
  const piece = (id: string, ...parts: Message["parts"]): Message => {
    return { id, role: "assistant", parts, extra: { [pieceMark]: true } };
  };
  const call = (callId: string): Message => piece(callId, { type: "tool-call", callId, name: "read", args: {} });
  const result = (callId: string): Message => {
    return { id: `${callId}-r`, role: "tool", parts: [{ type: "tool-result", callId, content: callId }] };
  };
  const user = (id: string): Message => ({ id, role: "user", parts: [{ type: "text", text: id }] });
  const reasoning = (id: string): Message => piece(id, { type: "reasoning", text: "hm" });
  const said = piece("said", { type: "text", text: "I look." });

  it.each<readonly [string, readonly Message[], readonly string[], readonly string[]]>([
    [
      "is one step, in the order it came",
      [user("u"), reasoning("r"), said, call("a"), call("b"), result("b"), result("a"), call("c"), result("c")],
      ["user u", "assistant r said a b b-r a-r", "assistant c c-r"],
      [],
    ],
    ["ends at the user", [user("u"), reasoning("r"), said, user("v")], ["user u", "assistant r said", "user v"], []],
    [
      "is without reasoning that no item follows",
      [user("u"), said, reasoning("r"), user("v"), reasoning("s"), user("w")],
      ["user u", "assistant said", "user v", "user w"],
      ["empty-message", "empty-message"],
    ],
    ["waits for its item at the end", [user("u"), reasoning("r")], ["user u"], []],
    [
      "closes the calls that the next answer finds open",
      [user("u"), call("a"), call("b"), result("a"), said],
      ["user u", "assistant a b a-r b:b:interrupted", "assistant said"],
      ["closed-call"],
    ],
  ])("%s", (_name, messages, steps, repairs) => {
    const reader = new StepReader();
    messages.forEach((message, index) => reader.push(index + 1, message));
    const read = [...reader.closed, ...reader.tail()];
    expect(read.map((step) => [step.kind, ...step.messages.map(({ message }) => message.id)].join(" "))).toEqual(steps);
    expect(reader.repairs.map(({ kind }) => kind)).toEqual(repairs);
  });

  it("is one step of a history as it is", () => {
    const messages = [user("u"), reasoning("r"), said, call("a"), result("a"), call("b"), result("b")];
    expect(groupSteps(messages).map((step) => step.messages.length)).toEqual([1, 4, 2]);
  });
});

describe("groupSteps", () => {
  it("keeps an answer, its calls and all their results together", () => {
    const history = new HistoryBuilder()
      .user("go")
      .assistant("", ["1", "t", {}], ["2", "t", {}])
      .result("2", "b")
      .result("1", "a")
      .assistant("done");
    expect(groupSteps(history.messages).map((step) => [step.kind, step.messages.map(({ seq }) => seq)])).toEqual([
      ["user", [1]],
      ["assistant", [2, 3, 4]],
      ["assistant", [5]],
    ]);
  });
});
