/** The lines of docs/hosts, pasted into an empty folder that has the packed tarball and ADK: they run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const own = fileURLToPath(new URL("node_modules", import.meta.url));
const pasted = (name) => readFileSync(join(root, `docs/hosts/${name}.md`), "utf8").match(/```js\n(.*?)```/s)[1];

let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quiet = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  npm("install", `./${packed.filename}`, ...quiet);
  mkdirSync(join(folder, "node_modules/@google"), { recursive: true });
  symlinkSync(join(own, "@google/adk"), join(folder, "node_modules/@google/adk"));
});

after(() => rmSync(folder, { recursive: true }));

/** An agent as somebody has it before they read the page. */
const agent = `
import { BaseLlm, LlmAgent } from "@google/adk";
class Model extends BaseLlm {
  async *generateContentAsync({ contents }) {
    yield { content: { role: "model", parts: [{ text: "I was sent " + contents.length + "." }] } };
  }
}
const agent = new LlmAgent({ name: "agent", model: new Model({ model: "gemini-3-pro" }) });
`;

const talk = `
const key = { appName: "app", userId: "me", sessionId: "orders" };
await sessionService.getOrCreateSession(key);
for await (const event of runner.runAsync({ ...key, newMessage: { parts: [{ text: "Hi" }] } }))
  console.log(event.content.parts[0].text);
await manager.close();
`;

function run(name, code) {
  writeFileSync(join(folder, name), code);
  return execFileSync(process.execPath, [name], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

test("docs/hosts/adk.md: a run is journalled, and goes on in the next process", () => {
  const code = `${agent}${pasted("adk")}${talk}`;
  assert.match(run("first.mjs", code), /^I was sent 1\.$/m);
  assert.match(run("second.mjs", code), /^I was sent 3\.$/m);
});

test("docs/hosts/gemini.md: the window of a history", () => {
  const given = `const history = [{ role: "user", parts: [{ text: "Hi" }] }]; const system = "Be brief."; let state;\n`;
  const shown = `\nconsole.log(JSON.stringify({ contents, systemInstruction }));`;
  const said = JSON.parse(run("gemini.mjs", `${given}${pasted("gemini")}${shown}`));
  assert.deepEqual(said, {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    systemInstruction: { parts: [{ text: "Be brief." }] },
  });
});
