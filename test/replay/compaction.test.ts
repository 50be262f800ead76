import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { readTranscripts } from "windrow/transcript";
import type { JsonObject, JsonValue } from "../kit/inside/message.ts";
import { compactionsOf } from "../kit/inside/replay.ts";
import type { Compaction } from "../kit/inside/replay.ts";
import { countMessage, estimate } from "../kit/inside/tokens.ts";
import type { Transcript } from "../kit/inside/transcript.ts";
import { calls, characters, result, says, transcript, user } from "./histories.ts";

/** System prompt and tools, in tokens. */
const overhead = 300;
const output = 10;
const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const model = "claude-sonnet-4-5";

/** A file of so many lines, none of which stands in another. */
function file(name: string, lines = 6): string {
  return Array.from({ length: lines }, (_, line) => `line ${line} of the file ${name}, to its end`).join("\n");
}

/** A session as a program records it, whose reported input is what it counts. */
class Recording {
  readonly messages: Message[] = [user("mend it, please. ".repeat(50))];
  readonly compactions: JsonObject[] = [];
  readonly #reported: boolean;
  #window: number;
  #before = 0;

  constructor(reported = true) {
    this.#reported = reported;
    this.#window = overhead + this.#tokens(this.messages);
  }

  /** A call of a tool, its result, and the usage. */
  call(name: string, args: JsonValue, text: string): this {
    const id = `c${this.messages.length}`;
    return this.#step(calls(id, name, args), [result(id, text)]);
  }

  read(path: string, text = file(path)): this {
    return this.call("read", { path }, text);
  }

  run(command: string, text: string): this {
    return this.call("bash", { command }, text);
  }

  /** One answer that reads several files. */
  readAll(...paths: readonly string[]): this {
    const ids = paths.map((path) => `c${this.messages.length}${path}`);
    const parts = paths.flatMap((path, at) => calls(ids[at] ?? "", "read", { path }).parts);
    return this.#step(
      { ...says(""), parts },
      paths.map((path, at) => result(ids[at] ?? "", file(path))),
    );
  }

  say(text: string): this {
    return this.#step(says(text), []);
  }

  /** Cuts everything before it; the window goes on with the summary. */
  compact(summary?: string, more: JsonObject = {}): this {
    this.compactions.push({ after: this.messages.length, ...(summary !== undefined && { summary }), ...more });
    this.#window = overhead + (summary ?? "").length;
    return this;
  }

  end(writer?: string): Transcript {
    return { ...transcript(this.messages, writer), meta: { compactions: this.compactions } };
  }

  found(writer?: string): readonly Compaction[] {
    return compactionsOf(this.end(writer), characters);
  }

  /** What was read again behind each compaction, by subject. */
  again(): readonly (readonly string[])[] {
    return this.found().map(({ again }) => again.map(({ subject }) => subject));
  }

  #step(answer: Message, results: readonly Message[]): this {
    const input = this.#window;
    const cacheRead = Math.min(this.#before, input);
    const usage = { input, output, cacheRead, cacheWrite: input - cacheRead };
    this.messages.push(this.#reported ? { ...answer, usage } : answer, ...results);
    this.#before = input;
    this.#window += this.#tokens([answer, ...results]);
    return this;
  }

  #tokens(messages: readonly Message[]): number {
    return messages.reduce((sum, message) => sum + countMessage(characters, message), 0);
  }
}

describe("what left", () => {
  it("is nothing where the file notes no compaction", () => {
    expect(compactionsOf(transcript([user("hello"), says("hi")]), characters)).toEqual([]);
    expect(new Recording().read("src/a.ts").found()).toEqual([]);
  });

  it("is every message since the one before, with its tokens and the inputs around it", () => {
    const session = new Recording().read("src/a.ts").compact("so far");
    session.read("src/b.ts").read("src/c.ts").compact("and on").say("done");
    const [first, second] = session.found();
    const inputs = session.messages.flatMap(({ usage }) => usage?.input ?? []);
    const tokens = (from: number, to: number): number =>
      session.messages.slice(from, to).reduce((sum, message) => sum + countMessage(characters, message), 0);
    expect(first).toMatchObject({
      ...{ after: 3, left: { messages: 3, tokens: tokens(0, 3) }, summary: { text: "so far", tokens: 6 } },
      input: { before: inputs[0], after: inputs[1] },
    });
    expect(second).toMatchObject({
      ...{ after: 7, left: { messages: 4, tokens: tokens(3, 7) } },
      input: { before: inputs[2], after: inputs[3] },
    });
  });

  it("is not what the program kept, which leaves with the next one", () => {
    const session = new Recording().read("src/a.ts").read("src/b.ts");
    const kept = session.messages.slice(-2).map(({ id }) => id);
    session.compact("so far", { preservedMessages: { uuids: kept } });
    session.read("src/b.ts").read("src/a.ts").compact("and on").read("src/b.ts");
    const [first, second] = session.found();
    expect(first?.left.messages).toBe(3);
    expect(second?.left.messages).toBe(6);
    expect(session.again()).toEqual([["src/a.ts"], ["src/b.ts"]]);
  });

  it("is nothing before one at the very start, and is not read again behind one at the very end", () => {
    const session = new Recording();
    session.compactions.push({ after: 0, summary: "an earlier session" });
    const [start, end] = session.read("src/a.ts").compact("so far").found();
    expect(start).toMatchObject({ left: { messages: 0, tokens: 0 }, input: { before: null }, again: [], calls: 0 });
    expect(end).toMatchObject({ after: 3, left: { messages: 3 }, input: { after: null }, again: [], calls: 0 });
  });
});

describe("what the summary keeps", () => {
  const session = (summary?: string): Compaction | undefined =>
    new Recording()
      .read("src/parser.ts", "const parseLine = 4711;\nlet lineCount = 1234;")
      .read("src/other.ts", "nothing to name")
      .compact(summary)
      .say("done")
      .found()[0];

  it("is counted in files, names and numbers", () => {
    expect(session("parser.ts has parseLine, with 4711.")?.kept).toEqual({
      ...{ files: { kept: 1, of: 2 }, names: { kept: 1, of: 2 } },
      numbers: { kept: 1, of: 2 },
    });
  });

  it("is found under Copilot CLI's name for it", () => {
    const recording = new Recording().read("src/a.ts");
    recording.compactions.push({ after: 3, success: true, summaryContent: "a.ts was read" });
    expect(recording.found()[0]).toMatchObject({ summary: { text: "a.ts was read" }, kept: { files: { kept: 1 } } });
  });

  it("is nothing where the file has none", () => {
    for (const found of [session(), session("")]) {
      expect(found?.summary).toEqual({ text: "", tokens: 0 });
      expect(found?.kept).toMatchObject({ files: { kept: 0, of: 2 }, numbers: { kept: 0, of: 2 } });
    }
  });
});

describe("the window behind it", () => {
  const read = (session: Recording): Recording => session.read("src/a.ts").read("src/b.ts").read("src/c.ts");

  it("is the summary and what follows, beside what the first request tells", () => {
    const [found] = read(read(new Recording()).compact("so far")).found();
    expect(found?.input.after).toBe(overhead + 6);
    expect(found?.window).toBe(found?.input.after);
  });

  it("is what the program counted itself, where it says so", () => {
    expect(read(read(new Recording()).compact("so far", { postTokens: 700 })).found()[0]?.window).toBe(overhead + 700);
  });

  it("has beside its messages what the other compactions tell, as reminders of the start have left", () => {
    const session = read(new Recording());
    for (const summary of ["one", "second", "the third"]) read(session.compact(summary));
    // The first request reports 2,000 tokens that leave with the first compaction.
    const messages = session.messages.map((message, index) =>
      message.usage && index < 7
        ? { ...message, usage: { ...message.usage, input: (message.usage.input ?? 0) + 2_000 } }
        : message,
    );
    const found = compactionsOf({ ...session.end(), messages }, characters);
    expect(found.map(({ window }) => window)).toEqual(found.map(({ input }) => input.after));
    const [only] = compactionsOf(
      { ...session.end(), messages, meta: { compactions: session.compactions.slice(0, 1) } },
      characters,
    );
    expect(only?.window).toBe(overhead + 2_000 + 3);
  });

  it("is not known without a summary, and without usage", () => {
    expect(read(read(new Recording()).compact()).found()[0]).toMatchObject({
      window: null,
      input: { after: overhead },
    });
    expect(read(read(new Recording(false)).compact("so far")).found()[0]).toMatchObject({
      ...{ window: null, input: { before: null, after: null } },
      summary: { text: "so far", tokens: 6 },
    });
  });
});

describe("what was read again", () => {
  const before = (): Recording => new Recording().read("src/a.ts").read("src/b.ts").compact("so far");

  it("is a result with what had left, by its message, tool and subject", () => {
    const [found] = before().say("let me see").read("src/b.ts").found();
    expect(found?.again).toEqual([
      { index: 7, tool: "read", subject: "src/b.ts", tokens: file("src/b.ts").length + 8 },
    ]);
    expect(found?.calls).toBe(1);
  });

  it("is counted once", () => {
    expect(before().read("src/a.ts").read("src/a.ts").again()).toEqual([["src/a.ts"]]);
  });

  it("counts from half of its lines, and from three", () => {
    const some = (old: number, fresh: number): string =>
      [...file("src/a.ts").split("\n").slice(0, old), file("fresh", fresh)].join("\n");
    expect(before().read("src/a.ts", some(4, 4)).again()).toEqual([["src/a.ts"]]);
    expect(before().read("src/a.ts", some(4, 5)).again()).toEqual([[]]);
    expect(before().read("src/a.ts", file("src/a.ts", 2)).again()).toEqual([[]]);
  });

  it("is not what was written or shown since, nor what the summary quotes", () => {
    const text = file("src/a.ts");
    expect(before().call("write", { path: "src/a.ts", content: text }, "done").read("src/a.ts").again()).toEqual([[]]);
    expect(before().run("npm test", text).read("src/a.ts").again()).toEqual([[]]);
    expect(before().read("src/new.ts").read("src/new.ts").again()).toEqual([[]]);
    expect(new Recording().read("src/a.ts").compact(text).read("src/a.ts").again()).toEqual([[]]);
  });

  it("is read, not printed once more: a test run, git status, a poll, another file with the same lines", () => {
    const session = new Recording().run("npm test", file("tests")).run("git status", file("status"));
    session.call("write_stdin", { session_id: 7, chars: "" }, file("poll")).read("src/a.ts").compact("so far");
    session.run("npm test", file("tests")).run("git status", file("status"));
    session.call("write_stdin", { session_id: 7, chars: "" }, file("poll"));
    expect(session.read("src/copy.ts", file("src/a.ts")).again()).toEqual([[]]);
  });

  it("may be read by another tool, or in part", () => {
    const lines = file("src/a.ts").split("\n");
    const [found] = before().run("sed -n '1,4p' src/a.ts", lines.slice(0, 4).join("\n")).found();
    expect(found?.again).toMatchObject([{ tool: "bash", subject: "sed -n '1,4p' src/a.ts" }]);
    const numbered = lines.map((line, at) => `${at + 1}\t${line}`).join("\n");
    expect(before().read("src/a.ts", numbered).again()).toEqual([["src/a.ts"]]);
  });

  it("belongs to the newest compaction before it", () => {
    const session = before().read("src/a.ts").compact("and on").read("src/a.ts").read("src/b.ts");
    expect(session.again()).toEqual([["src/a.ts"], ["src/a.ts"]]);
  });

  it("is no call of its own where the answer asked for something else too", () => {
    expect(before().readAll("src/a.ts", "src/new.ts").found()[0]).toMatchObject({ again: [{}], calls: 0 });
    expect(before().readAll("src/a.ts", "src/b.ts").found()[0]).toMatchObject({ again: [{}, {}], calls: 1 });
  });
});

describe("dollars", () => {
  const session = (reported = true): Recording =>
    new Recording(reported).read("src/a.ts").read("src/b.ts").compact("so far").read("src/a.ts").say("done");

  it("are the tokens read again, written to the cache, and the calls that did nothing else", () => {
    const recorded = session();
    const [found] = recorded.found(model);
    const { input = 0, cacheRead = 0, cacheWrite = 0 } = recorded.messages[5]?.usage ?? {};
    expect([input, cacheRead + cacheWrite]).toEqual([overhead + 6, input]);
    const call = cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite + output * prices.output;
    const written = (file("src/a.ts").length + 8) * prices.cacheWrite;
    expect(found?.dollars).toBeCloseTo((call + written) / 1e6, 9);
  });

  it("have the hour's price in a session that caches for an hour, and the input's in one that does not cache", () => {
    const recorded = session().end(model);
    const dollars = (usage: (one: NonNullable<Message["usage"]>) => Message["usage"]): number =>
      compactionsOf(
        {
          ...recorded,
          messages: recorded.messages.map(
            (one) => ({ ...one, ...(one.usage && { usage: usage(one.usage) }) }) as Message,
          ),
        },
        characters,
      )[0]?.dollars ?? 0;
    const [tokens, input] = [file("src/a.ts").length + 8, overhead + 6];
    const hour = dollars((one) => ({
      ...one,
      cacheRead: 0,
      cacheWrite: one.input ?? 0,
      cacheWriteHour: one.input ?? 0,
    }));
    expect(hour).toBeCloseTo(((tokens + input) * 2 * prices.input + output * prices.output) / 1e6, 9);
    const plain = dollars((one) => ({ input: one.input ?? 0, output }));
    expect(plain).toBeCloseTo(((tokens + input) * prices.input + output * prices.output) / 1e6, 9);
  });

  it("are not known of an unknown model, of none, and without usage", () => {
    expect(session().found("a-model-of-nobody")[0]).toMatchObject({ dollars: null, calls: 1, again: [{}] });
    expect(session().found()[0]?.dollars).toBeNull();
    expect(session(false).found(model)[0]).toMatchObject({ dollars: null, calls: 1, again: [{}] });
  });
});

const data = "../shared/data/open/long-sessions";
const here = existsSync(data);
if (!here) console.log(`skipping: ${data} is absent`);

describe.skipIf(!here)("recorded sessions", { tags: ["slow"] }, () => {
  it.each([
    ["claude-code-entirecontext-da81b1d5", 2, 2],
    ["claude-code-flutter-docker-image-aba9151e", 4, 8],
    ["codex-jdx-hk-019f5cfd", 2, 9],
    ["codex-jdx-mise-019f2387", 2, 0],
  ])("%s has %i compactions, and %i results were read again", async (name, compactions, again) => {
    const [session] = await readTranscripts(join(data, `${name}.raw.jsonl.gz`));
    const found = session ? compactionsOf(session, estimate) : [];
    expect(found).toHaveLength(compactions);
    expect(found.flatMap((one) => one.again)).toHaveLength(again);
    const isCodex = name.startsWith("codex");
    expect(found.map(({ summary }) => summary.text === "")).toEqual(found.map(() => isCodex));
    expect(found.map(({ window }) => window === null)).toEqual(found.map(() => isCodex));
    // What the call behind each compaction reported.
    const off = found.flatMap(({ window, input }) =>
      window === null ? [] : [Math.abs(window / (input.after ?? 0) - 1)],
    );
    expect(Math.max(0, ...off)).toBeLessThan(0.15);
  });
});
