/** A preset is all of its numbers, at every door that takes a strategy. */
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { composeWindow, loadCounter, SessionManager } from "windrow";
import type { Message, Part } from "windrow";
import { ContextManagementPlugin } from "windrow/adk";
import { openContextManager } from "windrow/openstarry";
import { createTransformContext } from "windrow/pi";
import { presetNames, strategyOf } from "windrow/window";
import type { StrategyChoice } from "windrow/window";
import { countMessage } from "../kit/inside/tokens.ts";
import { counterFor } from "../kit/inside/window.ts";
import { windrow } from "../cli/stage.ts";
import { folder, sessionDoors, windowDoors } from "./preset-doors.ts";
import { openManager, openSession } from "../kit/sessions.ts";

beforeAll(async () => void (await loadCounter("cl100k")));

const model = "gpt-4o";
const picture = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } satisfies Part;
const messages: readonly Message[] = [
  { id: "m1", role: "user", parts: [{ type: "text", text: "What is on this screen?" }, picture] },
];

/** The budget of a model of 128,000 tokens, the counter, and the tokens of an image. */
const numbers: readonly (readonly [StrategyChoice, number, string, number])[] = [
  [{ use: "miki" }, 96_000, "chars4-ceil", 100],
  [{ use: "coding-agent" }, 89_600, "chars4-floor", 1_365],
  [{ use: "openstarry-sliding" }, 96_000, "estimate", 1_365],
  [{ use: "openstarry-summary" }, 96_000, "estimate", 1_365],
  [{ use: "openstarry-entity" }, 96_000, "estimate", 1_365],
  [{ use: "pi" }, 96_000, "cl100k", 85],
  [{ use: "state-manager" }, 96_000, "estimate", 1_365],
  [{ use: "miki", size: "complex" }, 96_000, "chars4-ceil", 100],
  [{ use: "pi", contextRatio: 0.25 }, 32_000, "cl100k", 85],
  [{ use: "coding-agent", ratio: 0.2 }, 25_600, "chars4-floor", 1_365],
];

it("knows every preset", () => {
  expect(numbers.flatMap(([{ use, ...options }]) => (Object.keys(options).length > 0 ? [] : [use]))).toEqual(
    presetNames,
  );
});

describe.each(Object.entries({ ...sessionDoors, ...windowDoors }))("%s", (_door, open) => {
  it.each(numbers)(
    "takes the budget, the counter and the image tokens of %j",
    async (choice, budget, counter, image) => {
      const by = counterFor(strategyOf(choice).settings);
      const expected = messages.reduce((sum, message) => sum + countMessage(by, message), 0);
      const words = messages.map(({ parts }) => ({ parts: parts.filter(({ type }) => type === "text") }));
      expect(expected - words.reduce((sum, message) => sum + countMessage(by, message), 0)).toBe(image);
      const { report } = await open({ strategy: choice, model, messages });
      const tokens = expected + (report?.blocks?.tools ?? 0);
      expect(report).toMatchObject({ budget, tokens, counter });
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
    const session = await openSession({
      strategy: "coding-agent",
      model: { contextWindow: 10_000, maxOutput: 500 },
      compaction: "blocking",
      summarizer: async () => {
        asked++;
        return { text: "The build was mended; the test of comments is open.", usage: {}, finish: "stop" };
      },
    });
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
  });
});

describe("given beside a preset", () => {
  it("stands above it: a counter, a budget, a store", async () => {
    const options = { store: "ram:", model, strategy: "coding-agent", counter: "estimate", budget: 5_000 };
    const manager = await openManager(options);
    const { metadata } = await manager.info((await manager.create()).id);
    expect(metadata.config).toMatchObject({ counter: "estimate", budget: 5_000, compression_threshold: 0.039 });
  });

  it("the metadata has the preset's threshold", async () => {
    const manager = await openManager({ model, strategy: "coding-agent" });
    const { metadata } = await manager.info((await manager.create()).id);
    expect(metadata.config).toMatchObject({ counter: "chars4-floor", budget: 89_600, compression_threshold: 0.7 });
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
    const manager = await openManager({ model });
    const session = await manager.create();
    expect(() => createTransformContext({ session, strategy: "pi" })).toThrow(
      /`strategy` has no effect beside a session/,
    );
    expect(() => new ContextManagementPlugin({ manager, strategy: "miki" })).toThrow(/beside a `manager`/);
  });
});
