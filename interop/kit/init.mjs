/**
 * `windrow init` as a new user runs it: a folder with the packed Windrow and the host's packages, the files it writes, type
 * checks, and the agent killed in the middle and run again.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fired } from "./kit.mjs";
import { newcomer } from "./newcomer.mjs";
import { provider } from "./provider.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stripsTypes = Boolean(process.features.typescript);
const keys = ["AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"];

/**
 * The test of `windrow init` for a host: TypeScript is written and passes `tsc --strict`; the agent, compiled where this Node
 * does not run TypeScript, is killed in the middle, goes on, and its session ends with all messages.
 *
 * @param suite.host - the name after `--host`, which is to be found by the packages
 * @param suite.packages - the host's packages by name, each the URL of the folder it was installed to
 * @param suite.realModel - the environment in which the agent asks the provider at an address. Default: that is not tried
 */
export function testInit({ host, label, version, packages, realModel }) {
  test(`windrow init for ${label} ${version}: types, a kill in the middle, the end`, { timeout: 120_000 }, async () => {
    const project = started(packages);
    assert.equal(project.init().host, host);
    project.compile();
    const file = stripsTypes ? "windrow-agent.ts" : "windrow-agent.js";

    const killed = await project.runAgent(file, { killAt: 2 });
    assert.equal(killed.ended, "SIGKILL", killed.lines.join("\n"));
    const [id] = readdirSync(join(project.folder, "contexts/running"));
    const before = readFileSync(join(project.folder, `contexts/running/${id}/messages.jsonl`), "utf8");

    const resumed = await project.runAgent(file);
    assert.equal(resumed.ended, 0, resumed.lines.join("\n"));
    assert(
      resumed.lines.some((line) => line.startsWith("going on with session ")),
      resumed.lines.join("\n"),
    );
    assert.match(resumed.lines.at(-1), /^A script read two files and recalled one\./);

    const { status, messages } = project.windrow("view", id, "--messages");
    assert.equal(status, "completed");
    assert.deepEqual(project.windrow("stats").byStatus, { completed: 1 });
    // Nothing that was on disk at the kill is gone or another, and the conversation goes on behind it.
    const log = readFileSync(join(project.folder, `contexts/completed/${id}/messages.jsonl`), "utf8");
    assert(log.startsWith(before) && before.split("\n").length > 2, before);
    const said = messages.shown.filter(({ role }) => role === "user").map(({ text }) => text);
    assert.deepEqual(said, ["What is in this folder?", "Go on."]);
    const calls = messages.shown.flatMap(
      ({ role, text }) => (role === "assistant" && text.match(/^(\w+)\(/)?.[1]) || [],
    );
    assert.deepEqual([...new Set(calls)], ["list_files", "read_file", "recall"]);
    assert.equal(messages.shown.at(-1).text, resumed.lines.at(-1));
    if (realModel) await asksModel(project, file, realModel);
    fired({ host: label, version, fired: { "windrow init: messages, killed and resumed": messages.total } });
    project.remove();
  });
}

/** Runs the agent once more, with a key: a real model is asked, by a window and with the tools. */
async function asksModel(project, file, environment) {
  const { url, bodies, close } = await provider();
  const { lines, ended } = await project.runAgent(file, { more: environment(url) });
  await close();
  assert.equal(ended, 0, lines.join("\n"));
  assert.equal(lines.at(-1), "The first file is package.json.");
  assert.equal(bodies.length, 2);
  for (const name of ["list_files", "read_file", "recall"]) assert.match(JSON.stringify(bodies[0]), new RegExp(name));
  assert.deepEqual(project.windrow("stats").byStatus, { completed: 2 });
  const { statistics } = project.windrow("view", "latest");
  assert.deepEqual([statistics.llmCalls, statistics.totalTokens], [2, 24]);
}

/** A project with these packages in package.json and node_modules, and with TypeScript set up. */
export function started(packages) {
  const { folder, remove } = newcomer(packages);
  const dependencies = Object.fromEntries(Object.keys(packages).map((name) => [name, "*"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  const compilerOptions = { strict: true, module: "nodenext", target: "es2023", types: ["node"] };
  const options = { ...compilerOptions, skipLibCheck: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.includes(name)));
  const command = join(folder, "node_modules/windrow/dist/cli.js");
  const run = (values) => execFileSync(process.execPath, values, { cwd: folder, env, encoding: "utf8" });
  const windrow = (...values) => JSON.parse(run([command, ...values, "--json"]));
  return {
    folder,
    remove,
    /** Runs a command with --json; gives its document. */
    windrow,
    init: (...values) => windrow("init", ...values),
    /** Checks the agent's types, and compiles it. */
    compile() {
      try {
        run([join(root, "node_modules/@typescript/native/bin/tsc"), "-p", folder]);
      } catch (error) {
        assert.fail(error.stdout);
      }
    },
    /** Runs the agent to its end, or until it has printed so many lines. */
    async runAgent(file, { killAt, more = {} } = {}) {
      const child = spawn(process.execPath, [file], {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = new Promise((done) => child.once("exit", (code, signal) => done(signal ?? code)));
      const lines = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (lines.length === killAt) child.kill("SIGKILL");
      }
      return { lines, ended: await ended };
    },
  };
}
