/** loadStrategy, and docs/writing-a-pass.md followed to the letter by a stranger: outside the repository. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadStrategy } from "windrow/window";
import { installPacked } from "../kit/packed.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "windrow-stranger-"));
  await installPacked(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
}, 120_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("docs/writing-a-pass.md", () => {
  const text = readFileSync("docs/writing-a-pass.md", "utf8");
  const files = [...text.matchAll(/^```js file=(\S+)\n([\s\S]*?)^```$/gm)];

  it("has a strategy that passes the suite, is found out when broken, and loads", { timeout: 240_000 }, async () => {
    expect(files.map(([, name]) => name)).toEqual(["fresh-listings.mjs", "fresh-listings.test.mjs", "use.mjs"]);
    for (const [, name, code] of files) await writeFile(join(folder, name!), code!);
    const good = await nodeTest();
    expect(good.failed, good.output).toBe(0);
    expect(good.passed).toBeGreaterThan(100);
    const used = await promisify(execFile)(process.execPath, ["use.mjs"], { cwd: folder });
    expect(used.stdout).toBe("fresh-listings\n");

    const pass = files[0]![2]!;
    expect(pass).toContain("const reason = `");
    await writeFile(join(folder, "fresh-listings.mjs"), pass.replace(/const reason = `.*`/, 'const reason = ""'));
    expect((await nodeTest()).failed).toBeGreaterThan(0);
  });

  it("has a plugin.json that is read as it is", async () => {
    const [, json = "{}"] = /^```json\n([\s\S]*?)^```$/m.exec(text) ?? [];
    const strategy = await loadStrategy(JSON.parse(json) as Parameters<typeof loadStrategy>[0]);
    expect(strategy).toMatchObject({ name: "openstarry-summary" });
    expect(strategy.note).toContain("more than 20 turns");
  });
});

describe("loadStrategy", () => {
  const load = async (name: string, code: string, options: object = {}): Promise<unknown> => {
    await writeFile(join(folder, name), code);
    const from = pathToFileURL(join(folder, "config.json"));
    return loadStrategy({ use: `./${name}`, ...options }, { from }).then(
      (strategy) => strategy.name,
      (error: unknown) => error,
    );
  };
  const whole = (rest: string): string =>
    `({ name: "mine", passes: [], trigger: {}, lowWater: 1, keepFirstUser: false, ${rest} })`;

  it("takes names, options, aliases, and modules that export a strategy or make one", async () => {
    expect((await loadStrategy("layered")).name).toBe("layered");
    expect((await loadStrategy({ use: "miki", size: "short" })).name).toBe("miki");
    const plugin = { contextStrategy: { type: "plugin", pluginId: "std-sliding-window-strategy" } };
    expect((await loadStrategy(plugin)).name).toBe("openstarry-sliding");
    expect(await load("a.mjs", `export const strategy = ${whole("")};`)).toBe("mine");
    expect(await load("b.mjs", `export default ({ called }) => ${whole("name: called")};`, { called: "yours" })).toBe(
      "yours",
    );
    const importModule = async (specifier: string): Promise<unknown> => ({
      strategy: { ...(await loadStrategy("none")), name: specifier },
    });
    expect((await loadStrategy("module:some-package", { importModule })).name).toBe("some-package");
  });

  it.each([
    ["does not parse", "export const strategy = ;", /could not be imported/],
    ["throws", 'throw new Error("not today");', /could not be imported: not today/],
    ["exports nothing", "export const other = 1;", /exports no `strategy`/],
    ["has no name", `export const strategy = ${whole('name: ""')};`, /has no `name`/],
    [
      "has passes that are none",
      `export const strategy = ${whole("passes: [{ name: 1 }]")};`,
      /has no `passes` that is a list, each item of which is \{ name, plan \}/,
    ],
    ["has no trigger", `export const strategy = ${whole("trigger: null")};`, /has no `trigger`/],
    [
      "goes down to nothing",
      `export const strategy = ${whole("lowWater: 0")};`,
      /has no `lowWater` that is a number above 0/,
    ],
  ])("refuses a module that %s", async (name, code, message) => {
    const error = await load(`${name.replaceAll(" ", "-")}.mjs`, code);
    expect(error).toMatchObject({ code: "bad-option", message: expect.stringMatching(message) as unknown });
  });

  it("refuses unknown names, options and files, with what to do", async () => {
    await expect(loadStrategy("layerd")).rejects.toMatchObject({ code: "unknown-strategy" });
    await expect(loadStrategy({ use: "layered", headLine: 2 })).rejects.toThrow(/Did you mean "headLines"/);
    await expect(loadStrategy("./mine.mjs")).rejects.toThrow(/relative: say to which file/);
    await expect(loadStrategy({ contextStrategy: { type: "plugin" } })).rejects.toThrow(
      /set `type` to "plugin" and `pluginId`/,
    );
    const confused = { contextStrategy: { type: "plugin", pluginId: "layered", confg: { headLines: 2 } } } as never;
    await expect(loadStrategy(confused)).rejects.toMatchObject({
      code: "bad-option",
      message: expect.stringMatching(/contextStrategy has no option "confg"\. Did you mean "config"/) as unknown,
    });
    const untyped = { contextStrategy: { pluginId: "adaptive" } } as never;
    await expect(loadStrategy(untyped)).rejects.toThrow(/set `type` to "plugin"/);
    await expect(loadStrategy({} as never)).rejects.toMatchObject({ code: "bad-option" });
    await expect(load("absent/none.mjs", "").catch((error: unknown) => error)).resolves.toBeDefined();
  });
});

/** `node --test` in the stranger's folder, as a process of its own. */
async function nodeTest(): Promise<{ readonly passed: number; readonly failed: number; readonly output: string }> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const run = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: folder,
    env,
    maxBuffer: 1 << 26,
  }).catch((error: unknown) => error as { stdout: string });
  const count = (word: string): number => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(run.stdout)?.[1] ?? -1);
  return { passed: count("pass"), failed: count("fail"), output: run.stdout.slice(-4_000) };
}
