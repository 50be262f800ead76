/** The recall tools of loops of one's own: each answers its provider's calls in the provider's shape, whatever is asked. */
import { describe, expect, it } from "vitest";
import { composeWindow } from "windrow";
import type { Message } from "windrow";
import { recallTool } from "windrow/adapter";
import { anthropicRecallTool, fromAnthropic } from "windrow/anthropic";
import { chatRecallTool, fromChat, responsesRecallTool } from "windrow/chat";
import type { RecallSource, RecallToolOptions } from "windrow/chat";
import { fromContents, geminiRecallTool } from "windrow/gemini";
import { recallFrom } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { openSession } from "../kit/sessions.ts";

interface Loop {
  readonly provider: string;
  /** The tool's name as it is declared, and its properties. */
  readonly declared: (
    source: RecallSource,
    options?: RecallToolOptions,
  ) => { name: string; properties: readonly string[] };
  /** The answer to a call, with `args` as the model gave them. */
  readonly ask: (
    source: RecallSource,
    args: unknown,
    options?: RecallToolOptions,
    name?: string,
  ) => Promise<object | undefined>;
  /** The shape of an answer with this text. */
  readonly shape: (text: string, isError: boolean) => object;
  /** The call and its answer as the host keeps them, read as Windrow's messages. */
  readonly kept?: (name: string, args: object, answer: object) => readonly Message[];
}

const names = (properties: unknown): readonly string[] => Object.keys(properties as object);
const jsonOf = (args: unknown): unknown => (typeof args === "string" ? args : JSON.stringify(args));

const loops: readonly Loop[] = [
  {
    provider: "chat completions",
    declared: (source, options) => {
      const { tool, definition } = chatRecallTool(source, options);
      const { type, function: declared } = tool;
      expect(type).toBe("function");
      expect(definition).toEqual({
        name: declared.name,
        description: declared.description,
        inputSchema: declared.parameters,
      });
      return { name: declared.name, properties: names(declared.parameters["properties"]) };
    },
    ask: (source, args, options, name = "recall") =>
      chatRecallTool(source, options).answer({
        id: "c1",
        type: "function",
        function: { name, arguments: jsonOf(args) },
      }),
    shape: (content) => ({ role: "tool", tool_call_id: "c1", content }),
    kept: (name, args, answer) =>
      fromChat([
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name, arguments: JSON.stringify(args) } }],
        },
        answer as { role: string },
      ]),
  },
  {
    provider: "responses",
    declared: (source, options) => {
      const { type, name, parameters } = responsesRecallTool(source, options).tool;
      expect(type).toBe("function");
      return { name, properties: names(parameters["properties"]) };
    },
    ask: (source, args, options, name = "recall") =>
      responsesRecallTool(source, options).answer({
        type: "function_call",
        id: "fc_1",
        call_id: "c1",
        name,
        arguments: jsonOf(args),
      }),
    shape: (output) => ({ type: "function_call_output", call_id: "c1", output }),
  },
  {
    provider: "anthropic",
    declared: (source, options) => {
      const { name, input_schema: schema } = anthropicRecallTool(source, options).tool;
      return { name, properties: names(schema.properties) };
    },
    ask: (source, input, options, name = "recall") =>
      anthropicRecallTool(source, options).answer({ type: "tool_use", id: "c1", name, input }),
    shape: (content, isError) => ({
      type: "tool_result",
      tool_use_id: "c1",
      content,
      ...(isError && { is_error: true }),
    }),
    kept: (name, input, answer) =>
      fromAnthropic([
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name, input }] },
        { role: "user", content: [answer] },
      ]),
  },
  {
    provider: "gemini",
    declared: (source, options) => {
      const [declared] = geminiRecallTool(source, options).tool.functionDeclarations;
      return { name: declared!.name, properties: names(declared!.parametersJsonSchema["properties"]) };
    },
    ask: (source, args, options, name = "recall") =>
      geminiRecallTool(source, options).answer({ functionCall: { id: "c1", name, args } }),
    shape: (text, isError) => ({
      functionResponse: { id: "c1", name: "recall", response: isError ? { error: text } : { output: text } },
    }),
    kept: (name, args, answer) =>
      fromContents([
        { role: "model", parts: [{ functionCall: { id: "c1", name, args } }] },
        { role: "user", parts: [answer] },
      ]),
  },
];

const history = new HistoryBuilder().user("Which port has the queue?");
for (let index = 0; index < 200; index++) {
  history.assistant("", [`r${index}`, "read", { path: `config/service-${index}.yaml` }]);
  history.result(`r${index}`, `name: service-${index}\nport: ${7_000 + index}\n${"note: nothing else\n".repeat(40)}`);
}
const { messages } = history;

/** The line that only the result at this place has. */
const portOf = (at: number): string => `port: ${7_000 + at / 2 - 1}`;

const textOf = (answer: object | undefined): string => JSON.stringify(answer ?? {}).replaceAll("\\n", "\n");

describe.each(loops)("the recall tool of a loop over $provider", ({ declared, ask, shape, kept }) => {
  it("is declared in the provider's shape, under its name", () => {
    expect(declared(() => messages)).toEqual({ name: "recall", properties: ["id", "query"] });
    expect(declared(() => messages, { name: "look_back" }).name).toBe("look_back");
  });

  it("brings back what a note of the window names, from the messages and from a session alike", async () => {
    const window = composeWindow({ messages, budget: 2_500 });
    const shown = JSON.stringify(window.messages);
    const gone = messages.findIndex(({ role }, at) => role === "tool" && !shown.includes(portOf(at)));
    expect(gone).toBeGreaterThan(0);
    const session = await openSession({ budget: 4_000 });
    await session.append(messages);
    for (const source of [() => messages, session]) {
      const byId = await ask(source, { id: `m${gone + 1}` });
      expect(textOf(byId)).toContain(portOf(gone));
      expect(Object.keys(byId ?? {})).toEqual(Object.keys(shape("", false)));
      expect(textOf(await ask(source, { query: "service-41 port" }))).toContain("port: 7041");
      const small = await ask(source, { id: "m1-m400" }, { maxTokens: 60 });
      expect(textOf(small).length).toBeLessThan(500);
    }
  });

  it("sees what came after it was made", async () => {
    const growing = [...messages];
    const source = (): readonly Message[] => growing;
    expect(textOf(await ask(source, { query: "heron" }))).toContain("Nothing has these words; try");
    growing.push({ id: "late", role: "user", parts: [{ type: "text", text: "The heron is grey." }] });
    expect(textOf(await ask(source, { query: "heron" }))).toContain("The heron is grey.");
  });

  it("answers wrong arguments with what it takes, and never throws", async () => {
    const wrong = [{}, null, "{ id: ", "[]", "7", { id: ["m3"] }, { query: { words: "port" } }, { id: "" }];
    for (const args of wrong) {
      const answer = await ask(() => messages, args);
      const [start = "", end = ""] = JSON.stringify(shape("|", true)).split("|");
      const told = JSON.stringify(answer);
      expect(told.startsWith(start) && told.endsWith(end), told).toBe(true);
      expect(told).toContain('Recall takes an object with texts: {\\"id\\": \\"m12\\"}'.replaceAll("\\\\", "\\"));
    }
    expect(textOf(await ask(() => messages, { id: "m999" }))).toContain(
      "There is no message m999; the log ends at m401",
    );
    expect(textOf(await ask(() => messages, { id: "the first" }))).toContain("is no recall id; ids look like m12");
    expect(textOf(await ask(() => messages, { id: "m1,".repeat(100_000) })).length).toBeLessThan(500);
    expect(textOf(await ask(() => messages, { id: 9, query: null }))).toContain("port: 7003");
    const failing = (): never => {
      throw new Error("The history is away.");
    };
    expect(textOf(await ask(failing, { query: "port" }))).toContain("The history is away.");
  });

  it("leaves calls of other tools alone, whatever they are", async () => {
    expect(await ask(() => messages, { path: "a.ts" }, {}, "read")).toBeUndefined();
    expect(await ask(() => messages, { id: "m1" }, { name: "look_back" })).toBeUndefined();
  });

  it.runIf(kept)("is never quoted: neither its calls nor its answers come back, nor stand in a digest", async () => {
    for (const name of ["recall", "look_back"]) {
      const args = { query: "zanzibar port: 7041" };
      const answer = await ask(() => messages, args, { name }, name);
      const asked = [...messages, ...kept!(name, args, answer!)].map((message, at) => ({
        ...message,
        id: `m${at + 1}`,
      }));
      const later = [...asked, ...new HistoryBuilder().user("And the others?").assistant("One moment.").messages];
      const again = textOf(await ask(() => later, args, { name }, name));
      expect(again).toContain("port: 7041");
      expect(again).not.toContain("zanzibar");
      expect(again).not.toMatch(/\[m40[23] /);
      const window = composeWindow({ messages: later, budget: 3_000, recallTools: [name] });
      const [digest] = window.messages.filter((message) => JSON.stringify(message).includes("[Windrow:"));
      expect(JSON.stringify(digest)).not.toContain("zanzibar");
    }
  });

  it("refuses what has no effect, and what is no source", () => {
    const session = { recall: () => Promise.reject(new Error("not asked")) };
    expect(() => declared(session, { budget: 9 })).toThrow(/`budget` has no effect beside a session/);
    expect(() => declared(messages as never)).toThrow(/takes a session, or a function that gives the messages/);
    expect(() => declared(() => messages, { counter: "o200" })).toThrow(/no token counter "o200"/);
    expect(() => declared(() => messages, { maxTokens: 0 })).toThrow(/maxTokens/);
    expect(() => declared(() => messages, { maxToken: 9 } as never)).toThrow(/Did you mean|maxTokens/);
  });
});

it("windrow/adapter's tool without a function to ask is refused when it is made", () => {
  expect(() => recallTool(undefined as never)).toThrow("recallTool takes a function, (query) => session.recall(query)");
});

it("a history that was not converted is refused by name, in the model's answer too", async () => {
  const history = [{ role: "user", content: "Why is the build red?" }] as never;
  const message = /^Message 0 is no object with `role` and a list of `parts`\. .* `fromChat` of windrow\/chat\.$/;
  expect(() => recallFrom(history, { query: "build" })).toThrow(message);
  const call = { id: "c1", type: "function", function: { name: "recall", arguments: '{"query":"build"}' } } as const;
  const answer = await chatRecallTool(() => history).answer(call);
  expect(answer?.content).toMatch(message);
});
