/** Sample histories for tests and conformance suites: small, deterministic, each with one kind of trouble. */
import type { Message, Part } from "./message.ts";

/** A sample history with its name. */
export interface Sample {
  readonly name: string;
  readonly messages: readonly Message[];
}

/** Builds a history message by message; ids are `m1`, `m2` … */
export class HistoryBuilder {
  readonly messages: Message[] = [];

  /** A user's words. */
  user(text: string): this {
    return this.add("user", [{ type: "text", text }]);
  }

  /** An assistant's words, with calls by id and tool. */
  assistant(
    text: string,
    ...calls: readonly (readonly [callId: string, name: string, args: Record<string, string>])[]
  ): this {
    const parts: Part[] = text === "" ? [] : [{ type: "text", text }];
    for (const [callId, name, args] of calls) parts.push({ type: "tool-call", callId, name, args });
    return this.add("assistant", parts);
  }

  /** The result of a call. */
  result(callId: string, content: string, isError = false): this {
    return this.add("tool", [{ type: "tool-result", callId, content, ...(isError && { isError }) }]);
  }

  /** Adds a message of any role. */
  add(role: Message["role"], parts: readonly Part[], rest: Partial<Message> = {}): this {
    this.messages.push({ id: `m${this.messages.length + 1}`, role, parts, ...rest });
    return this;
  }
}

/** A coding session: `steps` calls that read and edit files, each result about `lines` lines long. */
export function codingSession(steps: number, lines = 40): readonly Message[] {
  const history = new HistoryBuilder();
  history.add("system", [{ type: "text", text: "You are a careful programmer." }]);
  history.user("Rename parseConfig to readConfig in all of src/, then run the tests.");
  for (let step = 1; step <= steps; step++) {
    const path = `src/module-${step % 7}/file-${step % 13}.ts`;
    if (step % 10 === 0) history.user(`Good. What about ${path}?`);
    history.assistant(`Step ${step}: I look at ${path}.`, [`call-${step}`, step % 4 === 3 ? "edit" : "read", { path }]);
    const body = Array.from(
      { length: lines },
      (_, line) => `export const value${step}_${line} = parseConfig("${path}", ${line});`,
    );
    history.result(`call-${step}`, body.join("\n"));
  }
  return history.messages;
}

/** Sample histories, one for each kind of trouble in real ones. */
export function sampleHistories(): readonly Sample[] {
  const files = Array.from({ length: 40 }, (_, file) => `src/file-${file}.ts`).join("\n");
  const signed = { type: "reasoning", text: "The file first.", signature: "c2lnbmVk/+bytes==" } as const;
  return [
    { name: "empty", messages: [] },
    { name: "one user message", messages: new HistoryBuilder().user("Hello").messages },
    { name: "coding session", messages: codingSession(30) },
    {
      name: "parallel calls, results in another order",
      messages: new HistoryBuilder()
        .user("Read three files")
        .assistant(
          "",
          ["a", "read", { path: "a.ts" }],
          ["b", "read", { path: "b.ts" }],
          ["c", "read", { path: "c.ts" }],
        )
        .result("c", "third")
        .result("a", "first")
        .result("b", "second")
        .assistant("Done.").messages,
    },
    {
      name: "aborted calls",
      messages: new HistoryBuilder()
        .user("Run both")
        .assistant("Now.", ["x", "bash", { command: "npm test" }], ["y", "bash", { command: "npm run lint" }])
        .result("x", "1 failed", true)
        .user("Stop. Only the tests.")
        .assistant("Right.", ["z", "bash", { command: "npm test" }]).messages,
    },
    {
      name: "late and orphan results",
      messages: new HistoryBuilder()
        .user("Deploy?")
        .assistant("I ask for leave.", ["confirm", "confirm", { what: "deploy" }])
        .user("Wait.")
        .assistant("Waiting.")
        .result("confirm", "granted")
        .result("nowhere", "whose is this?")
        .user("Go on.").messages,
    },
    {
      name: "an id used twice",
      messages: new HistoryBuilder()
        .user("Twice")
        .assistant("", ["same", "read", { path: "one.md" }])
        .result("same", "one")
        .assistant("", ["same", "read", { path: "two.md" }])
        .result("same", "two")
        .result("same", "two again").messages,
    },
    {
      name: "the same call again: the same result, then another",
      messages: [files, files, `${files}\nNEW.md`].reduce(
        (history, text, at) => history.assistant("", [`ls-${at}`, "ls", { path: "." }]).result(`ls-${at}`, text),
        new HistoryBuilder().user("Tell me when a file is new."),
      ).messages,
    },
    {
      name: "signed reasoning",
      messages: new HistoryBuilder()
        .user("Think first")
        .add("assistant", [signed, { type: "tool-call", callId: "t", name: "read", args: { path: "x" } }])
        .result("t", "x".repeat(400))
        .add("assistant", [signed])
        .add("assistant", [
          { ...signed, signature: "b3RoZXI=" },
          { type: "text", text: "So it is." },
        ]).messages,
    },
    {
      name: "empty parts, half a character, no user first",
      messages: new HistoryBuilder()
        .assistant("I begin.")
        .add("user", [{ type: "text", text: "  " }])
        .add("user", [{ type: "text", text: "half \ud83d of an emoji" }])
        .add("assistant", [])
        .add("assistant", [
          { type: "text", text: "" },
          { type: "text", text: "了解しました。😀" },
        ]).messages,
    },
    {
      name: "a system message in the middle",
      messages: new HistoryBuilder()
        .user("Hello")
        .add("system", [{ type: "text", text: "The user's plan changed to team." }])
        .assistant("Noted.").messages,
    },
    {
      name: "one huge result",
      messages: new HistoryBuilder()
        .user("Show the log")
        .assistant("", ["log", "bash", { command: "cat build.log" }])
        .result("log", `${"all is well ".repeat(4_000)}\nERROR in src/main.ts:12\n${"all is well ".repeat(4_000)}`)
        .messages,
    },
  ];
}
