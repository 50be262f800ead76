/** What a newcomer hands in first: it is taken, or the error says how to mend it. */
import { describe, expect, it } from "vitest";
import { budgetOf, composeWindow, countTokens, isWindrowError, SessionManager, validateWindow } from "windrow";
import type { ComposeInput, WindowState } from "windrow";
import { fromAnthropic, toAnthropic } from "windrow/anthropic";
import { fromChat, toChat } from "windrow/chat";
import { fromContents, toContents } from "windrow/gemini";
import { fromGenkit } from "windrow/genkit";
import { fromLangChain } from "windrow/langchain";
import { AgentsSession } from "windrow/openai-agents";
import { openStore } from "windrow/store";
import { recallFrom } from "windrow/window";
import { asked, openManager, openSession } from "../kit/sessions.ts";

const own = asked("hi");

/** A message of each host, and the words of the error by which it is converted. */
const foreign: Readonly<Record<string, readonly [unknown, string]>> = {
  "OpenAI chat": [{ role: "user", content: "hi" }, "`fromChat` of windrow/chat"],
  "a chat result": [{ role: "tool", tool_call_id: "c1", content: "ok" }, "`fromChat` of windrow/chat"],
  "a chat call": [{ role: "assistant", tool_calls: [] }, "`fromChat` of windrow/chat"],
  "Anthropic": [
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
    "`fromAnthropic` of windrow/anthropic",
  ],
  "Gemini": [{ role: "user", parts: [{ text: "hi" }] }, "`fromContents` of windrow/gemini"],
  "Genkit": [{ role: "model", content: [{ text: "hi" }] }, "`fromGenkit` of windrow/genkit"],
  "the AI SDK": [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "bash", input: {} }] },
    "`aiSdkAdapter.decode` of windrow/ai-sdk",
  ],
  "LangChain": [
    { lc_kwargs: {}, content: "hi", _getType: (): string => "human" },
    "`fromLangChain` of windrow/langchain",
  ],
  "pi": [{ role: "toolResult", toolCallId: "c", content: [] }, "`piAdapter.decode` of windrow/pi"],
  "the Responses API": [
    { type: "function_call_output", call_id: "c", output: "ok" },
    "`fromResponses` of windrow/responses",
  ],
  "a text": ["hi", '{ role: "user", parts: [{ type: "text", text }] }'],
};

describe("a message of another shape", () => {
  it.each(Object.entries(foreign))("of %s is refused by composeWindow with its converter", (_, [message, mend]) => {
    const error = thrown(() => composeWindow({ messages: [message], budget: 1_000 } as unknown as ComposeInput));
    expect(error).toMatchObject({ code: "bad-message", message: expect.stringContaining(mend), data: { index: 0 } });
  });
});

describe("a converter", () => {
  const converters = { fromChat, fromAnthropic, fromContents, fromGenkit, fromLangChain };
  it.each(Object.entries(converters))("%s refuses what is no list, by its name", (name, convert) => {
    for (const given of [undefined, null, "hi", { messages: [] }, 5]) {
      expect(thrown(() => convert(given as never))).toMatchObject({
        code: "bad-message",
        message: expect.stringContaining(`${name} takes a list of messages`),
      });
    }
  });

  it.each(Object.entries(converters))("%s refuses Windrow's own messages, and would lose parts", (name, convert) => {
    const error = thrown(() => convert([own] as never));
    expect(error).toMatchObject({ code: "bad-message", message: expect.stringMatching(`Windrow's own.*${name}`) });
  });
});

describe("composeWindow", () => {
  it("needs a budget or a model, and says so", () => {
    expect(thrown(() => composeWindow({ messages: [] }))).toMatchObject({
      code: "bad-option",
      message: expect.stringMatching(/`budget`.*`model`/),
    });
  });

  it("names the budget it was given where it cannot fit", () => {
    const messages = fromChat([{ role: "user", content: "word ".repeat(230) }]);
    expect(thrown(() => composeWindow({ messages, budget: 100 }))).toMatchObject({
      code: "over-budget",
      message: expect.stringContaining("its budget of 100 tokens"),
      data: { budget: 100 },
    });
  });

  it("learns from the usage of each request, so that the provider counts no more than the budget", () => {
    const budget = 2_000;
    const history: { role: string; content: string }[] = [];
    let state: WindowState | undefined;
    let usage: { input: number } | undefined;
    let over = 0;
    for (let call = 0; call < 60; call++) {
      history.push({ role: "user", content: `step ${call}: ${"a line of a log, 0x3f2a ".repeat(8)}` });
      const window = composeWindow({ messages: fromChat(history), budget, state, usage });
      // The provider of this test counts a third more than the counter, and 90 tokens beside the messages.
      const reported = Math.round(window.tokens * 1.33) + 90;
      if (call > 2 && reported > budget) over++;
      usage = { input: reported };
      state = JSON.parse(JSON.stringify(window.state)) as WindowState;
      history.push({ role: "assistant", content: `done ${call}` });
    }
    expect(over).toBe(0);
  });

  it("goes on where a usage cannot be true, and its report says so", () => {
    const messages = fromChat([{ role: "user", content: "hi" }]);
    const first = composeWindow({ messages, budget: 1_000, usage: undefined });
    const { report } = composeWindow({ messages, budget: 1_000, state: first.state, usage: { input: 1.5 } });
    expect(report.note).toContain("1.5");
  });
});

describe("a session", () => {
  it("refuses a recall by a text alone, or by unknown names, with the mend", async () => {
    const session = await openSession({ budget: 8_000 });
    await session.append("Order WR-4711 is late.");
    await expect(session.recall("WR-4711" as never)).rejects.toMatchObject({
      code: "bad-option",
      message: expect.stringContaining('{ query: "WR-4711" }'),
    });
    await expect(session.recall({ qery: "late" } as never)).rejects.toMatchObject({
      code: "bad-option",
      message: expect.stringContaining('"query"'),
    });
  });

  it("is listed by known fields only", async () => {
    const manager = await openManager();
    expect(thrown(() => manager.list({ stat: "completed" } as never))).toMatchObject({ code: "bad-option" });
    expect(thrown(() => manager.list({ status: "done" } as never))).toMatchObject({ code: "bad-option" });
  });
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was thrown");
}

describe("usage of a provider's own", () => {
  it.each([
    [{ prompt_tokens: 5, completion_tokens: 1 }, "input: prompt_tokens, output: completion_tokens"],
    [{ input_tokens: 5, cache_read_input_tokens: 3 }, "input: input_tokens + cache_read_input_tokens"],
    [{ input_tokens: 5, output_tokens: 1 }, "input: input_tokens, output: output_tokens"],
    [{ promptTokenCount: 5 }, "input: promptTokenCount"],
    [{ inputTokens: 5, outputTokens: 1 }, "input: inputTokens"],
  ])("%j is refused with the way it is written, wherever it is given", async (usage, written) => {
    const session = await openSession({ budget: 8_000 });
    const refused = { message: expect.stringContaining(`write usage: { ${written}`) };
    await expect(session.endStep({ usage } as never)).rejects.toMatchObject({ code: "bad-option", ...refused });
    await expect(session.endStep(usage as never)).rejects.toMatchObject({ code: "bad-option", ...refused });
    const answer = { role: "assistant", parts: [{ type: "text", text: "hi" }], usage };
    await expect(session.append(answer as never)).rejects.toMatchObject({ code: "bad-message", ...refused });
    const input = { messages: [own], budget: 1_000, usage } as unknown as ComposeInput;
    expect(thrown(() => composeWindow(input))).toMatchObject({ code: "bad-option", ...refused });
    expect(session.stats().state.totalTokensUsed).toBe(0);
  });
});

describe("in plain JavaScript", () => {
  const mistakes: readonly (readonly [string, () => unknown, RegExp])[] = [
    ["a manager made with new", () => Reflect.construct(SessionManager, [{}]), /await SessionManager\.open\(/],
    ["a window in the place of its messages", () => toChat({ messages: [own] } as never), /toChat\(window\.messages\)/],
    ["messages of the API's own", () => toAnthropic([{ role: "user", content: "hi" }] as never), /which have `parts`/],
    ["no messages", () => toContents(undefined as never), /a list of Windrow's messages, not undefined/],
    ["no messages to count", () => countTokens(undefined as never), /countTokens takes a list/],
    ["no profile", () => validateWindow([own] as never, undefined as never), /and a profile/],
    ["a context window in words", () => budgetOf({ contextWindow: "8k" as never, maxOutput: 1 }), /not "8k"/],
    ["no room for the answer", () => budgetOf({ contextWindow: 8_000 } as never), /`maxOutput` is .* not undefined/],
    [
      "recall without a history",
      () => recallFrom(undefined as never, { query: "hi" }),
      /a list of messages, not undefined/,
    ],
    [
      "NaN tokens to recall",
      () => recallFrom([], { query: "hi" }, { maxTokens: Number.NaN }),
      /`maxTokens` .* not NaN/,
    ],
    ["an unknown limit", () => recallFrom([], { query: "hi" }, { maxToken: 5 } as never), /Did you mean "maxTokens"/],
    ["a session that nobody waited for", () => new AgentsSession(Promise.resolve() as never), /write await before it/],
  ];

  it.each(mistakes)("%s is refused with a mend", (_, call, said) => {
    const error = thrown(call);
    expect([isWindrowError(error), String(error)]).toEqual([true, expect.stringMatching(said)]);
  });

  it("an id that is undefined is called so", async () => {
    const manager = await openManager({ budget: 1_000 });
    await expect(manager.resume(undefined as never)).rejects.toThrow("this is none: undefined.");
  });

  it("a store that is no store is refused when it is opened", async () => {
    await expect(SessionManager.open({ store: "package.json" })).rejects.toThrow("package.json: it is a file");
    await expect(SessionManager.open({ store: "package.json/below" })).rejects.toThrow("package.json: it is a file");
    await expect(SessionManager.open({ store: "sqlite:src" })).rejects.toThrow('neither a folder "running"');
    await expect(openStore(undefined as never)).rejects.toThrow("or a Store, not undefined");
  });
});
