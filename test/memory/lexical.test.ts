import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { LexicalIndex } from "windrow/memory";
import { estimate } from "windrow/testing";
import { lexicalMemory } from "../kit/lexical-memory.ts";
import { fillByRank } from "../kit/inside/memory.ts";
import { termsOf } from "../kit/inside/window.ts";

function says(text: string, role: Message["role"] = "user"): Message {
  return { id: text.slice(0, 20), role, parts: [{ type: "text", text }] };
}

function indexOf(texts: readonly string[], sessionId = "s"): LexicalIndex {
  const index = new LexicalIndex();
  texts.forEach((text, at) => index.add(sessionId, at + 1, says(text)));
  return index;
}

const filler = Array.from({ length: 40 }, (_, index) => `Nothing of note on day ${index}, only tea and rain.`);

describe("terms", () => {
  it.each([
    ["Running runs, ran the RUNNER", ["run", "run", "ran", "runner"]],
    ["What did the user say about tests?", ["user", "say", "about", "test"]],
    ["composeWindow in src/window.ts", ["composewindow", "compos", "window", "src", "window", "ts"]],
    ["数据库连接失败", ["数据", "据库", "库连", "连接", "接失", "失败"]],
    ["ログインAPI認証", ["ログ", "グイ", "イン", "api", "認証"]],
    ["ＡＰＩ ｶﾀｶﾅ", ["api", "カタ", "タカ", "カナ"]],
    ["", []],
  ])("of %j", (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it("never fail, whatever the text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Array.isArray(termsOf(text))));
  });
});

describe("search", () => {
  it.each([
    ["When did the deployment fail?", "The deployments failed on Tuesday."],
    ["src/auth/login.ts", "I changed src/auth/login.ts by hand."],
    ["数据库 密码", "数据库的密码放在保险箱里。"],
    ["認証はどこ", "認証サーバーは東京にあります。"],
    ["ログイン", "昨日ログイン画面を直しました。"],
  ])("finds the message that %j is about", (query, answer) => {
    const index = indexOf([...filler.slice(0, 20), answer, ...filler.slice(20)]);
    expect(index.search(query)[0]?.seq).toBe(21);
  });

  it("gives the neighbours of a hit a share, within their session only", () => {
    const index = indexOf([...filler, "Which city has the best ramen?"]);
    index.add("other", 1, says("Sapporo, without a doubt."));
    const hits = index.search("best ramen city");
    expect(hits.map(({ sessionId, seq }) => `${sessionId} ${seq}`)).toEqual(["s 41", "s 40", "s 39", "s 38"]);
  });

  it("answers nothing where no word is known, and obeys limit and session", () => {
    const index = indexOf(filler);
    expect(index.search("zyzzyva")).toEqual([]);
    expect(index.search("")).toEqual([]);
    expect(index.search("tea", 3)).toHaveLength(3);
    expect(index.search("tea", 2).map(({ seq }) => seq)).toEqual([37, 36]);
  });

  it("a rare word counts more than a common one", () => {
    const index = indexOf([...filler, "rain tea day", "kumquat", ...filler]);
    expect(index.search("tea kumquat")[0]?.seq).toBe(42);
  });
});

describe("a lexical memory", () => {
  const texts = [...filler, "Ms. Tanaka's dog is called Mochi."];
  const messages = texts.map((text, at) => ({ seq: at + 1, message: says(text) }));

  it("answers in the words it was told, within the tokens, in the order of the conversation", async () => {
    const memory = lexicalMemory();
    await memory.receive("one", messages);
    const text = "What is the name of Tanaka's dog?";
    const passages = await memory.query({ text, maxTokens: 80, counter: estimate });
    expect(passages.map(({ text }) => text)).toContain("[one m41 user] Ms. Tanaka's dog is called Mochi.");
    expect(passages.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(80);
    const seqs = passages.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((left, right) => left - right));
    expect(await memory.query({ text: "zyzzyva", counter: estimate })).toEqual([]);
    await memory.close();
  });

  it("knows a session once, however often it is handed over", async () => {
    const memory = lexicalMemory();
    await memory.receive("one", messages.slice(0, 20));
    await memory.receive("one", messages);
    await memory.receive("one", messages);
    const passages = await memory.query({ text: "dog Mochi", maxTokens: 4_000, counter: estimate });
    expect(passages.filter(({ seq }) => seq === 41)).toHaveLength(1);
  });

  it("what is larger than the room is passed over for what fits", () => {
    const taken = (texts: readonly string[], room: number): readonly string[] =>
      fillByRank(
        texts.map((text) => ({ text })),
        room,
        estimate,
      ).map(({ text }) => text);
    expect(taken(["long ".repeat(500), "short", "also short"], 20)).toEqual(["short", "also short"]);
    expect(taken(["x"], 0)).toEqual([]);
  });
});
