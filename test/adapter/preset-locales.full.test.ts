/** A preset's language: the one that is given beside its name, at every door that takes a strategy. */
import { beforeAll, describe, expect, it } from "vitest";
import { loadCounter } from "windrow";
import { contextCompactor } from "windrow/adk";
import { geminiAdapter } from "windrow/gemini";
import type { Model } from "windrow/model";
import { presetNames } from "windrow/window";
import type { StrategyChoice } from "windrow/window";
import { HistoryBuilder } from "../kit/inside/message.ts";
import { output, sessionDoors, stored, windowDoors } from "./preset-doors.ts";
import type { Door } from "./preset-doors.ts";

beforeAll(async () => void (await loadCounter("cl100k")));

const model = { contextWindow: 4_000, maxOutput: 500 };
const history = new HistoryBuilder();
for (let at = 0; at < 12; at++) {
  history.user(`Read the file number ${at}, and tell me what it is about.`);
  history.assistant("", [`c${at}`, "read", { path: `src/file-${at}.ts` }]);
  const content = Array.from({ length: 40 }, (_, line) => `export const value${line} = ${at};`).join("\n");
  history.add("tool", [{ type: "tool-result", callId: `c${at}`, name: "read", content }]);
  history.assistant(`The file number ${at} has forty values, all of them the same.`);
}
const { messages } = history.user("Which was the largest?");

const compact: Door = async (given) => {
  const session = await stored(given);
  await output(["compact", ...session]);
  return { messages: await output(["view", ...session, "--window", "--json"]) };
};

const languages = ["en", "ja", "zh"] as const;
type Language = (typeof languages)[number];
/** All that a window says in a language, by language. */
const said: Readonly<Record<Language, RegExp>> = {
  en: /\[Windrow: a summary of messages|lines? left out, originally|Summary of what went before/,
  ja: /\[Windrow: メッセージ|行省略、元は|前文の要約/,
  zh: /\[Windrow: 消息|已省略 \d+ 行|前文摘要/,
};
const asked: Readonly<Record<Language, string>> = {
  en: "You are an assistant AI that summarises",
  ja: "あなたは会話履歴を要約する",
  zh: "你是总结对话历史的辅助AI",
};

/** The languages of a window, and those in which a summary was asked for. */
async function spoken(
  open: Door,
  strategy: StrategyChoice,
): Promise<{ window: readonly Language[]; asked: readonly Language[] }> {
  const requests: string[] = [];
  const summarizer: Model = async (request) => {
    requests.push(JSON.stringify(request));
    return { text: "Files with forty values each were read.", usage: {}, finish: "stop" };
  };
  const window = JSON.stringify((await open({ strategy, model, messages, summarizer })).messages);
  return {
    window: languages.filter((language) => said[language].test(window)),
    asked: languages.filter((language) => requests.some((request) => request.includes(asked[language]))),
  };
}

/** The presets that speak, and the language of each by itself. */
const summarising = { "coding-agent": "ja", "openstarry-summary": "zh", "state-manager": "ja" } as const;
const speaking = { ...summarising, pi: "zh" } as const;
/** Presets that say nothing in a language have no option for it. */
const silent = presetNames.filter((name) => !Object.hasOwn(speaking, name));

const choices = (presets: Readonly<Record<string, Language>>): readonly (readonly [StrategyChoice, Language])[] =>
  Object.entries(presets).flatMap(([use, own]) => [
    [{ use }, own] as const,
    ...languages.map((locale) => [{ use, locale }, locale] as const),
  ]);

describe.each(Object.entries(sessionDoors))("%s", (_door, open) => {
  it.each(choices(summarising))("has a summary asked for and labelled by %j in %s", async (choice, language) => {
    expect(await spoken(open, choice)).toEqual({ window: [language], asked: [language] });
  });

  it.each(choices({ pi: "zh" }))("marks what %j leaves out in %s", async (choice, language) => {
    expect(await spoken(open, choice)).toEqual({ window: [language], asked: [] });
  });
});

describe.each(Object.entries(windowDoors))("%s", (_door, open) => {
  it.each(choices({ pi: "zh" }))("marks what %j leaves out in %s", async (choice, language) => {
    expect(await spoken(open, choice)).toEqual({ window: [language], asked: [] });
  });
});

describe("the command line, that compacts a session", () => {
  it.each(choices(summarising))("labels the summary of %j in %s", async (choice, language) => {
    expect(await spoken(compact, choice)).toEqual({ window: [language], asked: [] });
  });
});

describe.each(Object.entries({ ...sessionDoors, ...windowDoors }))("%s", (_door, open) => {
  it.each(silent)("has no language for %s", async (use) => {
    const opening = spoken(open, { use, locale: "en" });
    await expect(opening).rejects.toThrow(/has no option \\?"locale\\?"/);
  });
});

it("a compactor of ADK marks in the language of its strategy", () => {
  const compactor = contextCompactor({ budget: 4_500, strategy: { use: "pi", locale: "ja" } });
  const events: object[] = geminiAdapter.encode(messages).map((content, at) => ({
    ...{ id: `e${at}`, timestamp: 1_700_000_000_000 + at, author: content.role, content },
  }));
  compactor.compact({ session: { id: "s", appName: "app", userId: "me", events }, agent: { name: "a" } } as never);
  expect(JSON.stringify(events)).toMatch(said.ja);
});
