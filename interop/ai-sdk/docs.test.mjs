/** The lines of docs/hosts/ai-sdk.md, pasted into an empty folder that has the packed tarball and the SDK: they run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder as host, major } from "./host.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/hosts/ai-sdk.md"), "utf8");
const [pasted, resumed] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

/** What somebody has before they read the page: the SDK, a model, tools and messages. */
const given = `
import { ai, answers, scripted, system, workingTools } from ${JSON.stringify(pathToFileURL(join(root, "interop/ai-sdk/host.mjs")).href)};
const { generateText, stepCountIs } = ai;
const { model } = scripted(answers(4));
const tools = workingTools();
`;

let folder;

before(() => {
  if (major !== "6") return;
  folder = mkdtempSync(join(tmpdir(), "windrow-docs-"));
  const npm = (...values) =>
    execFileSync("npm", values, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [packed] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const quiet = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  npm("install", `./${packed.filename}`, ...quiet);
  symlinkSync(fileURLToPath(new URL("node_modules/ai", host)), join(folder, "node_modules/ai"));
});

after(() => folder && rmSync(folder, { recursive: true }));

function run(name, code, ...values) {
  writeFileSync(join(folder, name), code);
  return execFileSync(process.execPath, [name, ...values], { cwd: folder, encoding: "utf8" }).trim();
}

// One major is enough: what differs between them is no matter of the package.
test("the pasted lines journal a run, and those for the next day go on with it", { skip: major !== "6" }, () => {
  const end = "console.log(session.id);\nawait manager.close();";
  const messages = `const messages = [{ role: "user", content: "Which tests fail?" }];`;
  const id = run("first.mjs", `${given}${messages}\n${pasted}\n${end}`);
  assert.match(id, /^[0-9a-f-]{36}$/);
  const log = readFileSync(join(folder, `contexts/running/${id}/messages.jsonl`), "utf8");
  assert.match(log, /Done\./);
  const manager = `import { SessionManager } from "windrow";
import { aiSdk } from "windrow/ai-sdk";
const manager = await SessionManager.open({ store: "./contexts", model: "claude-sonnet-4-5" });
const id = process.argv[2];`;
  const count = "console.log(session.stats().messages, messages.length, result.text);";
  const counts = run("second.mjs", `${given}${manager}\n${resumed}\n${count}\nawait manager.close();`, id);
  const [logged, sent, ...text] = counts.split(" ");
  assert.equal(text.join(" "), "Done.");
  assert(Number(logged) > Number(sent) && Number(sent) === log.trim().split("\n").length + 1, counts);
});
