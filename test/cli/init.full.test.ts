/** `windrow init`: what it writes for whom, what it leaves alone, and that it runs, is killed, and goes on. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { SessionManager } from "windrow";
import { agentName, chooseHost, ignoreLine, initHosts, planFiles, readProject } from "../kit/inside/cli.ts";
import { dist } from "../kit/build.ts";
import { newFolder, put, windrow } from "./stage.ts";

interface InitReport {
  readonly host: string;
  readonly why: string;
  readonly key: string;
  readonly others: readonly string[];
  readonly files: readonly { readonly name: string; readonly action: string; readonly text?: string }[];
  readonly next: readonly string[];
}

async function init(folder: string, ...flags: readonly string[]): Promise<InitReport> {
  const { status, stdout, stderr } = await windrow(["init", folder, "--json", ...flags]);
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as InitReport;
}

/** A project whose package.json names these packages. */
async function projectWith(packages: readonly string[], more: object = {}): Promise<string> {
  const folder = await newFolder();
  const dependencies = Object.fromEntries(packages.map((name) => [name, "*"]));
  await put(folder, "package.json", JSON.stringify({ type: "module", dependencies, ...more }));
  return folder;
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");

describe("the host", () => {
  it.each(initHosts.filter(({ shownBy }) => shownBy.length > 0))(
    "$name by $shownBy",
    async ({ name, shownBy, key }) => {
      for (const one of shownBy) {
        const folder = await projectWith([one]);
        const { host, why, files } = await init(folder);
        expect([host, why]).toEqual([name, "found"]);
        const text = read(folder, files[0]?.name ?? "");
        expect(text).toContain(key);
        expect(text).toContain(`from "${one.replace("coding-agent", "agent-core")}`);
      }
    },
  );

  it("is the plain loop where there is none, and where there is no package.json", async () => {
    expect(await init(await projectWith(["express"]))).toMatchObject({ host: "plain", why: "none", others: [] });
    expect(await init(join(await newFolder(), "new/one"))).toMatchObject({ host: "plain", why: "none" });
  });

  it("is the first of several, says which others there are, and is the one that is named", async () => {
    const folder = await projectWith(["openai", "ai", "@mastra/core"]);
    expect(await init(folder, "--dry-run")).toMatchObject({ host: "mastra", others: ["ai-sdk", "openai"] });
    const { stdout } = await windrow(["init", folder, "--dry-run"]);
    expect(stdout).toContain("Also found: ai-sdk, openai. To take one: --host ai-sdk\n");
    expect(await init(folder, "--host", "openai")).toMatchObject({ host: "openai", why: "chosen" });
    expect(read(folder, "package.json")).not.toContain("windrow");
  });

  it("asks the provider of models whose package a project has", async () => {
    const openai = await projectWith(["ai", "@ai-sdk/openai", "@ai-sdk/google"]);
    const { files, key } = await init(openai);
    const text = read(openai, files[0]?.name ?? "");
    expect(key).toBe("OPENAI_API_KEY");
    expect(text).toContain('process.env.OPENAI_API_KEY ? openai("gpt-5.4-mini") : scriptedModel()');
    expect(text).toContain('import { openai } from "@ai-sdk/openai";\nimport { generateText');
    expect(text).not.toMatch(/AI_GATEWAY|claude/);
    const langchain = await init(await projectWith(["langchain", "@langchain/anthropic"]), "--dry-run");
    expect(langchain.files[0]?.text).toContain('process.env.ANTHROPIC_API_KEY ? "anthropic:claude-sonnet-5"');
    expect(langchain.next[0]).toMatch(/^npm install \S+ @langchain\/core(?: &&|$)/);
    expect(existsSync(join(langchain.next[0]?.split(" ")[2] ?? "", "dist/cli.js"))).toBe(true);
  });

  it("has a template in both languages, whose model is scripted without the key, with all that its providers change", () => {
    for (const { template, key, providers = [] } of initHosts) {
      for (const ending of ["ts", "mjs"]) {
        const text = readFileSync(resolve("templates", `${template}.${ending}`), "utf8");
        for (const { changes } of providers) for (const [from] of changes) expect(text).toContain(from);
        expect(text, template).toContain(`Without ${key} the scripted model`);
        const [agent = "", scripted = ""] = text.split("\n// The scripted model, for as long as there is no key");
        expect(agent, template).toMatch(new RegExp(`process\\.env\\.${key}\\b`));
        expect(agent.match(/script(?:ed|S|M)?[A-Z]\w+\(?\)?|askScript/g)?.length, template).toBeGreaterThan(0);
        expect(scripted, template).toContain("time to kill it");
      }
    }
  });
});

it("docs/init.md lists the hosts in their order, with their packages and keys", () => {
  const rows = [...readFileSync("docs/init.md", "utf8").matchAll(/^\| `([a-z-]+)` \| (.*) \| `([A-Z_]+)`.*\|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual([...new Set(initHosts.map(({ name }) => name))]);
  for (const { name, shownBy, key } of initHosts) {
    const [, , packages = "", listed] = rows.find((row) => row[1] === name) ?? [];
    expect(listed).toBe(key);
    expect(packages).toContain(shownBy[0]?.split("/").at(-1) ?? "none of them");
  }
});

it("the templates in JavaScript are those in TypeScript without the types", { timeout: 60_000 }, () => {
  expect(execFileSync(process.execPath, ["scripts/templates.mjs", "--check"], { encoding: "utf8" })).toContain(
    "templates",
  );
});

it("the language is TypeScript by tsconfig.json, by the package, or where Node runs it", async () => {
  const plain = await projectWith([]);
  expect(agentName(readProject(plain, false))).toBe("windrow-agent.mjs");
  expect(agentName(readProject(plain, true))).toBe("windrow-agent.ts");
  expect(agentName(readProject(await projectWith(["typescript"]), false))).toBe("windrow-agent.ts");
  await put(plain, "tsconfig.json", "{}");
  expect(agentName(readProject(plain, false))).toBe("windrow-agent.ts");
  // Files that end with .ts are no ES modules there.
  expect(agentName(readProject(await projectWith([], { type: "commonjs" }), true))).toBe("windrow-agent.mts");
});

describe("the types of Node", () => {
  const first = '/// <reference types="node" />\n';
  const agentOf = async (config: string, more: object = {}): Promise<readonly [string, string]> => {
    const folder = await projectWith([], more);
    await put(folder, "tsconfig.json", config);
    const { stdout } = await windrow(["init", folder]);
    return [read(folder, "windrow-agent.ts"), stdout];
  };

  it.each([
    ['{ "compilerOptions": { "types": [] } }', "^7.0.0"],
    ['{\n  // none\n  "compilerOptions": { "types": ["vitest", /* "node" */], },\n}', "^5.9.0"],
    ["{}", "^6.0.2"],
  ])("are named by the agent where tsconfig.json leaves them out: %s, TypeScript %s", async (config, typescript) => {
    const [text, stdout] = await agentOf(config, { devDependencies: { typescript } });
    expect(text.startsWith(first)).toBe(true);
    expect(stdout).toContain('write "types": ["node"] there');
  });

  it.each([
    ["^7.0.0", true],
    ["^5.9.0", false],
  ])("are named by the agent itself without a tsconfig.json with TypeScript %s: %s", async (typescript, isNamed) => {
    const folder = await projectWith([], { devDependencies: { typescript } });
    await windrow(["init", folder]);
    expect(read(folder, "windrow-agent.ts").startsWith(first)).toBe(isNamed);
  });
});

describe("files that are there", () => {
  it("are kept and named, and overwritten by force", async () => {
    const folder = await projectWith([], { devDependencies: { typescript: "*" } });
    await put(folder, "windrow-agent.ts", "mine");
    await put(folder, "windrow.config.yaml", "version: 1\nstore: ./data/sessions\n");
    await put(folder, ".gitignore", "node_modules");
    const first = await init(folder);
    expect(first.files.map(({ name, action }) => [name, action])).toEqual([
      ["windrow-agent.ts", "kept"],
      ["windrow.config.yaml", "kept"],
      [".gitignore", "extended"],
    ]);
    expect([read(folder, "windrow-agent.ts"), read(folder, ".gitignore")]).toEqual([
      "mine",
      "node_modules\n/data/sessions/\n",
    ]);
    const { stdout } = await windrow(["init", folder]);
    expect(stdout).toMatch(/^ {2}kept {2}windrow-agent\.ts +is there already; --force overwrites it$/m);
    expect(read(folder, ".gitignore")).toBe("node_modules\n/data/sessions/\n");
    await init(folder, "--force");
    expect(read(folder, "windrow-agent.ts")).toContain("SessionManager");
    expect(read(folder, ".gitignore")).toContain("/contexts/\n");
  });

  it("of another form of configuration are kept even by force, since two are refused", async () => {
    const folder = await projectWith([]);
    await put(folder, "windrow.config.json", JSON.stringify({ version: 1, store: "sqlite:./agent.db" }));
    const { files } = await init(folder, "--force");
    expect(files[1]).toMatchObject({ name: "windrow.config.json", action: "kept" });
    expect(existsSync(join(folder, "windrow.config.yaml"))).toBe(false);
    expect(read(folder, ".gitignore")).toBe("/agent.db*\n");
  });

  it("dry run: nothing is written, and all of it is shown", async () => {
    const folder = join(await newFolder(), "not-there");
    const { stdout } = await windrow(["init", folder, "--dry-run"]);
    expect(stdout).toContain("\n--- windrow.config.yaml\n");
    expect(stdout).toContain('import { isWindrowError, SessionManager } from "windrow";');
    expect((await init(folder, "--dry-run")).files.map(({ text }) => text?.length ?? 0)).not.toContain(0);
    expect(existsSync(folder)).toBe(false);
  });
});

it("the configuration is a valid one, and names the store that .gitignore has", async () => {
  const folder = await newFolder();
  await init(folder);
  const { status, stdout } = await windrow(["config", "--config", join(folder, "windrow.config.yaml"), "--json"]);
  const { settings } = JSON.parse(stdout) as { readonly settings: { readonly store: string } };
  expect([status, settings.store, read(folder, ".gitignore")]).toEqual([0, join(folder, "contexts"), "/contexts/\n"]);
  expect(ignoreLine(folder, settings.store)).toBe("/contexts/");
  for (const store of ["/elsewhere", "ram:", "."]) expect(ignoreLine(folder, store), store).toBeUndefined();
});

describe("the next commands", () => {
  it("install what is missing, with the project's package manager", async () => {
    const folder = await projectWith(["@mastra/core"], { devDependencies: { typescript: "*" } });
    await put(folder, "pnpm-lock.yaml", "");
    const [install = "", run = "", view = ""] = (await init(folder)).next;
    expect(install).toMatch(/^pnpm add \S+ zod && pnpm add -D (?:tsx )?@types\/node$/);
    expect(run).toMatch(/^(?:pnpm exec tsx|node) windrow-agent\.ts$/);
    expect(view).toBe("pnpm exec windrow view latest");
  });

  it("install nothing that is there", async () => {
    const folder = await projectWith(["windrow", "ai"]);
    expect((await init(folder)).next[0]).toBe("npm install");
    for (const name of ["windrow", "ai"]) await put(folder, `node_modules/${name}/package.json`, "{}");
    const { next } = await init(folder);
    expect(next).toHaveLength(3);
    expect(next[0]).toMatch(/^node windrow-agent\./);
  });
});

describe("is refused with a mend", () => {
  const refusal = async (folder: string): Promise<readonly unknown[]> => {
    const { status, stderr } = await windrow(["init", folder]);
    return [status, stderr];
  };

  it.each(["{ not json", "[]", '"text"'])("a package.json that is %s", async (text) => {
    const folder = await newFolder();
    await put(folder, "package.json", text);
    const said = /^windrow: input-unreadable: .*package\.json is no JSON: .*Mend it/;
    expect(await refusal(folder)).toEqual([1, expect.stringMatching(said)]);
    expect(await readdir(folder)).toEqual(["package.json"]);
  });

  it("a file in the folder's place, and a folder that cannot be written", async () => {
    const file = await put(await newFolder(), "file", "");
    expect(await refusal(file)).toEqual([2, expect.stringContaining("is no folder")]);
    const folder = await newFolder();
    for (const ending of ["mjs", "mts"]) symlinkSync("nowhere/at/all", join(folder, `windrow-agent.${ending}`));
    const said = /store-unavailable: .*cannot be written: .*Make the folder writable/;
    expect(await refusal(folder)).toEqual([1, expect.stringMatching(said)]);
  });

  it("a wrong configuration, before anything is written", async () => {
    const folder = await newFolder();
    await put(folder, "windrow.config.yaml", "bugdet: 3\n");
    expect(await refusal(folder)).toEqual([2, expect.stringContaining('Did you mean "budget"?')]);
    expect(await readdir(folder)).toEqual(["windrow.config.yaml"]);
  });
});

describe("the plain agent", () => {
  /** Runs the agent; `killAt` ends it without warning when it has printed so many lines. */
  async function runAgent(folder: string, killAt?: number) {
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const child = spawn(process.execPath, ["windrow-agent.mjs"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exit = once(child, "exit");
    const lines: string[] = [];
    let said = "";
    child.stderr.on("data", (text: Buffer) => (said += text.toString()));
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.length === killAt) child.kill("SIGKILL");
    }
    const [code, signal] = (await exit) as [number | null, string | null];
    return { lines, ended: signal ?? code, said };
  }

  it("is killed in the middle, goes on, and finishes", { timeout: 60_000 }, async () => {
    const folder = await newFolder();
    const [agent] = await planFiles(readProject(folder, false), chooseHost(new Set(), undefined), false);
    await put(folder, "windrow-agent.mjs", agent?.text ?? "");
    await init(folder);
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(dirname(dist), join(folder, "node_modules/windrow"));
    const killed = await runAgent(folder, 2);
    const lines = ["list_files {}", 'read_file {"path":"package.json"}'];
    expect(killed).toEqual({ lines, ended: "SIGKILL", said: "" });
    const store = join(folder, "contexts");
    const [id = ""] = await readdir(join(store, "running"));
    // A kill may come before the state is written for the first time: what the session is follows from its log.
    const statePath = join(store, "running", id, "state.json");
    const state = await readFile(statePath, "utf8");
    await writeFile(statePath, state.replace(/"status": ?"[a-z]+"/, '"status": "initializing"'));

    // While another one writes the session, a run ends with one sentence, not with a stack.
    const manager = await SessionManager.open({ store, budget: 1_000 });
    const held = await manager.resume(id);
    const refused = await runAgent(folder);
    await held.close();
    await manager.close();
    expect(refused).toMatchObject({ ended: 1, said: expect.stringMatching(/^This session is being written by .*\n$/) });

    const resumed = await runAgent(folder);
    expect(resumed.ended).toBe(0);
    expect(resumed.lines).toContain(`going on with session ${id}`);
    expect(resumed.lines.at(-1)).toContain("Set OPENAI_API_KEY, and a model answers.");
    const { stdout } = await windrow(["view", "latest", "--messages", "--json", "--store", store]);
    const { status, messages } = JSON.parse(stdout) as {
      readonly status: string;
      readonly messages: { readonly shown: readonly { readonly role: string; readonly text: string }[] };
    };
    const said = messages.shown.filter(({ role }) => role === "user").map(({ text }) => text);
    expect([status, said]).toEqual(["completed", ["What is in this folder?", "Go on."]]);
    expect(messages.shown.at(-1)).toMatchObject({ role: "assistant", text: resumed.lines.at(-1) });
    // What has ended is not gone on with: the next run asks anew.
    expect((await runAgent(folder)).lines[0]).toBe("list_files {}");
    expect(await readdir(join(store, "completed"))).toHaveLength(2);
  });
});
