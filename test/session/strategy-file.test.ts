/** The strategy of an agent's plugin.json: named by a configuration, in it, and on the command line. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionManager } from "windrow";
import { newFolder } from "../cli/stage.ts";
import { openSession } from "../kit/sessions.ts";

const contextStrategy = {
  type: "plugin",
  pluginId: "std-summarization-strategy",
  config: { threshold: 20 },
};
const own = 'export const strategy = { name: "mine", passes: [], trigger: {}, lowWater: 1, keepFirstUser: false };';

async function stage(config: object): Promise<string> {
  const folder = await newFolder();
  await mkdir(join(folder, "agent"));
  await writeFile(join(folder, "agent/mine.mjs"), own);
  await writeFile(join(folder, "agent/plugin.json"), JSON.stringify({ id: "an-agent", contextStrategy }));
  const module = { contextStrategy: { type: "plugin", pluginId: "./mine.mjs" } };
  await writeFile(join(folder, "agent/own.json"), JSON.stringify(module));
  await writeFile(join(folder, "windrow.config.json"), JSON.stringify({ store: "./s", budget: 4_000, ...config }));
  return folder;
}

it.each([
  ["its path", "agent/plugin.json", "openstarry-summary"],
  ["its path as a module's", "./agent/plugin.json", "openstarry-summary"],
  ["its path with options", { use: "./agent/plugin.json", threshold: 30 }, "openstarry-summary"],
  ["itself", { contextStrategy }, "openstarry-summary"],
  ["one with a module", "./agent/own.json", "mine"],
  ["itself with a module", { contextStrategy: { type: "plugin", pluginId: "./agent/mine.mjs" } }, "mine"],
])("a configuration takes %s", async (_, strategy, name) => {
  const folder = await stage({ strategy });
  const session = await openSession({ config: join(folder, "windrow.config.json") });
  expect(session.metadata.config["strategy"]).toBe(name);
});

it("options beside the path stand above its own, and are checked", async () => {
  const folder = await stage({ strategy: { use: "./agent/plugin.json", treshold: 30 } });
  const open = SessionManager.open({ config: join(folder, "windrow.config.json") });
  await expect(open).rejects.toThrow(/no option "treshold".*threshold/);
});

it.each([
  ["a file that is not there", "./none.json", "input-not-found"],
  ["a file without one", "./windrow.config.json", "bad-option"],
])("names %s", async (_, strategy, code) => {
  const folder = await stage({ strategy });
  await expect(SessionManager.open({ config: join(folder, "windrow.config.json") })).rejects.toMatchObject({ code });
});
