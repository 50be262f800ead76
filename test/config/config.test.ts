/** The configuration: found, layered, checked with the line, and seed 001's config.yaml read as it is. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { loadConfig } from "windrow/store";
import type { LoadConfigOptions } from "windrow/store";
import { configSchema } from "../kit/inside/config.ts";
import { folderOf } from "./kit.ts";

async function load(files: Readonly<Record<string, string>>, options: LoadConfigOptions = {}, inside = ".") {
  const folder = await folderOf(files);
  const home = { HOME: join(folder, "home") };
  const environment = { ...home, ...options.environment };
  return { folder, config: await loadConfig({ folder: join(folder, inside), ...options, environment }) };
}

async function faultOf(text: string, name = "windrow.config.yaml"): Promise<string> {
  const folder = await folderOf({ [name]: text });
  const error: unknown = await loadConfig({ folder, environment: {} }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "bad-option" });
  return (error as Error).message.replaceAll(`${folder}/`, "");
}

describe("layers", () => {
  it("lets the later one win, key by key, and says where each value came from", async () => {
    const { folder, config } = await load(
      {
        "home/.config/windrow/windrow.config.yaml":
          "strategy: miki\nbudget: 1000\nmonitor:\n  stale: 9\n  interval: 1\n",
        "project/windrow.config.json": '{\n\t"budget": 2000,\n\t"monitor": { "interval": 2 },\n\t"store": "./data"\n}',
        "project/src/deep/file": "",
      },
      { environment: { WINDROW_MONITOR_INTERVAL: "3", WINDROW_ACCESS_ADMINS: "root, eve" }, flags: { user: "alice" } },
      "project/src/deep",
    );
    const project = join(folder, "project/windrow.config.json");
    expect(config.settings).toMatchObject({
      strategy: "miki",
      budget: 2_000,
      monitor: { stale: 9, interval: 3 },
      store: join(folder, "project/data"),
      access: { admins: ["root", "eve"] },
      user: "alice",
      counter: "estimate",
    });
    expect(config.origins.get("budget")).toEqual({ layer: "project", file: project, line: 2 });
    expect(config.origins.get("monitor.stale")).toMatchObject({ layer: "user", line: 4 });
    expect(config.origins.get("monitor.interval")).toEqual({
      layer: "environment",
      variable: "WINDROW_MONITOR_INTERVAL",
    });
    expect(config.origins.get("user")).toEqual({ layer: "flag" });
    expect(config.origins.get("counter")).toEqual({ layer: "default" });
    expect(config.files).toEqual([join(folder, "home/.config/windrow/windrow.config.yaml"), project]);
  });

  it("takes the budget auto from a file and from the environment", async () => {
    const { config } = await load({ "windrow.config.yaml": "model: gpt-4o\nbudget: auto\n" });
    expect(config.settings.budget).toBe("auto");
    const manager = await SessionManager.open({ store: "ram:", config });
    const session = await manager.create();
    await session.append("Hello.");
    expect((await session.compose()).report.sizing).toMatch(/^16,000 tokens/);
    await manager.close();
    const named = await load({ "windrow.config.yaml": "budget: 900\n" }, { environment: { WINDROW_BUDGET: "auto" } });
    expect(named.config.settings.budget).toBe("auto");
  });

  it("reads a module, and resolves what it names from there", async () => {
    const { folder, config } = await load({
      "windrow.config.mjs":
        'export default () => ({ strategy: { use: "./mine.mjs", keep: 3 }, store: "sqlite:./db" });',
    });
    expect(config.settings.strategy).toEqual({ use: `file://${folder}/mine.mjs`, keep: 3 });
    expect(config.settings.store).toBe(`sqlite:${folder}/db`);
  });

  it("holds by its defaults where there is nothing", async () => {
    const { config } = await load({});
    expect(config.settings).toMatchObject({ store: "./contexts", strategy: "adaptive" });
    expect([...config.origins.values()].every(({ layer }) => layer === "default")).toBe(true);
  });

  it("refuses two files in one folder, and a file that is not there", async () => {
    await expect(load({ "windrow.config.yaml": "", "windrow.config.json": "{}" })).rejects.toThrow("Keep one of them");
    await expect(load({}, { file: "none.yaml" })).rejects.toMatchObject({ code: "input-not-found" });
  });
});

describe("what is wrong is named with its line", () => {
  it.each([
    ["version: 1\nbugdet: 5\n", 'windrow.config.yaml:2: there is no key "bugdet". Did you mean "budget"?'],
    ["monitor:\n  # often\n  intervall: 5\n", 'yaml:3: there is no key "monitor.intervall". Did you mean "interval"?'],
    ["store: a\nbudget: lots\n", 'windrow.config.yaml:2: "budget" should be a number or auto, not "lots".'],
    ["budget: -1", '"budget" should be above 0, not -1.'],
    [
      "cleanup:\n  olderThan: 3x\n",
      'windrow.config.yaml:2: "cleanup.olderThan" is an age such as 30d or 12h, not "3x".',
    ],
    ["cleanup:\n  trashFor: 9\n", '"cleanup.trashFor" is an age such as 30d or 12h, not 9.'],
    ["userConfig:\n  url: ftp://x\n", '"userConfig.url" should be an http or https URL, not "ftp://x".'],
    ["durability: srict", '"durability" should be one of strict, group, not "srict".'],
    ["durability: relaxed", '"durability" should be one of strict, group, not "relaxed".'],
    ["blocking: true", 'there is no key "blocking".'],
    ["llm:\n  openai:\n    model: 3\n", 'windrow.config.yaml:3: "llm.openai.model" should be text, not 3.'],
    ["model:\n  contxtWindow: 3\n", 'windrow.config.yaml:2: there is no key "model.contxtWindow". Did you mean'],
    ["- a\n- b\n", "windrow.config.yaml:1: the file should be a mapping of keys to values"],
    ["store: [1,\n", "windrow.config.yaml:2:1: this is no YAML or JSON"],
    ["store: a\nstore: b\n", "windrow.config.yaml:2"],
    [
      "llm_provider: opnai\nllm:\n  openai: { model: gpt-4o }\n",
      '"llm" has no provider "opnai". Did you mean "openai"?',
    ],
  ])("%j", async (text, message) => {
    expect(await faultOf(text)).toContain(message);
  });

  it("lists every fault at once", async () => {
    const message = await faultOf('{\n "bugdet": 5,\n "audit": 3\n}', "windrow.config.json");
    expect(message).toContain("windrow.config.json:2:");
    expect(message).toContain('windrow.config.json:3: "audit" should be true or false or text, not 3.');
  });

  it("names a variable of the environment", async () => {
    const wrong = { WINDROW_BUDGET: "many", WINDROW_AUDIT: "ja" };
    await expect(load({}, { environment: wrong })).rejects.toThrow(
      'WINDROW_BUDGET: "budget" should be a number or auto',
    );
  });

  it("says that a newer version is newer, whatever else is in it", async () => {
    const message = await faultOf("version: 2\nunheardOf: true\n");
    expect(message).toContain("windrow.config.yaml:1: this file has version 2, and this Windrow reads version 1.");
    expect(message).not.toContain("unheardOf");
  });
});

describe("seed 001's config.yaml", () => {
  const seed = `llm:
  openai:
    model: "gpt-4o"
    context_length: 128000
  ollama:
    model: "qwen3-30b"
    context_length: 32768
`;

  it("is read as it is, beside a host's own keys", async () => {
    const { config, folder } = await load({ "config.yaml": `${seed}github:\n  owner: x\n` }, { file: "config.yaml" });
    expect(config.settings.model).toMatchObject({ id: "gpt-4o", provider: "openai", contextWindow: 128_000 });
    expect(config.settings).not.toHaveProperty("llm");
    expect(config.notes).toEqual([`${folder}/config.yaml is another program's: its keys github were passed over.`]);
  });

  it("takes the provider that is named, and its threshold becomes the budget", async () => {
    const more = "llm_provider: ollama\ncompression_threshold: 0.7\n";
    const { config } = await load({ "windrow.config.yaml": seed + more });
    const { model, budget } = config.settings;
    expect(model).toEqual({ id: "qwen3-30b", provider: "ollama", contextWindow: 32_768, maxOutput: 8_192 });
    expect(budget).toBe(Math.floor(32_768 * 0.7));
  });

  it("gives way to a model and a budget of a stronger layer, and not to those of a weaker one", async () => {
    const files = {
      "home/.config/windrow/windrow.config.yaml": "model: claude-sonnet-4-5\nbudget: 5\n",
      "windrow.config.yaml": `${seed}compression_threshold: 0.5\n`,
    };
    expect((await load(files)).config.settings).toMatchObject({ model: { id: "gpt-4o" }, budget: 64_000 });
    const environment = { WINDROW_MODEL: "gpt-4-turbo", WINDROW_BUDGET: "7" };
    expect((await load(files, { environment })).config.settings).toMatchObject({ model: "gpt-4-turbo", budget: 7 });
  });
});

it("ships the schema that it checks by", async () => {
  const shipped = JSON.parse(await readFile("docs/windrow.schema.json", "utf8")) as unknown;
  expect(shipped, "npx windrow config --schema > docs/windrow.schema.json").toEqual(
    JSON.parse(JSON.stringify(configSchema())),
  );
});

it("is not read from a file that another user of the system planted", async ({ skip }) => {
  skip(process.getuid?.() !== 0, "changing a file's owner needs root");
  const folder = await folderOf({ "windrow.config.mjs": "throw new Error('run')" });
  execFileSync("chown", ["65534", join(folder, "windrow.config.mjs")]);
  const { notes, files } = await loadConfig({ folder, environment: {} });
  expect(files).toEqual([]);
  expect(notes.join()).toContain("belongs to another user");
});

it("takes what is masked from the environment too", async () => {
  const environment = { WINDROW_MASK_ENVIRONMENT: "1", WINDROW_MASK_SEAL: "MY_KEY", WINDROW_MASK_LIVE_MASK: "true" };
  const { config } = await load({}, { environment });
  expect(config.settings.mask).toEqual({ environment: true, seal: "MY_KEY", liveMask: true });
});
