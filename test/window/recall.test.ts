import { describe, expect, it } from "vitest";
import type { TokenCounter } from "windrow";
import { estimate } from "windrow/testing";
import { recallFrom } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { calls, result, user } from "../replay/histories.ts";
import { Recalling, recallInTurns, recallNotice, stubsOf, subjectOf } from "../kit/inside/window.ts";

const log = Array.from({ length: 3_000 }, (_, line) => `row ${line} of the log, all is well`);
log[1_777] = "FATAL: cannot open /var/lib/queue/17.db";
const history = new HistoryBuilder()
  .user("Why does it crash?")
  .assistant("I read the log.", ["1", "bash", { command: "cat crash.log" }])
  .result("1", log.join("\n"))
  .user("認証のバグも直してください")
  .assistant("わかりました。").messages;

describe("recall", () => {
  it("brings back a message whole where it fits", () => {
    const recalled = recallFrom(history, { id: "m4" }, { counter: estimate });
    expect(recalled).toMatchObject({
      text: `${recallNotice(4_000)}\n[m4 user]\n 認証のバグも直してください`,
      seqs: [4],
      more: false,
    });
  });

  it("brings back the passage asked for out of one that does not", () => {
    const recalled = recallFrom(
      history,
      { id: "m3", query: "cannot open 17.db" },
      { counter: estimate, maxTokens: 400 },
    );
    expect(recalled.text).toContain("FATAL: cannot open /var/lib/queue/17.db");
    expect(recalled.text).toContain("row 1776");
    expect(recalled.text).toContain("[… line 1777 of 3000]");
    expect(recalled.tokens).toBeLessThanOrEqual(400);
  });

  it("finds by words alone, two Japanese characters too", () => {
    expect(recallFrom(history, { query: "FATAL" }, { counter: estimate, maxTokens: 200 }).seqs).toEqual([3]);
    expect(recallFrom(history, { query: "認証" }, { counter: estimate, maxTokens: 200 }).seqs).toEqual([4]);
  });

  it.each([
    [
      "behind a line",
      { command: "insert", path: "src/a.ts", insert_line: 2, new_str: "middle" },
      ["one", "two", "middle", "three", "four"],
    ],
    [
      "at the top",
      { command: "insert", path: "src/a.ts", insert_line: 0, new_str: "first" },
      ["first", "one", "two", "three", "four"],
    ],
  ])("shows a file as it stands, with a text that a call put in %s", (_place, args, lines) => {
    const listing = ["one", "two", "three", "four"].map((line, at) => `${at + 1}\tconst ${line} = ${at};`).join("\n");
    const edit = { ...args, new_str: `const ${args.new_str} = 9;` };
    const messages = [
      user("Mend it."),
      calls("1", "str_replace_editor", { command: "view", path: "src/a.ts" }),
      result("1", listing),
      calls("2", "str_replace_editor", edit),
      result("2", "The file was edited."),
    ];
    const { text } = recallFrom(messages, { query: "src/a.ts" }, { counter: estimate, maxTokens: 400 });
    const shown = text.slice(text.indexOf("as it stands"));
    expect([...shown.matchAll(/const (\w+) =/g)].map(([, name]) => name).slice(0, lines.length)).toEqual(lines);
  });

  it("gives a long message from its start without words, and says that more follows", () => {
    const recalled = recallFrom(history, { id: "m3" }, { counter: estimate, maxTokens: 300 });
    expect(recalled.text).toContain("row 0");
    expect(recalled.more).toBe(true);
    expect(recalled.tokens).toBeLessThanOrEqual(300);
  });

  it("shows a record of one line of JSON whole, and nothing of the records beside it", () => {
    const words = ["clisoul", "riclear", "tostuba", "brousen", "clubes", "stouser"];
    const names = words.flatMap((name) => [`${name}-store`, `${name}-queue`]);
    const inventory = names.map((service, index) => {
      return { service, owner: "Nitick", retries: 210 + index, port: 330 + index, image: `${service}:38${index}` };
    });
    const messages = new HistoryBuilder()
      .user("Keep them running.")
      .assistant("", ["1", "inventory", { group: "all" }])
      .result("1", JSON.stringify(inventory)).messages;
    for (const [index, service] of names.entries()) {
      const { text } = recallFrom(messages, { query: `port of ${service}` }, { counter: estimate, maxTokens: 400 });
      expect(text.match(/"service":"[^"]+"/g)).toEqual([`"service":"${service}"`]);
      expect(text).toContain(`"port":${330 + index}`);
      expect(text.match(/"retries":\d+/g)).toEqual([`"retries":${210 + index}`]);
    }
  });

  it.each([
    ["not-found", { id: "m99" }],
    ["bad-option", { id: "../etc" }],
    ["bad-option", {}],
  ])("refuses: %s", (code, query) => {
    expect(() => recallFrom(history, query, { counter: estimate })).toThrowError(expect.objectContaining({ code }));
  });
});

it("stubs name what a call was about, by shape", () => {
  expect(subjectOf({ limit: 10, file: "src/a.ts", note: "x" })).toBe("src/a.ts");
  expect(subjectOf({ command: "npm test\n--silent" })).toBe("npm test");
  expect(subjectOf({ deep: { query: "flights to LIS" } })).toBe("flights to LIS");
  expect(subjectOf({})).toBe("");
  expect(subjectOf({ command: "x".repeat(5_000) }).length).toBeLessThanOrEqual(97);
  const messages = history.map((message, index) => ({ seq: index + 1, message }));
  expect(stubsOf(messages.slice(0, 3))).toEqual([
    { tool: "user", subject: "Why does it crash?", id: "m1", count: 1 },
    { tool: "bash", subject: "cat crash.log", id: "m3", count: 1 },
  ]);
});

describe("recall of much text", () => {
  it("looks at every line once: work grows with the text", () => {
    const texts = [1, 4].map((times) => Array.from({ length: 8_000 * times }, (_, n) => `words ${n}`).join("\n"));
    const steps = texts.map((text) => {
      const [message] = new HistoryBuilder().user(text).messages;
      const recalling = new Recalling(
        { query: "words 12345" },
        { from: 1, to: 1 },
        { counter: estimate, maxTokens: 400 },
      );
      let count = 0;
      for (const work = recalling.take({ seq: 1, message: message! }); work.next().done !== true;) count++;
      return count;
    });
    expect(steps[1]! / steps[0]!).toBeLessThan(8);
  });

  it("ends at all, where every one of a million lines answers", { tags: ["slow"], timeout: 60_000 }, () => {
    const text = Array.from({ length: 1_000_000 }, (_, n) => `words ${n}`).join("\n");
    const recalled = recallFrom(
      new HistoryBuilder().user(text).messages,
      { query: "words 12345" },
      { counter: estimate },
    );
    expect(recalled.text).toContain("words 12345\n");
    expect(recalled.text).toContain("[… line 12345 of 1000000]");
  });

  it("counts tokens for a bounded number of passages", () => {
    let calls = 0;
    const counter: TokenCounter = { name: "counting", count: (text) => (calls++, estimate.count(text)) };
    const text = Array.from({ length: 50_000 }, (_, n) => `words ${n}`).join("\n");
    recallFrom(new HistoryBuilder().user(text).messages, { query: "words" }, { counter, maxTokens: 400 });
    expect(calls).toBeLessThan(5_000);
  });

  it("gives the beginning of a large file after few counts, and never more than it may", () => {
    let characters = 0;
    const count = (text: string): number => ((characters += text.length), estimate.count(text));
    const text = Array.from({ length: 4_000 }, (_, n) => `export const value${n} = compute(${n});`).join("\n");
    const { messages } = new HistoryBuilder()
      .user("Mend it.")
      .assistant("", ["r", "read", { path: "src/big.ts" }])
      .result("r", text);
    const counter = { name: "counting", count };
    const recalled = recallFrom(messages, { query: "src/big.ts" }, { counter, maxTokens: 400 });
    expect(recalled.text).toContain("export const value7 = compute(7);");
    expect(recalled.text).toContain("[the beginning of 4000 lines");
    expect(characters).toBeLessThan(10 * text.length);
    for (const maxTokens of [1, 20, 30, 40, 60, 100]) {
      const { tokens } = recallFrom(messages, { query: "src/big.ts" }, { counter: estimate, maxTokens });
      // The line that says whose words follow stands in every answer.
      expect(tokens).toBeLessThanOrEqual(Math.max(maxTokens, estimate.count(recallNotice(maxTokens, true)) + 2));
    }
  });

  it("gives the same in turns, during which timers run, and stops when it is aborted", async () => {
    const text = Array.from({ length: 400_000 }, (_, n) => `words ${n}`).join("\n");
    const { messages } = new HistoryBuilder().user("Why?").user(text).user("words and no more");
    const query = { query: "words 12345" };
    let ticks = 0;
    const ticker = setInterval(() => ticks++, 1);
    const found = await recallInTurns(messages, query, { counter: estimate });
    clearInterval(ticker);
    expect(found).toEqual(recallFrom(messages, query, { counter: estimate }));
    expect(ticks).toBeGreaterThan(0);
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    await expect(recallInTurns(messages, query, { counter: estimate }, controller.signal)).rejects.toMatchObject({
      code: "aborted",
    });
  });

  it("cuts a line of many megabytes around the words, wherever its pieces are parted", () => {
    for (const place of [65_530, 131_060, 3_000_000]) {
      const { messages } = new HistoryBuilder().user(`${"x ".repeat(place / 2)}needle of 42${" y".repeat(500_000)}`);
      const recalled = recallFrom(messages, { query: "Needle of 42" }, { counter: estimate, maxTokens: 1_200 });
      expect(recalled.text).toContain("needle of 42");
    }
  });

  it("finds signs that are no word as they stand", () => {
    const { messages } = new HistoryBuilder().user(`${"line\n".repeat(20_000)}a <=> b\n${"line\n".repeat(20_000)}`);
    expect(recallFrom(messages, { query: "<=>" }, { counter: estimate, maxTokens: 100 }).text).toContain("a <=> b");
  });
});

it("shows the newest messages that have a frequent word", () => {
  const builder = new HistoryBuilder();
  for (let number = 1; number <= 300; number++) builder.user(`note ${number} about the harbour`);
  const { seqs } = recallFrom(builder.messages, { query: "harbour" }, { counter: estimate, maxTokens: 400 });
  expect(seqs).toContain(300);
  expect(Math.min(...seqs)).toBeGreaterThan(200);
});
