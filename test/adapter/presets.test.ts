/** A preset is all of its numbers, at every door that takes a strategy. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { composeWindow, loadCounter, SessionManager } from "windrow";
import type { Message, Part } from "windrow";
import type { AdapterEvent } from "windrow/adapter";
import { ContextManagementPlugin } from "windrow/adk";
import { ContextManager, openContextManager } from "windrow/openstarry";
import { createTransformContext } from "windrow/pi";
import { presetNames, presetOf } from "windrow/window";
import type { StrategyChoice } from "windrow/window";
import { piExtension } from "../kit/inside/adapter.ts";
import type { PiExtensionApi, PiExtensionContext } from "../kit/inside/adapter.ts";
import { countMessage } from "../kit/inside/tokens.ts";
import { counterFor } from "../kit/inside/window.ts";
import { windrow } from "../cli/stage.ts";

const folder = mkdtempSync(join(tmpdir(), "windrow-presets-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => void (await loadCounter("cl100k")));

const model = "gpt-4o";
const data = "iVBORw0KGgo=";
const picture = { type: "image", mediaType: "image/png", data } satisfies Part;
const messages: readonly Message[] = [
  { id: "m1", role: "user", parts: [{ type: "text", text: "What is on this screen?" }, picture] },
];
const chat = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is on this screen?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
    ],
  },
];
const piMessages = [
  {
    role: "user",
    content: [
      { type: "text", text: "What is on this screen?" },
      { type: "image", data, mimeType: "image/png" },
    ],
    timestamp: 0,
  },
];

/** The figures of a window. */
interface Figures {
  readonly budget: number | null;
  readonly counter: string;
  readonly tokens: number;
}

type Choice = string | StrategyChoice;
type Door = (strategy: Choice) => Figures | Promise<Figures>;

const optionsOf = (choice: Choice): object => {
  const { use: _, ...options } = typeof choice === "string" ? { use: choice } : choice;
  return options;
};
const nameOf = (choice: Choice): string => (typeof choice === "string" ? choice : choice.use);

async function ofSession(manager: SessionManager): Promise<Figures> {
  const session = await manager.create();
  for (const message of messages) await session.append(message);
  const { report } = await session.compose();
  await manager.close();
  return report;
}

/** Makes windows, and gives back the figures that `window-sent` told. */
async function told(make: (on: (event: AdapterEvent) => void) => unknown): Promise<Figures> {
  const events: AdapterEvent[] = [];
  await make((event) => void events.push(event));
  const [event] = events;
  if (event?.type !== "window-sent") throw new Error(`no window: ${JSON.stringify(event)}`);
  return event.report;
}

const doors: Readonly<Record<string, Door>> = {
  "composeWindow": (strategy) => composeWindow({ messages, model, strategy }).report,
  "SessionManager": async (strategy) => ofSession(await SessionManager.open({ store: "ram:", model, strategy })),
  "a configuration file": async (strategy) => {
    const config = join(folder, "windrow.config.json");
    writeFileSync(config, JSON.stringify({ store: "ram:", model, strategy }));
    return ofSession(await SessionManager.open({ config }));
  },
  "pi, windows alone": (strategy) =>
    told((on) => createTransformContext({ strategy, model, on })(structuredClone(piMessages))),
  "pi, over a session": async (strategy) => {
    const manager = await SessionManager.open({ store: "ram:", model, strategy, profile: "pi" });
    const session = await manager.create();
    return told((on) => createTransformContext({ session, on })(structuredClone(piMessages)));
  },
  "pi's coding agent": async (strategy) => {
    const handlers = new Map<string, (event: object, context: PiExtensionContext) => Promise<unknown>>();
    const notices: string[] = [];
    let show: (() => Promise<void>) | undefined;
    const context: PiExtensionContext = {
      sessionManager: { getBranch: () => [], buildSessionProjection: () => ({ messages: [] }) },
      model: { contextWindow: 128_000, maxTokens: 16_384 },
      ui: { notify: (text) => void notices.push(text) },
      getSystemPrompt: () => "",
    };
    const flag = typeof strategy === "string" ? strategy : JSON.stringify(strategy);
    piExtension({
      on: (event: string, handler: never) => handlers.set(event, handler),
      registerTool: () => {},
      registerCommand: (_name, { handler }) => (show = () => handler("", context)),
      registerFlag: () => {},
      getFlag: (name) => (name === "windrow-strategy" ? flag : undefined),
      appendEntry: () => {},
      getAllTools: () => [],
      getActiveTools: () => [],
    } satisfies PiExtensionApi);
    await handlers.get("context")?.({ messages: structuredClone(piMessages) }, context);
    await show?.();
    const shown = /Windrow: ([\d,]+) of ([\d,]+) tokens.*counted by ([\w-]+)/s.exec(notices.at(-1) ?? "") ?? [];
    const [, tokens = "", budget = "", counter = ""] = shown.map((text) => text.replaceAll(",", ""));
    return { tokens: Number(tokens), budget: Number(budget), counter };
  },
  "ADK": (strategy) =>
    told(async (on) => {
      const content = {
        role: "user",
        parts: [{ text: "What is on this screen?" }, { inlineData: { mimeType: "image/png", data } }],
      };
      const session = { id: "s", appName: "app", userId: "me", state: {}, events: [], lastUpdateTime: 0 };
      const plugin = new ContextManagementPlugin({ strategy, on });
      await plugin.beforeModelCallback({
        callbackContext: { invocationContext: { session } },
        llmRequest: { model, contents: [content] },
      });
    }),
  "OpenStarry, by its plugin.json": async (strategy) => {
    const contextStrategy = { type: "plugin", pluginId: nameOf(strategy), config: { ...optionsOf(strategy) } };
    const { context, manager } = await openContextManager({ contextStrategy }, { store: "ram:", model });
    const { report } = await context.composePayload("", chat, []);
    await manager.close();
    return report;
  },
  "OpenStarry, without a session": async (strategy) =>
    (await new ContextManager(undefined, { strategy, model }).composePayload("", chat, [])).report,
  "the command line": async (strategy) => {
    const file = join(folder, "chat.jsonl");
    writeFileSync(file, chat.map((message) => JSON.stringify(message)).join("\n"));
    const flag = typeof strategy === "string" ? strategy : JSON.stringify(strategy);
    const { stdout, stderr } = await windrow(["compose", file, "--strategy", flag, "--model", model, "--json"]);
    if (stderr !== "") throw new Error(stderr);
    return (JSON.parse(stdout) as { report: Figures }).report;
  },
};

/** The budget of a model of 128,000 tokens, the counter, and the tokens of an image. */
const numbers: readonly (readonly [Choice, number, string, number])[] = [
  ["miki", 96_000, "chars4-ceil", 100],
  ["coding-agent", 89_600, "chars4-floor", 1_365],
  ["openstarry-sliding", 96_000, "estimate", 1_365],
  ["openstarry-summary", 96_000, "estimate", 1_365],
  ["openstarry-entity", 96_000, "estimate", 1_365],
  ["pi", 96_000, "cl100k", 85],
  ["state-manager", 96_000, "estimate", 1_365],
  [{ use: "miki", size: "complex" }, 96_000, "chars4-ceil", 100],
  [{ use: "pi", contextRatio: 0.25 }, 32_000, "cl100k", 85],
  [{ use: "coding-agent", ratio: 0.2 }, 25_600, "chars4-floor", 1_365],
];

it("knows every preset", () => {
  expect(numbers.flatMap(([choice]) => (typeof choice === "string" ? [choice] : []))).toEqual(presetNames);
});

describe.each(Object.entries(doors))("%s", (_door, open) => {
  it.each(numbers)(
    "takes the budget, the counter and the image tokens of %j",
    async (choice, budget, counter, image) => {
      const preset = presetOf(nameOf(choice), optionsOf(choice));
      const by = counterFor(preset);
      const expected = messages.reduce((sum, message) => sum + countMessage(by, message), 0);
      const words = messages.map(({ parts }) => ({ parts: parts.filter(({ type }) => type === "text") }));
      expect(expected - words.reduce((sum, message) => sum + countMessage(by, message), 0)).toBe(image);
      expect(await open(choice)).toMatchObject({ budget, tokens: expected, counter });
    },
  );
});

describe("the preset's folder", () => {
  it("is where sessions are kept, where no store is named; the command line looks there too", async () => {
    const home = mkdtempSync(join(folder, "home-"));
    const here = process.cwd();
    process.chdir(home);
    onTestFinished(() => process.chdir(here));
    const manager = await SessionManager.open({ strategy: "coding-agent", model });
    const { id } = await manager.create();
    await manager.close();
    expect(existsSync(join(home, "logs/contexts/running", id))).toBe(true);
    const config = join(home, "windrow.config.json");
    writeFileSync(config, JSON.stringify({ strategy: "coding-agent" }));
    const { stdout } = await windrow(["view", id, "--config", config]);
    expect(stdout).toContain(id);
  });
});

describe("coding-agent's threshold", () => {
  it("is 0.7 of the contextWindow: at 98 % of that no summary is due, over it one is", async () => {
    let asked = 0;
    const manager = await SessionManager.open({
      store: "ram:",
      strategy: "coding-agent",
      model: { contextWindow: 10_000, maxOutput: 500 },
      compaction: "blocking",
      summarizer: async () => {
        asked++;
        return { text: "The build was mended; the test of comments is open.", usage: {}, finish: "stop" };
      },
    });
    const session = await manager.create();
    const add = async (from: number, to: number, tokens: number): Promise<void> => {
      for (let at = from; at <= to; at++) {
        const text = `${at} `.padEnd(4 * tokens, "x");
        await session.append({ role: at % 2 ? "user" : "assistant", parts: [{ type: "text", text }] });
      }
      await session.prepare();
      await session.compose();
      await session.endStep();
    };
    await add(1, 12, 570);
    expect(session.stats().messages).toBe(12);
    expect([asked, session.settings.budget]).toEqual([0, 7_000]);
    await add(13, 14, 570);
    expect(asked).toBeGreaterThan(0);
    await manager.close();
  });
});

describe("given beside a preset", () => {
  it("stands above it: a counter, a budget, a store", async () => {
    const options = { store: "ram:", model, strategy: "coding-agent", counter: "estimate", budget: 5_000 };
    const manager = await SessionManager.open(options);
    const { metadata } = await manager.info((await manager.create()).id);
    expect(metadata.config).toMatchObject({ counter: "estimate", budget: 5_000, compression_threshold: 0.039 });
    await manager.close();
  });

  it("the metadata has the preset's threshold", async () => {
    const manager = await SessionManager.open({ store: "ram:", model, strategy: "coding-agent" });
    const { metadata } = await manager.info((await manager.create()).id);
    expect(metadata.config).toMatchObject({ counter: "chars4-floor", budget: 89_600, compression_threshold: 0.7 });
    await manager.close();
  });

  const twice = { budget: 9_000, strategy: { use: "pi", contextRatio: 0.5 } };
  const refused: Readonly<Record<string, () => unknown>> = {
    "composeWindow": () => composeWindow({ messages, ...twice }),
    "SessionManager": () => SessionManager.open({ store: "ram:", ...twice }),
    "pi": () => createTransformContext(twice),
    "a loaded strategy": () =>
      openContextManager(
        { contextStrategy: { type: "plugin", pluginId: "pi", config: { contextRatio: 0.5 } } },
        { store: "ram:", budget: 9_000 },
      ),
  };

  it.each(Object.entries(refused))(
    "a share and a budget are refused by %s: one would have no effect",
    async (_, open) => {
      const opening = (async () => open())();
      await expect(opening).rejects.toMatchObject({ code: "bad-option", message: /`contextRatio` is a share .* 9000/ });
    },
  );

  it("a strategy that a session's manager has set is refused", async () => {
    const manager = await SessionManager.open({ store: "ram:", model });
    const session = await manager.create();
    expect(() => createTransformContext({ session, strategy: "pi" })).toThrow(
      /`strategy` has no effect beside a session/,
    );
    expect(() => new ContextManagementPlugin({ manager, strategy: "miki" })).toThrow(/beside a `manager`/);
    await manager.close();
  });
});
