import { describe, expect, it } from "vitest";
import type { Message } from "windrow";
import { estimate } from "windrow/testing";
import { messageText, splitSentences } from "../../kit/inside/message.ts";
import { countMessage } from "../../kit/inside/tokens.ts";
import { extractedSummary, extractSummary } from "../../kit/inside/window.ts";
import { factSession, numbered, said, step, user } from "./kit.ts";

/** Written for this test: a week of work on a shop, in Japanese. */
const japanese: readonly Message[] = [
  user("決済画面で注文が二重に登録される不具合を直してください。本番環境には手を触れないでください。"),
  said(
    "ログを調べました。送信ボタンが二度押されると、同じ注文番号で二件の登録が走ります。原因は画面側の制御漏れです。",
  ),
  user("なるほど。サーバー側でも防げますか？データベースはPostgreSQL 16です。"),
  said("はい、防げます。注文番号に一意制約を付け、重複した登録は409で返すようにします。移行用のSQLも用意します。"),
  ...step(
    "c1",
    "shell",
    { command: "npm test" },
    "42 passed\nエラー: 決済モジュールの1件が失敗\nExpected 409, received 500",
  ),
  said("一件だけ失敗しています。例外の変換を忘れていました。src/orders/errors.tsを直します。"),
  user("それで進めてください。リリースは来週の火曜日、午後三時の予定です。"),
  said("直しました。全てのテストが通っています。残りは負荷試験と、運用手順書の更新です。"),
  user("負荷試験は毎秒二百件で十分です。結果は田中さんに送ってください。"),
  said("毎秒二百件で十分間試験し、応答は平均80ミリ秒でした。結果を田中さんに送りました。"),
];

function textOf(messages: readonly Message[]): string {
  return messages.map(messageText).join("\n");
}

function expectExtract(messages: readonly Message[], maxTokens: number): void {
  const { text, sentences, tokens } = extractSummary(numbered(messages), maxTokens, estimate);
  const source = textOf(messages);
  expect(sentences.length).toBeGreaterThan(1);
  expect(tokens).toBe(estimate.count(text));
  expect(tokens).toBeLessThanOrEqual(maxTokens);
  expect(tokens).toBeGreaterThan(maxTokens * 0.6);
  expect(sentences.filter((sentence) => !source.includes(sentence.text))).toEqual([]);
  for (const line of text.split("\n")) expect(line).toMatch(/^\[m\d+ (?:user|assistant|tool)\] \S/);
}

describe("sentences", () => {
  it.each([
    [
      "We fixed the parser in src/main.ts v1.2.3 today. e.g. the lexer works! Did Dr. Smith ask? Yes (see x.). Then 3 items.",
      [
        "We fixed the parser in src/main.ts v1.2.3 today. e.g. the lexer works!",
        "Did Dr. Smith ask?",
        "Yes (see x.).",
        "Then 3 items.",
      ],
    ],
    [
      "ログインを直しました。次は何をしますか？「はい。」と言った。",
      ["ログインを直しました。", "次は何をしますか？", "「はい。」と言った。"],
    ],
    [
      "修复了错误。数据库连接失败！他说：“好。”然后走了。",
      ["修复了错误。", "数据库连接失败！", "他说：“好。”", "然后走了。"],
    ],
    ["one line\nand another", ["one line", "and another"]],
    ["", []],
  ])("%j", (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences);
  });

  it("takes no longer than the text is long", () => {
    const text = "ログインを直しました。We fixed it. ".repeat(60_000);
    expect(splitSentences(text)).toHaveLength(120_000);
    expect(splitSentences("あ".repeat(1_000_000))).toHaveLength(1);
    expect(splitSentences(`${"!?".repeat(200_000)}x`)).toHaveLength(1);
  });
});

describe("an extract", () => {
  it.each([80, 160])("of Japanese is its own sentences, within %i tokens", (maxTokens) => {
    expect(japanese.length).toBeGreaterThan(10);
    expectExtract(japanese, maxTokens);
  });

  it("of a coding session keeps what failed, and says who spoke", () => {
    const { text } = extractSummary(numbered(japanese), 240, estimate);
    expect(text).toMatch(/\[m6 tool\].*(?:失敗|409)/);
    const { text: filler } = extractSummary(numbered(factSession(30, 3)), 300, estimate);
    expect(filler).not.toBe("");
  });

  it("fits even where not one sentence does, and of nothing is nothing", () => {
    expect(extractSummary(numbered(japanese), 5, estimate).text).toBe("");
    expect(extractSummary([], 500, estimate)).toEqual({ text: "", sentences: [], tokens: 0 });
  });

  it("is the same for the same messages", () => {
    const once = extractSummary(numbered(japanese), 120, estimate);
    expect(extractSummary(numbered(structuredClone(japanese)), 120, estimate)).toEqual(once);
  });

  it("has a sentence once, however often it is there", () => {
    const again = [...japanese, ...japanese];
    const { sentences } = extractSummary(numbered(again), 160, estimate);
    expect(new Set(sentences.map(({ text }) => text)).size).toBe(sentences.length);
  });
});

describe("a summary without a model", () => {
  const messages = numbered(japanese, 11);
  const originalTokens = messages.reduce((sum, { message }) => sum + countMessage(estimate, message), 0);

  it("is an outcome like any other, of a third of what it stands for", () => {
    const outcome = extractedSummary({ messages, originalTokens, live: [], maxTokens: 2_000 }, estimate);
    if (!outcome.ok) throw new Error(outcome.message);
    expect(outcome).toMatchObject({ by: "extract", calls: 0, tokens: estimate.count(outcome.text) });
    expect(outcome.tokens).toBeLessThanOrEqual(0.35 * originalTokens);
  });

  it("works a previous one in, and stays under its cap however often", () => {
    const texts: string[] = [];
    for (let round = 0; round < 8; round++) {
      const live = texts
        .slice(-1)
        .map((text) => ({ id: round, told: [1], text, tokens: 1, originalTokens: 1, level: 1 }));
      const outcome = extractedSummary({ messages, originalTokens, live, maxTokens: 150 }, estimate);
      if (!outcome.ok) throw new Error(outcome.message);
      expect(outcome.tokens).toBeLessThanOrEqual(150);
      texts.push(outcome.text);
    }
    const [first = "", second = ""] = texts;
    expect(
      second
        .split("\n")
        .flatMap(splitSentences)
        .some((one) => first.includes(one)),
    ).toBe(true);
  });

  it("says where there is nothing to say", () => {
    const task = { messages: numbered([user("ok")]), originalTokens: 5, live: [], maxTokens: 2_000 };
    expect(extractedSummary(task, estimate)).toMatchObject({ ok: false, failed: "nothing-to-summarise" });
  });
});
