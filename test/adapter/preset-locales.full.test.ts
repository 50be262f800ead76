/** A preset's language: the one that is given beside its name, at every door that takes a strategy. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { composeWindow, loadCounter, SessionManager } from "windrow";
import type { ManagerOptions, Message } from "windrow";
import { contextCompactor, ContextManagementPlugin } from "windrow/adk";
import { toChat } from "windrow/chat";
import type { Model } from "windrow/model";
import { ContextManager, openContextManager } from "windrow/openstarry";
import { createTransformContext } from "windrow/pi";
import { presetNames } from "windrow/window";
import type { StrategyChoice } from "windrow/window";
import { piExtension } from "../kit/inside/adapter.ts";
import type { PiExtensionApi, PiExtensionContext } from "../kit/inside/adapter.ts";
import { windrow } from "../cli/stage.ts";

const folder = mkdtempSync(join(tmpdir(), "windrow-locales-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => void (await loadCounter("cl100k")));

const model = { contextWindow: 4_000, maxOutput: 500 };
const turns = Array.from({ length: 12 }, (_, at) => ({
  id: `c${at}`,
  asked: `Read the file number ${at}, and tell me what it is about.`,
  path: `src/file-${at}.ts`,
  text: Array.from({ length: 40 }, (_line, line) => `export const value${line} = ${at};`).join("\n"),
  said: `The file number ${at} has forty values, all of them the same.`,
}));
const messages: readonly Message[] = turns.flatMap(({ id, asked, path, text, said }, at): Message[] => [
  { id: `u${at}`, role: "user", parts: [{ type: "text", text: asked }] },
  { id: `a${at}`, role: "assistant", parts: [{ type: "tool-call", callId: id, name: "read", args: { path } }] },
  { id: `t${at}`, role: "tool", parts: [{ type: "tool-result", callId: id, name: "read", content: text }] },
  { id: `b${at}`, role: "assistant", parts: [{ type: "text", text: said }] },
]);
const last: Message = { id: "last", role: "user", parts: [{ type: "text", text: "Which was the largest?" }] };
const chat = toChat([...messages, last]);
const usage = { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost: {} };
const answer = { api: "faux", provider: "faux", model: "faux", usage, timestamp: 2 };
const piMessages = [
  ...turns.flatMap(({ id, asked, path, text, said }) => [
    { role: "user", content: asked, timestamp: 1 },
    {
      ...{ role: "assistant", content: [{ type: "toolCall", id, name: "read", arguments: { path } }] },
      ...{ ...answer, stopReason: "toolUse" },
    },
    {
      ...{ role: "toolResult", toolCallId: id, toolName: "read", content: [{ type: "text", text }] },
      ...{ isError: false, timestamp: 3 },
    },
    { role: "assistant", content: [{ type: "text", text: said }], ...answer, stopReason: "stop" },
  ]),
  { role: "user", content: "Which was the largest?", timestamp: 4 },
] as { role: string }[];
let clock = 0;
const event = (id: string, role: string, part: object) => ({
  ...{ id, timestamp: 1_700_000_000_000 + clock++, author: role },
  content: { role, parts: [part] },
});
const events = [
  ...turns.flatMap(({ id, asked, path, text: result, said }) => [
    event(`u${id}`, "user", { text: asked }),
    event(`a${id}`, "model", { functionCall: { id, name: "read", args: { path } } }),
    event(`t${id}`, "user", { functionResponse: { id, name: "read", response: { result } } }),
    event(`b${id}`, "model", { text: said }),
  ]),
  event("last", "user", { text: "Which was the largest?" }),
];

/** Gives the text of a window, or of the log where a summary stands in it. */
type Door = (strategy: StrategyChoice, summarizer: Model) => Promise<unknown>;

const settings = (strategy: StrategyChoice, summarizer: Model): ManagerOptions => ({
  ...{ store: "ram:", model, strategy, summarizer, compaction: "blocking" },
});

async function ofSession(manager: SessionManager): Promise<unknown> {
  const session = await manager.create();
  for (const message of [...messages, last]) await session.append(message);
  await session.prepare();
  const { messages: window } = await session.compose();
  await manager.close();
  return window;
}

async function ofAdk(plugin: ContextManagementPlugin): Promise<unknown> {
  const session = { id: "s", appName: "app", userId: "me", state: {}, events, lastUpdateTime: 0 };
  const contents = structuredClone(events.map(({ content }) => content));
  const llmRequest = { model: "gemini-2.5-pro", contents };
  const callbackContext = { invocationContext: { session, agent: { name: "a" } } };
  await plugin.beforeModelCallback({ callbackContext, llmRequest } as never);
  return llmRequest.contents;
}

async function stored(strategy: StrategyChoice): Promise<{ readonly store: string; readonly id: string }> {
  const store = mkdtempSync(join(folder, "store-"));
  const manager = await SessionManager.open({ store, strategy, model });
  const session = await manager.create();
  for (const message of [...messages, last]) await session.append(message);
  await manager.close();
  return { store, id: session.id };
}

async function output(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await windrow(args);
  if (stderr !== "") throw new Error(stderr);
  return stdout;
}

/** The doors that make windows from a log, and so make summaries. */
const sessionDoors: Readonly<Record<string, Door>> = {
  "SessionManager": async (strategy, summarizer) =>
    ofSession(await SessionManager.open(settings(strategy, summarizer))),
  "a configuration file": async (strategy, summarizer) => {
    const config = join(folder, "windrow.config.json");
    writeFileSync(config, JSON.stringify({ strategy }));
    const { strategy: _, ...rest } = settings(strategy, summarizer);
    return ofSession(await SessionManager.open({ ...rest, config }));
  },
  "pi, over a session": async (strategy, summarizer) => {
    const manager = await SessionManager.open({ ...settings(strategy, summarizer), profile: "pi" });
    const window = await createTransformContext({ session: await manager.create() })(structuredClone(piMessages));
    await manager.close();
    return window;
  },
  "ADK, over a manager": async (strategy, summarizer) => {
    const manager = await SessionManager.open({ ...settings(strategy, summarizer), profile: "gemini" });
    const contents = await ofAdk(new ContextManagementPlugin({ manager }));
    await manager.close();
    return contents;
  },
  "OpenStarry, by its plugin.json": async ({ use, ...config }, summarizer) => {
    const { strategy: _, ...rest } = settings({ use }, summarizer);
    const contextStrategy = { type: "plugin", pluginId: use, config };
    const { context, manager } = await openContextManager({ contextStrategy }, rest);
    const payload = await context.composePayload("", chat, []);
    await manager.close();
    return payload.messages;
  },
};

/** The doors that make windows of messages alone. */
const windowDoors: Readonly<Record<string, Door>> = {
  "composeWindow": async (strategy) => composeWindow({ messages: [...messages, last], model, strategy }).messages,
  "pi, windows alone": (strategy) => createTransformContext({ strategy, model })(structuredClone(piMessages)),
  "pi's coding agent": async (strategy) => {
    const handlers = new Map<string, (event: object, context: PiExtensionContext) => Promise<unknown>>();
    let failed: string | undefined;
    const context: PiExtensionContext = {
      sessionManager: { getBranch: () => [], buildSessionProjection: () => ({ messages: [] }) },
      model: { contextWindow: model.contextWindow, maxTokens: model.maxOutput },
      ui: {
        notify: (text) => {
          failed = text;
        },
      },
      getSystemPrompt: () => "",
    };
    piExtension({
      on: (name: string, handler: never) => handlers.set(name, handler),
      registerTool: () => {},
      registerCommand: () => {},
      registerFlag: () => {},
      getFlag: (name) => (name === "windrow-strategy" ? JSON.stringify(strategy) : undefined),
      appendEntry: () => {},
      getAllTools: () => [],
      getActiveTools: () => [],
    } satisfies PiExtensionApi);
    const window = await handlers.get("context")?.({ messages: structuredClone(piMessages) }, context);
    if (failed !== undefined) throw new Error(failed);
    return window;
  },
  "ADK": (strategy) => ofAdk(new ContextManagementPlugin({ strategy })),
  "OpenStarry, without a session": async (strategy) =>
    (await new ContextManager(undefined, { strategy, model }).composePayload("", chat, [])).messages,
  "the command line, of a file": async (strategy) => {
    const file = join(folder, "chat.jsonl");
    writeFileSync(file, chat.map((message) => JSON.stringify(message)).join("\n"));
    return output(["compose", file, "--strategy", JSON.stringify(strategy), "--budget", "4500", "--json"]);
  },
  "the command line, of a session": async (strategy) => {
    const { store, id } = await stored(strategy);
    return output(["compose", id, "--store", store, "--json"]);
  },
};

const compact: Door = async (strategy) => {
  const { store, id } = await stored(strategy);
  await output(["compact", id, "--store", store]);
  return output(["view", id, "--window", "--json", "--store", store]);
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
  const window = JSON.stringify(await open(strategy, summarizer));
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
  const session = { id: "s", appName: "app", userId: "me", state: {}, events: [...events], lastUpdateTime: 0 };
  compactor.compact({ session, agent: { name: "a" } } as never);
  expect(JSON.stringify(session.events)).toMatch(said.ja);
});
