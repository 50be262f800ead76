/** The lines of docs/hosts/openai-agents.md, pasted into an empty folder that has the packed tarball and the SDK. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/hosts/openai-agents.md"), "utf8");
const [pasted, resumed] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) =>
  code.replaceAll('"@openai/agents"', '"@openai/agents-core"'),
);

/** An agent as somebody has it before they read the page. */
const agent = (answer) => `
import { Agent, setTracingDisabled } from "@openai/agents-core";
import { ScriptedModel, assistantMessage } from "@openai/agents-core/testing";
setTracingDisabled(true);
const agent = new Agent({ name: "any", model: new ScriptedModel([[assistantMessage("${answer}")]]) });
`;

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quiet = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  npm("install", `./${packed.filename}`, ...quiet);
  // The SDK is taken from where it was installed for these tests.
  mkdirSync(join(folder, "node_modules/@openai"), { recursive: true });
  const own = fileURLToPath(new URL("node_modules/@openai/agents-core", import.meta.url));
  symlinkSync(own, join(folder, "node_modules/@openai/agents-core"));
});

after(() => rmSync(folder, { recursive: true }));

function run(name, code, ...values) {
  writeFileSync(join(folder, name), code);
  return execFileSync(process.execPath, [name, ...values], { cwd: folder, encoding: "utf8" }).trim();
}

test("the pasted lines journal a run, and those for the next day go on with it", () => {
  const end = "console.log(history.session.id);\nawait manager.close();";
  const id = run("first.mjs", `${agent("Hello.")}${pasted}\n${end}`);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.match(readFileSync(join(folder, `contexts/running/${id}/messages.jsonl`), "utf8"), /Hello\./);
  const start = `import { Runner } from "@openai/agents-core";
import { SessionManager } from "windrow";
import { AgentsSession } from "windrow/openai-agents";
const manager = await SessionManager.open({ store: "./contexts", profile: "openai-responses", budget: 60_000 });
const id = process.argv[2];`;
  const count = "console.log((await history.getItems()).length);\nawait manager.close();";
  assert.equal(run("second.mjs", `${agent("Hello again.")}${start}\n${resumed}\n${count}`, id), "4");
});
